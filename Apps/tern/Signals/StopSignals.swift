import Dispatch
import Synchronization
import TernClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Hears SIGINT and SIGTERM instead of letting them end the program.
final class StopSignals: Sendable {
  private let sources: Mutex<[any DispatchSourceSignal]>
  private let heard = Promise<Void>()

  init() {
    let heard = heard
    let sources = [SIGINT, SIGTERM].map { number in
      _ = signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { heard.resolve(()) }
      source.resume()
      return source
    }
    self.sources = Mutex(sources)
  }

  /// Waits for the first of them.
  func wait() async { await heard.value(ifCancelled: ()) }
}

/// Runs `work` until it ends or the program is asked to stop.
func untilStopped(_ work: @escaping @Sendable () async throws -> Void) async throws {
  let signals = StopSignals()
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await work() }
    group.addTask { await signals.wait() }
    defer { group.cancelAll() }
    try await group.next()
  }
}
