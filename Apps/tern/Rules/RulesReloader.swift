import Logging

/// Follows a rules file: what is written there is in force a moment later.
///
/// A file that cannot be understood changes nothing, and its problems are told.
struct RulesReloader<Rules: Sendable>: Sendable {
  /// The interval between two looks at the file.
  static var pause: Duration { .milliseconds(100) }

  let path: String
  let clock: any Clock<Duration>
  private let atStart: FileMark?
  /// The signals before the rules were read: one that comes before the first look counts.
  private let signalsAtStart = HangUpSignal.shared.count
  /// Reads the rules, those of other files included that count together with this one.
  private let load: @Sendable () throws -> Rules
  /// Hears what an operator wants to know, a sentence at a time.
  private let tell: @Sendable (String, Logger.Level) -> Void

  /// - Parameter path: A file that was read just before.
  init(
    path: String, clock: any Clock<Duration> = ContinuousClock(),
    load: @escaping @Sendable () throws -> Rules,
    tell: @escaping @Sendable (String, Logger.Level) -> Void
  ) {
    self.path = path
    self.clock = clock
    self.load = load
    self.tell = tell
    atStart = FileMark(of: path)
  }

  /// Looks at the file until the task is cancelled.
  ///
  /// - Parameter adopt: Returns when the rules are in force.
  func run(_ adopt: (Rules) async -> Void) async {
    var watch = RulesWatch(atStart)
    var hangUps = signalsAtStart
    while !Task.isCancelled {
      do { try await clock.sleep(for: Self.pause) } catch { return }
      let count = HangUpSignal.shared.count
      if count != hangUps {
        hangUps = count
        await reload(adopt)
      }
      switch watch.look(FileMark(of: path)) {
      case .nothing: break
      case .reportGone: tell("\(path) is gone; its rules stay in force", .warning)
      case .read: await reload(adopt)
      }
    }
  }

  private func reload(_ adopt: (Rules) async -> Void) async {
    do {
      let rules = try load()
      await adopt(rules)
      tell("\(path) has changed; its rules are in force", .notice)
    } catch let failure as Failure {
      tell("\(failure.message)\n\(path) has mistakes; the rules before stay in force", .error)
    } catch {
      tell("\(path): \(error); the rules before stay in force", .error)
    }
  }
}
