import TernClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The event that ends a running server.
enum ServerEnd: Sendable {
  /// The program was asked to stop.
  case signal
  /// The store cannot be used any more.
  case failure(String)
}

/// Hears SIGINT and SIGTERM instead of letting them end the program.
struct StopSignals: Sendable {
  private let heard = Promise<Void>()

  init() {
    let heard = heard
    for number in [SIGINT, SIGTERM] { SignalPipe.shared.listen(to: number) { heard.resolve(()) } }
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
