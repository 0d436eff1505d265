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
  /// The interval at which files are examined, and SIGHUP is answered.
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
        // Writing a file takes time: it is read when two looks show the same.
        guard count != answered || now == seen && now != known else { continue }
        (known, answered) = (now, count)
        await changed()
      }
    }
  }

  func stop() { task.cancel() }
}

/// The count of SIGHUP signals, which do not end the program.
final class HangUpSignal: Sendable {
  static let shared = HangUpSignal()

  /// Keeps the signal from ending the program, and has it told in the log.
  static func ignoreIt() {
    _ = shared
    SignalPipe.shared.listen(to: SIGHUP) {
      OperatorLog.tell(
        "SIGHUP: rules, keys, certificate, limits and the log's level are read again")
    }
  }

  private let tally = Mutex(0)

  private init() {
    SignalPipe.shared.listen(to: SIGHUP) { [weak self] in self?.tally.withLock { $0 += 1 } }
  }

  /// The number of signals so far.
  var count: Int { tally.withLock { $0 } }
}
