import TernCore
import TernLedger
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransportLoopback
import Testing

@testable import TernServer

@Suite("Rates of links of requests without a session", .timeLimit(.minutes(5)))
struct DirectRateTests {
  /// A server whose clock stands still, and a link of a client that may make so many requests.
  private func withClient(
    _ requests: Int, _ body: (DirectClient) async throws -> Void
  ) async throws {
    let rates = RateLimits(requestsPerAddress: 1, burstSeconds: requests)
    let clock = ManualClock()
    let transport = LoopbackTransport()
    let server = try await TernServer(
      ledger: EmbeddedLedger(store: MemoryStore()) { 0 }, on: transport,
      options: ServerOptions(limits: ServerLimits(rates: rates)),
      ambient: RuntimeEnvironment(
        millisecondsSinceEpoch: { 0 }, clock: clock, randomBits: { 7 }))
    try await server.listen(on: transport)
    try await body(try await DirectClient.connect(transport))
    await server.stop()
  }

  private func isTooMany(_ refusal: DirectRefusal?) -> Bool {
    if case .tooMany? = refusal { true } else { false }
  }

  /// Asks for data in pieces.
  ///
  /// - Returns: The refusal, if any.
  private func read(_ client: DirectClient, _ number: UInt64) async throws -> DirectRefusal? {
    let request = try DirectClient.request(.review(TreePath("a")))
    client.send(try DirectFrame(request, number, in: .value).encoded())
    while true {
      switch try DirectFrame(try #require(await client.next()), .answer).piece() {
      case .bytes: continue
      case .end: return nil
      case .refused(let refusal): return refusal
      }
    }
  }

  @Test("data in pieces are requests, as those over REST are")
  func pieces() async throws {
    try await withClient(2) { client async throws in
      #expect(try await read(client, 1_001) == nil)
      #expect(try await read(client, 1_002) == nil)
      let third = try await read(client, 1_003)
      #expect(isTooMany(third))
    }
  }

  @Test("questions that a server asks itself are requests when a link brings them")
  func questions() async throws {
    try await withClient(2) { client async throws in
      #expect(try await client.ask(.mayWrite([TreePath("a")])) == .done)
      #expect(try await client.ask(.mayPush(TreePath("a"))) == .done)
      for operation in [
        DirectRequest.Operation.mayWrite([TreePath("a")]), .names(.root, after: nil, limit: 1),
      ] {
        guard case .refused(let refusal)? = try await client.ask(operation) else {
          Issue.record("as often as it likes")
          return
        }
        #expect(isTooMany(refusal))
      }
    }
  }
}
