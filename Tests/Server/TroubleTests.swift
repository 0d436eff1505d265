import Synchronization
import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernTestKit
import TernTransport
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

struct TroubleTests {
  private func server(
    on store: any OrderedStore, _ transport: LoopbackTransport,
    options: ServerOptions = ServerOptions(),
    report: @escaping @Sendable (ServerEvent) -> Void = { _ in }
  ) async throws -> TernServer {
    let ledger = try EmbeddedLedger(store: store) { 0 }
    let server = try await TernServer(
      ledger: ledger, on: transport, options: options, report: report)
    try await server.listen(on: transport)
    return server
  }

  private func put(_ value: Int64, _ sequence: UInt64) -> TreeRequest {
    .put(
      "n", TreeNode(.integer(value)), expectedHash: nil,
      WriteHeader(WriteIdempotencyKey(sequence: sequence)))
  }

  @Test("what could not be stored is not answered, and reported to all", .timeLimit(.minutes(10)))
  func writeError() async throws {
    let disk = FaultyDisk()
    let transport = LoopbackTransport()
    let server = try await server(on: disk.open(), transport)
    let first = try await RawClient.connect(transport, stream: 7)
    disk.inject(.writeError)
    first.request(put(1, 1))
    #expect(await first.next() == .error("the server could not store what was written"))
    #expect(await first.next() == nil)
    let second = try await RawClient.connect(transport, stream: 7)
    second.request(put(1, 1))
    #expect(await second.next()?.response == TreeResponse(.ok, version: 1))
    await server.stop()
  }

  @Test(
    "after a failed sync no client is served; the next run knows what is true",
    .timeLimit(.minutes(10)), arguments: [true, false])
  func failedSync(isDurable: Bool) async throws {
    let disk = FaultyDisk()
    let transport = LoopbackTransport()
    let events = Mutex<[ServerEvent]>([])
    let server = try await server(on: disk.open(), transport) { event in
      events.withLock { $0.append(event) }
    }
    let client = try await RawClient.connect(transport, stream: 7)
    disk.inject(.failedSync(isDurable: isDurable))
    client.request(put(1, 1))
    #expect(await client.next()?.brief == "error")
    #expect(await client.next() == nil)
    // Behind the turn in which the server gives up.
    _ = await server.linkCount
    // The program is told, so that it ends; and that the write may be there.
    let told = events.withLock { $0 }
    let endings = told.filter { event in
      if case .ended = event { return true }
      return false
    }
    #expect(endings.count == 1)
    let doubts = told.filter(\.mayHaveStored)
    #expect(doubts.count == 1)
    let late = RawClient()
    try await transport.connect { _ in late }
    #expect(await late.next() == nil)
    await server.stop()

    let again = LoopbackTransport()
    let next = try await self.server(on: disk.open(), again)
    let back = try await RawClient.connect(again, stream: 7)
    back.request(put(1, 1))
    #expect(await back.next()?.response == TreeResponse(.ok, version: 1))
    back.request(put(2, 2))
    #expect(await back.next()?.response == TreeResponse(.ok, version: 2))
    await next.stop()
  }

  /// Writes behind the server's back, so that the next batch does not become what it has to.
  private func interfere(_ ledger: EmbeddedLedger, _ sequence: UInt64) throws {
    let claim = IdempotencyKey(
      id: CommitID(stream: 7, sequence: sequence), payloadHash: 1, acknowledged: sequence - 1)
    #expect(
      try ledger.commit([Commit(claim: claim, mutations: [], record: [1])]).count == 1)
  }

  @Test("a ledger that is not as it has to be is read again", .timeLimit(.minutes(10)))
  func contradiction() async throws {
    let ledger = try EmbeddedLedger(store: FaultyDisk().open()) { 0 }
    let transport = LoopbackTransport()
    let events = Mutex<[ServerEvent]>([])
    let server = try await TernServer(ledger: ledger, on: transport) { event in
      events.withLock { $0.append(event) }
    }
    try await server.listen(on: transport)
    let client = try await RawClient.connect(transport, stream: 7)
    let other = try await RawClient.connect(transport, stream: 8)
    client.request(put(1, 1))
    #expect(await client.next()?.response == TreeResponse(.ok, version: 1))
    try interfere(ledger, 2)
    client.request(put(2, 2))
    for client in [client, other] {
      #expect(await client.next()?.brief == "error")
      #expect(await client.next() == nil)
    }
    #expect(events.withLock { $0 }.contains(.failed(.corrupt(key: []))))

    let back = try await RawClient.connect(transport, stream: 7)
    back.request(put(3, 3))
    #expect(await back.next()?.response == TreeResponse(.ok, version: 3))
    await server.stop()
  }

  @Test(
    "a ledger that contradicts itself again and again ends the server", .timeLimit(.minutes(10)))
  func lastContradiction() async throws {
    let ledger = try EmbeddedLedger(store: FaultyDisk().open()) { 0 }
    let transport = LoopbackTransport()
    let options = ServerOptions(limits: ServerLimits(contradictions: 1))
    let server = try await TernServer(ledger: ledger, on: transport, options: options)
    try await server.listen(on: transport)
    for sequence in [1, 3, 4] as [UInt64] {
      let client = try await RawClient.connect(transport, stream: 7)
      if sequence < 4 {
        // A batch that becomes what it has to makes the next contradiction the first again.
        client.request(put(1, sequence))
        #expect(await client.next()?.brief == "ok")
      }
      let next = sequence < 4 ? sequence + 1 : 5
      try interfere(ledger, next)
      client.request(put(2, next))
      #expect(await client.next()?.brief == "error")
      #expect(await client.next() == nil)
    }
    let late = RawClient()
    try await transport.connect { _ in late }
    #expect(await late.next() == nil)
    await server.stop()
  }

  @Test("a client that does not read is let go, the others go on", .timeLimit(.minutes(10)))
  func slowReader() async throws {
    let transport = LoopbackTransport()
    let options = ServerOptions(limits: ServerLimits(queuedBytes: 100_000))
    let server = try await server(on: FaultyDisk().open(), transport, options: options)
    let slow = try await RawClient.connect(transport)
    let writer = try await RawClient.connect(transport)
    slow.request(.listen(TreeListen(path: "big")))
    #expect(await slow.next()?.brief == "ok")
    slow.pause()
    let text = TreeNode(.string(String(repeating: "x", count: 60_000)))
    for _ in 0..<4 {
      writer.request(.put("big", text, expectedHash: nil, .none))
      #expect(await writer.next()?.brief == "ok")
    }
    slow.resume()
    while await slow.next() != nil {}
    writer.send(.ping)
    #expect(await writer.next()?.brief == "pong")
    await server.stop()
  }

  @Test("more data than a frame carries are too big, not the end of the link")
  func tooBig() throws {
    let options = ServerOptions(limits: ServerLimits(answerBytes: 1_000))
    let bench = try MachineBench(options: options)
    try bench.open(1)
    _ = try bench.ask(1, bench.put("big", TreeNode(.string(String(repeating: "x", count: 2_000)))))
    #expect(try bench.ask(1, bench.listen("big")).map(\.brief) == ["too_big"])
    #expect(try bench.ask(1, .get("big", .all)).map(\.brief) == ["too_big"])
    #expect(try bench.ask(1, .get("other", .all)).map(\.brief) == ["ok"])
  }
}
