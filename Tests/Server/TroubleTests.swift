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
    options: ServerOptions = ServerOptions()
  ) async throws -> TernServer {
    let ledger = try EmbeddedLedger(store: store) { 0 }
    let server = try await TernServer(ledger: ledger, on: transport, options: options)
    try await server.listen(on: transport)
    return server
  }

  private func put(_ value: Int64, _ sequence: UInt64) -> TreeRequest {
    .put(
      "n", TreeNode(.integer(value)), expectedHash: nil, WriteMark(WriteStamp(sequence: sequence)))
  }

  @Test("what could not be stored is not answered; a full disk passes", .timeLimit(.minutes(1)))
  func diskFull() async throws {
    let disk = FaultyDisk()
    let transport = LoopbackTransport()
    let server = try await server(on: disk.open(), transport)
    let first = try await RawClient.connect(transport, stream: 7)
    disk.inject(.diskFull)
    first.request(put(1, 1))
    #expect(await first.next() == nil)
    let second = try await RawClient.connect(transport, stream: 7)
    second.request(put(1, 1))
    #expect(await second.next()?.response == TreeResponse(.ok, version: 1))
    await server.stop()
  }

  @Test(
    "after a failed sync nobody is served; the next run knows what is true",
    .timeLimit(.minutes(1)), arguments: [true, false])
  func failedSync(isDurable: Bool) async throws {
    let disk = FaultyDisk()
    let transport = LoopbackTransport()
    let server = try await server(on: disk.open(), transport)
    let client = try await RawClient.connect(transport, stream: 7)
    disk.inject(.failedSync(isDurable: isDurable))
    client.request(put(1, 1))
    #expect(await client.next() == nil)
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

  @Test("a client that does not read is let go, the others go on", .timeLimit(.minutes(1)))
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
