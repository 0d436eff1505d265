import Foundation
import TernSecurity

/// Follows a rules file: what is written there is in force a moment later.
///
/// A file that cannot be understood changes nothing, and its problems are told.
struct RulesReloader: Sendable {
  /// How long it takes until the file is looked at again.
  static let pause = Duration.milliseconds(100)

  let path: String
  let clock: any Clock<Duration>
  private let atStart: FileMark?
  /// Hears what an operator wants to know, a sentence at a time.
  private let tell: @Sendable (String) -> Void

  /// - Parameter path: A file that was read just before.
  init(
    path: String, clock: any Clock<Duration> = ContinuousClock(),
    tell: @escaping @Sendable (String) -> Void
  ) {
    self.path = path
    self.clock = clock
    self.tell = tell
    atStart = FileMark(of: path)
  }

  /// Looks at the file until the task is cancelled.
  ///
  /// - Parameter adopt: Returns when the rules are in force.
  func run(_ adopt: (TreeRules) async -> Void) async {
    var watch = RulesWatch(atStart)
    while !Task.isCancelled {
      do { try await clock.sleep(for: Self.pause) } catch { return }
      switch watch.look(FileMark(of: path)) {
      case .nothing: break
      case .reportGone: tell("\(path) is gone; its rules stay in force")
      case .read: await reload(adopt)
      }
    }
  }

  private func reload(_ adopt: (TreeRules) async -> Void) async {
    do {
      let rules = try RulesFile.rules(at: path)
      await adopt(rules)
      tell("\(path) has changed; its rules are in force")
    } catch let failure as Failure {
      tell("\(failure.message)\n\(path) has mistakes; the rules before stay in force")
    } catch {
      tell("\(path): \(error); the rules before stay in force")
    }
  }
}
