import TernCore
import TernQuery
import TernStorage
import TernSync
import TernTestKit
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("A damaged queue")
struct SalvageTests {
  private let disk = FaultyDisk()
  private let addOne = TreeWrite.set("n", .increment(by: 1))

  /// Row 3 of a queue.
  private static let third: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 0, 3]

  /// A client that made four increments and whose third record is damaged now.
  private func damaged(_ prepare: (World) throws -> Void) throws -> FakePeer {
    let world = try World(store: disk.open())
    try world.act { $0.goOnline() }
    try prepare(world)
    for _ in 1...4 { try world.act { _ = $0.write(addOne) } }
    disk.corrupt(Self.third)
    #expect(throws: QueueError.damaged(id: 3)) { try World(store: disk.open()) }
    return world.peer
  }

  /// The same client after what is damaged was set aside, with all answers it can get.
  private func salvaged(_ peer: FakePeer) throws -> World {
    let store = disk.open()
    let found = try TernDatabase.setDamagedAside(queue: store)
    #expect(found.pending.count == 3 && found.damaged.map(\.id) == [3])
    let world = try World(store: store, peer: peer)
    try world.act { $0.goOnline() }
    #expect(world.machine.queueStatus.pending.isEmpty)
    return world
  }

  @Test("writes behind a damaged one that was never sent arrive, once")
  func neverSent() throws {
    let peer = try damaged { world in
      world.isReachable = false
      try world.drop()
    }
    let world = try salvaged(peer)
    #expect(peer.tree == ["n": 3])
    #expect(world.machine.queueStatus.rejected.isEmpty)
    try world.act { _ = $0.write(addOne) }
    #expect(peer.tree == ["n": 4] && peer.streams.count == 1)
  }

  @Test("a damaged write that had arrived stays, and nothing is sent again")
  func arrived() throws {
    let peer = try damaged { $0.losesAnswers = true }
    #expect(peer.tree == ["n": 4])
    _ = try salvaged(peer)
    #expect(peer.tree == ["n": 4] && peer.applied == 4)
  }

  @Test("no server is asked about a corrupt write that was rejected")
  func refused() throws {
    let peer = try damaged { world in
      world.losesAnswers = true
      world.peer.denied = ["n"]
    }
    let world = try salvaged(peer)
    #expect(world.machine.queueStatus.rejected.count == 3 && peer.tree.isEmpty)
  }

  @Test("without the queue's own record every pending write is kept for its owner to decide")
  func lostClient() throws {
    let peer = try damaged { $0.losesAnswers = true }
    disk.corrupt([1])
    let store = disk.open()
    #expect(throws: QueueError.damagedHeader) { try World(store: store) }
    #expect(try TernDatabase.salvage(queue: store).hasLostClient)
    try TernDatabase.setDamagedAside(queue: store)
    let world = try World(store: store, peer: peer)
    try world.act { $0.goOnline() }
    let kept = world.machine.queueStatus.rejected
    #expect(kept.count == 3 && kept.allSatisfy(\.reason.isOutcomeUnknown))
    #expect(peer.tree == ["n": 4])
    let row = try #require(kept.first?.id)
    try world.act { _ = $0.retry(row: row) }
    #expect(peer.tree == ["n": 5])
  }

  @Test("a real server takes what is left under the old numbers")
  func realServer() async throws {
    let home = try await Home()
    let first = try home.client(queue: disk.open())
    await first.tree.goOffline()
    for _ in 1...4 { try await first.tree["n"].increment() }
    await first.close()
    disk.corrupt(Self.third)
    let store = disk.open()
    #expect(throws: OpeningError.queue(.damaged(id: 3))) { try home.client(queue: store) }
    #expect(try TernDatabase.salvage(queue: store).pending.map(\.id) == [1, 2, 4])
    try TernDatabase.setDamagedAside(queue: store)
    let second = try home.client(queue: store)
    await second.tree.goOnline()
    try await second.tree["n"].increment().acknowledged()
    #expect(try await home.client().tree["n"].get().number == 4)
    #expect(await second.tree.rejectedWrites.isEmpty)
    await second.close()
    #expect(try TernDatabase.salvage(queue: store).setAside.map(\.id) == [3])
  }
}
