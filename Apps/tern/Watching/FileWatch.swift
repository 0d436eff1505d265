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
  private let hangUp = HangUpSignal()

  /// Watches until ``stop()``.
  ///
  /// - Parameter changed: Called once for all changes that were found together, one call at a time.
  init(
    _ paths: [String], every pause: Duration = FileWatch.pause,
    clock: any Clock<Duration> = ContinuousClock(), changed: @escaping @Sendable () async -> Void
  ) {
    let hangUp = hangUp
    let atStart = paths.map(FileMark.init(of:))
    task = Task {
      var (known, seen) = (atStart, atStart)
      while !Task.isCancelled {
        do { try await clock.sleep(for: pause) } catch { return }
        let now = paths.map(FileMark.init(of:))
        defer { seen = now }
        // Whoever writes a file is not done at once: it is read when two looks show the same.
        guard hangUp.take() || now == seen && now != known else { continue }
        known = now
        await changed()
      }
    }
  }

  func stop() {
    task.cancel()
    hangUp.stop()
  }
}

/// Hears SIGHUP instead of letting it end the program.
private final class HangUpSignal: Sendable {
  /// What the signal sets and a look at the files takes.
  private final class Mark: Sendable {
    let isSet = Mutex(false)
  }

  private let mark: Mark
  private let source: Mutex<any DispatchSourceSignal>

  init() {
    _ = signal(SIGHUP, SIG_IGN)
    let mark = Mark()
    let source = DispatchSource.makeSignalSource(signal: SIGHUP)
    source.setEventHandler { mark.isSet.withLock { $0 = true } }
    source.resume()
    self.mark = mark
    self.source = Mutex(source)
  }

  /// Whether it was sent since the last call.
  func take() -> Bool {
    mark.isSet.withLock { isSet in
      defer { isSet = false }
      return isSet
    }
  }

  func stop() { source.withLock { $0.cancel() } }
}
