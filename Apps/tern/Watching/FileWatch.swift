import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tells when one of several files has become another one, and whenever the program is sent SIGHUP.
///
/// It looks at them again and again: editors and certificate tools replace files in so many ways
/// that what the system tells about folders is no shorter to get right.
final class FileWatch: Sendable {
  /// How often the files are looked at, and SIGHUP is answered.
  static let pause: Duration = .milliseconds(500)

  private let task: Task<Void, Never>

  /// Watches until ``stop()``.
  ///
  /// - Parameter changed: Called once for all changes that were found together, one call at a time.
  init(
    _ paths: [String], every pause: Duration = FileWatch.pause,
    clock: any Clock<Duration> = ContinuousClock(), changed: @escaping @Sendable () async -> Void
  ) {
    let hangUp = HangUpSignal.shared
    let before = hangUp.count
    let atStart = paths.map(FileMark.init(of:))
    task = Task {
      var (known, seen, answered) = (atStart, atStart, before)
      while !Task.isCancelled {
        do { try await clock.sleep(for: pause) } catch { return }
        let now = paths.map(FileMark.init(of:))
        defer { seen = now }
        let count = hangUp.count
        // Whoever writes a file is not done at once: it is read when two looks show the same.
        guard count != answered || now == seen && now != known else { continue }
        (known, answered) = (now, count)
        await changed()
      }
    }
  }

  func stop() { task.cancel() }
}

/// Hears SIGHUP instead of letting it end the program. There is one for all: a signal has one
/// handler in a process.
private final class HangUpSignal: Sendable {
  static let shared = HangUpSignal()

  /// How often it was sent.
  private final class Tally: Sendable {
    let count = Mutex(0)
  }

  private let tally: Tally
  private let source: Mutex<any DispatchSourceSignal>

  private init() {
    _ = signal(SIGHUP, SIG_IGN)
    let tally = Tally()
    let source = DispatchSource.makeSignalSource(signal: SIGHUP)
    source.setEventHandler { tally.count.withLock { $0 += 1 } }
    source.resume()
    self.tally = tally
    self.source = Mutex(source)
  }

  /// How often it was sent so far.
  var count: Int { tally.count.withLock { $0 } }
}
