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

/// A disk that is full: what clients write waits with them, and everything else goes on.
@Suite("A server on a full disk") struct FullDiskTests {
  /// A server on a disk that can be filled, and what it told its operator.
  private final class House: Sendable {
    let disk = FaultyDisk()
    let transport = LoopbackTransport()
    let server: TernServer
    private let events = Events()

    private final class Events: Sendable {
      let list = Mutex<[ServerEvent]>([])
    }

    init() async throws {
      let ledger = try EmbeddedLedger(store: disk.open()) { 0 }
      server = try await TernServer(ledger: ledger, on: transport) { [events] event in
        events.list.withLock { $0.append(event) }
      }
      try await server.listen(on: transport)
    }

    func client(_ stream: UInt128? = nil) async throws -> RawClient {
      try await RawClient.connect(transport, stream: stream)
    }

    /// The events about the disk.
    var news: [ServerEvent] {
      events.list.withLock { list in
        list.filter { event in
          switch event {
          case .connected, .disconnected: false
          case .failed, .ended, .diskFull, .diskHasRoom, .corrupt, .oldFormat, .unusableRules,
            .backupEnded,
            .hindered:
            true
          case .standingBy, .leading, .following: false
          }
        }
      }
    }
  }

  private let full = TreeResponse(
    .unavailable, detail: "The server's disk is full. Nothing is stored until it has room again.")

  private func put(_ node: TreeNode, _ sequence: UInt64) -> TreeRequest {
    .put("n", node, expectedHash: nil, WriteHeader(WriteIdempotencyKey(sequence: sequence)))
  }

  @Test(
    "writes are rejected until there is space; no connection ends, and nothing is lost",
    .timeLimit(.minutes(10)))
  func fullAndFree() async throws {
    let house = try await House()
    let reader = try await house.client()
    reader.request(.listen(TreeListen(path: "n")))
    #expect(await reader.next()?.brief == "ok")
    let writer = try await house.client(7)

    house.disk.fill(holdingBack: 100_000)
    // It meets the full disk, and is stored from what is held back.
    writer.request(put(1, 1))
    #expect(await writer.next()?.response == TreeResponse(.ok, version: 1))
    #expect(await reader.next()?.brief == "put n 1")
    writer.request(put(2, 2))
    #expect(await writer.next()?.response == full)
    writer.request(put(1, 1))
    #expect(await writer.next()?.response == TreeResponse(.ok, version: 1), "it was stored")
    reader.request(.get("n", .all))
    #expect(try await reader.next()?.response?.node() == 1)
    // Looking does not find room where there is none.
    await house.server.tick()
    writer.request(put(2, 2))
    #expect(await writer.next()?.response == full)
    // What only removes makes room.
    writer.request(put(.empty, 2))
    #expect(await writer.next()?.response == TreeResponse(.ok, version: 2))
    #expect(await reader.next()?.brief == "put n null")
    #expect(house.news == [.diskFull])

    house.disk.free()
    await house.server.tick()
    writer.request(put(3, 3))
    #expect(await writer.next()?.response == TreeResponse(.ok, version: 3))
    #expect(await reader.next()?.brief == "put n 3")
    #expect(house.news == [.diskFull, .diskHasRoom])
    await house.server.stop()
  }

  @Test("what was left for a disconnect waits for room, and happens once", .timeLimit(.minutes(10)))
  func deferred() async throws {
    let house = try await House()
    let reader = try await house.client()
    reader.request(.listen(TreeListen(path: "n")))
    #expect(await reader.next()?.brief == "ok")
    let leaving = try await house.client()
    leaving.request(.onDisconnectSet("n", "gone"))
    #expect(await leaving.next()?.brief == "ok")

    house.disk.fill(holdingBack: 100_000)
    let writer = try await house.client(7)
    writer.request(put(1, 1))
    #expect(await reader.next()?.brief == "put n 1")
    leaving.request(.onDisconnectSet("n", "later"))
    #expect(await leaving.next()?.response == full)
    leaving.close()
    while await leaving.next() != nil {}
    reader.send(.ping)
    #expect(await reader.next()?.brief == "pong")

    house.disk.free()
    await house.server.tick()
    #expect(await reader.next()?.brief == #"put n "gone""#)
    await house.server.tick()
    reader.send(.ping)
    #expect(await reader.next()?.brief == "pong")
    await house.server.stop()
  }

  @Test(
    "without reserved space all connections end once, with a reason, and come back to read",
    .timeLimit(.minutes(10)))
  func nothingHeldBack() async throws {
    let house = try await House()
    let first = try await house.client(7)
    house.disk.fill()
    first.request(put(1, 1))
    #expect(await first.next() == .error("the server's disk is full"))
    #expect(await first.next() == nil)

    let second = try await house.client(7)
    for _ in 0..<3 {
      second.request(put(1, 1))
      #expect(await second.next()?.response == full)
    }
    second.request(put(.empty, 1))
    #expect(await second.next()?.response == full, "there is nothing to remove with")
    second.request(.listen(TreeListen(path: "n")))
    #expect(await second.next()?.brief == "ok")
    #expect(house.news == [.failed(.storage(.diskFull)), .diskFull])

    house.disk.free()
    await house.server.tick()
    second.request(put(1, 1))
    #expect(await second.next()?.brief == "put n 1")
    #expect(await second.next()?.response == TreeResponse(.ok, version: 1))
    await house.server.stop()
  }

  @Test(
    "a batch that would leave nothing for removals is rejected; removals are taken at once",
    .timeLimit(.minutes(10)))
  func largeBatch() async throws {
    let house = try await House()
    let first = try await house.client(7)
    first.request(put(1, 1))
    #expect(await first.next()?.response == TreeResponse(.ok, version: 1))
    house.disk.fill(holdingBack: 3 << 20)
    first.request(put(TreeNode(.string(String(repeating: "x", count: 1_100_000))), 2))
    #expect(await first.next() == .error("the server's disk is full"))
    #expect(await first.next() == nil)
    let second = try await house.client(7)
    second.request(put(2, 2))
    #expect(await second.next()?.response == full)
    second.request(put(.empty, 2))
    #expect(await second.next()?.response == TreeResponse(.ok, version: 2))
    await house.server.stop()
  }

  @Test("removals are taken as soon as they can be, before there is room", .timeLimit(.minutes(10)))
  func removalsReturn() async throws {
    let house = try await House()
    let first = try await house.client(7)
    first.request(put(1, 1))
    #expect(await first.next()?.response == TreeResponse(.ok, version: 1))
    house.disk.fill()
    first.request(put(2, 2))
    #expect(await first.next() == .error("the server's disk is full"))
    let second = try await house.client(7)
    second.request(put(.empty, 2))
    #expect(await second.next()?.response == full)
    // Nothing is held back yet.
    await house.server.tick()
    second.request(put(.empty, 2))
    #expect(await second.next()?.response == full)
    house.disk.fill(holdingBack: 100_000)
    await house.server.tick()
    second.request(put(3, 2))
    #expect(await second.next()?.response == full)
    second.request(put(.empty, 2))
    #expect(await second.next()?.response == TreeResponse(.ok, version: 2))
    house.disk.free()
    await house.server.tick()
    second.request(put(3, 3))
    #expect(await second.next()?.response == TreeResponse(.ok, version: 3))
    await house.server.stop()
  }

  @Test("requests without a session are rejected; those that ask for nothing new are answered")
  func direct() throws {
    let bench = try MachineBench()
    try bench.run([direct(1, .write(.set("n", 1), expectedHash: nil))])
    bench.lackSpace(.removals)
    let refused = DirectAnswer.refused(.unavailable(full.detail))
    try bench.run([
      direct(1, .write(.set("n", 2), expectedHash: nil)), direct(2, .push("n", 1)),
      direct(3, .read("n", .all)), direct(4, .write(.set("n", .empty), expectedHash: nil)),
    ])
    #expect(bench.answers == [1: refused, 2: refused, 3: .node(1), 4: .written(.set("n", .empty))])
    bench.lackSpace(.none)
    try bench.run([direct(1, .write(.set("n", .empty), expectedHash: nil))])
    #expect(bench.answers[1] == refused)
    try bench.run([.room, direct(1, .write(.set("n", 3), expectedHash: nil))])
    #expect(bench.answers[1] == .written(.set("n", 3)))
  }

  private func direct(_ ticket: UInt64, _ operation: DirectRequest.Operation) -> ServerInput {
    let request = DirectRequest(namespace: "default", isLocal: true, operation)
    return .direct(ticket: ticket, request)
  }
}
