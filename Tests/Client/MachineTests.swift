import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import TernSync
import TernTreeReplica
import TernTreeWire
import Testing

@testable import TernClient

@Suite("Client machine")
struct MachineTests {
  private func world(_ store: MemoryStore = MemoryStore()) throws -> World {
    try World(store: store)
  }

  @Test("W43 a write is heard at once, then durable, then accepted")
  func write() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    _ = world.takeHeard()
    try world.act { _ = $0.write(.set("a", 1)) }
    #expect(world.takeHeard() == ["value a 1", "stored", "accepted"])
    #expect(world.peer.tree == ["a": 1])
    #expect(world.machine.queueStatus.pending.isEmpty)
  }

  @Test("nothing is sent before it is durable")
  func durableFirst() throws {
    let world = try world()
    try world.act { $0.goOnline() }
    world.holdsDisk = true
    try world.act { _ = $0.write(.set("a", 1)) }
    #expect(world.peer.tree.isEmpty && world.takeHeard().isEmpty)
    world.holdsDisk = false
    try world.settle()
    #expect(world.peer.tree == ["a": 1])
  }

  @Test("R06 R08 writes made offline are queued and sent in order")
  func offline() throws {
    let world = try world()
    world.isReachable = false
    for number in 1...100 {
      try world.act { _ = $0.write(.set("a", TreeNode(.integer(Int64(number))))) }
    }
    #expect(world.machine.queueStatus.pending.count == 100)
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.tree == ["a": 100] && world.peer.applied == 100)
    #expect(world.machine.queueStatus.pending.isEmpty)
  }

  @Test("R07 the queue survives a restart, and every write arrives once, in order")
  func restart() throws {
    let store = MemoryStore()
    let before = try world(store)
    before.isReachable = false
    for number in 1...3 {
      let path = try path("n/\(number)")
      try before.act { _ = $0.write(.set(path, 1)) }
    }
    let after = try World(store: store)
    try after.act { _ = $0.listen(at: "n", query: .all, for: .children) }
    #expect(after.takeHeard().prefix(3) == ["added n/1 1", "added n/2 1", "added n/3 1"])
    try after.settle()
    #expect(after.peer.tree == ["n": ["1": 1, "2": 1, "3": 1]] && after.peer.applied == 3)
    #expect(try World(store: store).machine.queueStatus.pending.isEmpty)
  }

  @Test("a server that takes no writes now is left alone for a while, and listened to meanwhile")
  func resting() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    world.peer.refusal = "the disk is full"
    for number in Int64(1)...3 {
      try world.act { _ = $0.write(.set("b", TreeNode(.integer(number)))) }
    }
    #expect(world.takeHeard().contains("the server says: the disk is full"))
    #expect(world.peer.log.filter { $0 == "p /b" }.count == 1, "what follows waits")
    let first = try #require(world.timers[.outbox])
    try world.remote(.set("a", 1))
    #expect(world.takeHeard() == ["value a 1"], "the connection goes on")
    try world.fire(.outbox)
    let second = try #require(world.timers[.outbox])
    #expect(first > .zero && second > first)
    world.peer.refusal = nil
    try world.fire(.outbox)
    #expect(world.takeHeard() == ["accepted", "accepted", "accepted"])
    #expect(world.peer.tree == ["a": 1, "b": 3] && world.peer.applied == 3)
    #expect(world.machine.queueStatus.pending.isEmpty)
  }

  @Test("writes that were refused together go again in their order, also over another connection")
  func restingInOrder() throws {
    let world = try world()
    world.isReachable = false
    for number in 1...20 {
      try world.act { _ = $0.write(.set("b", TreeNode(.integer(Int64(number))))) }
    }
    world.peer.refusal = "the disk is full"
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.tree.isEmpty && world.timers[.outbox] != nil)
    try world.act { _ = $0.write(.set("b", 21)) }
    world.peer.refusal = nil
    try world.drop()
    if world.peer.applied == 0 { try world.fire(.connection(.retry)) }
    #expect(world.peer.tree == ["b": 21] && world.peer.applied == 21)
  }

  @Test("W40 an increment whose acknowledgement was lost happens once")
  func lostAcknowledgement() throws {
    let world = try world()
    try world.act { $0.goOnline() }
    world.losesAnswers = true
    for _ in 1...5 { try world.act { _ = $0.write(.set("n", .increment(by: 1))) } }
    #expect(world.peer.tree == ["n": 5])
    world.losesAnswers = false
    try world.drop()
    try world.fire(.connection(.retry))
    #expect(world.peer.tree == ["n": 5] && world.peer.applied == 5)
    #expect(world.takeHeard().filter { $0 == "accepted" }.count == 5)
    #expect(world.peer.log.contains("wo 1...5"))
    try world.act { _ = $0.write(.set("n", .increment(by: 1))) }
    #expect(world.peer.tree == ["n": 6])
  }

  @Test("a refused write is taken back before its verdict, and kept with its reason")
  func rejection() throws {
    let world = try world()
    world.peer.denied = ["a"]
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    _ = world.takeHeard()
    try world.act { _ = $0.write(.set("a", 1)) }
    #expect(
      world.takeHeard() == ["value a 1", "stored", "value a null", "rejected permission_denied"])
    let rejected = world.machine.queueStatus.rejected
    #expect(rejected.map(\.reason.status) == ["permission_denied"])

    world.peer.denied = []
    let row = try #require(rejected.first?.id)
    try world.act { _ = $0.retry(row: row, with: .set("a", 2)) }
    #expect(world.peer.tree == ["a": 2])
    #expect(world.machine.queueStatus.rejected.isEmpty)
  }

  @Test("a full queue takes the write back and says so")
  func diskFailure() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    _ = world.takeHeard()
    world.store.close()
    try world.act { _ = $0.write(.set("a", 1)) }
    #expect(
      world.takeHeard() == [
        "value a 1", "value a null", "not stored the store was closed",
      ])
  }

  @Test("D04 purging empties the queue and undoes what it held")
  func purge() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    world.isReachable = false
    try world.drop()
    try world.act { _ = $0.write(.set("a", 1)) }
    _ = world.takeHeard()
    try world.act { _ = $0.purge() }
    #expect(world.takeHeard() == ["value a null", "purged"])
    world.isReachable = true
    try world.fire(.connection(.retry))
    try world.act { _ = $0.write(.set("b", 1)) }
    #expect(world.peer.tree == ["b": 1])
  }

  @Test("a purge of many writes is one event, which shows none of them")
  func purgeAtOnce() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    world.isReachable = false
    try world.drop()
    for path: TreePath in ["a/x", "a/y", "a/x"] { try world.act { _ = $0.write(.set(path, 1)) } }
    _ = world.takeHeard()
    try world.act { _ = $0.purge() }
    #expect(world.takeHeard() == ["value a null", "purged", "purged", "purged"])
  }

  @Test("listeners hear of another user's writes in one step, and of none in between")
  func userSwitch() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    world.isReachable = false
    try world.drop()
    for path: TreePath in ["a/x", "a/y"] { try world.act { _ = $0.write(.set(path, 1)) } }
    _ = world.takeHeard()
    let rows = (1...2 as ClosedRange<UInt64>).map { number in
      QueuedWrite(
        id: number, state: .pending(sequence: number),
        payload: WriteRecord.write(.set(number == 1 ? "a/x" : "a/z", 2)).encode())
    }
    let queue = OpenedQueue(client: 7, origin: 7, nextSequence: 3, rows: rows)
    try world.act { _ = $0.switchUser(to: QueueUser("ann"), showing: "t", .success(queue)) }
    #expect(world.takeHeard() == [#"value a {"x":2,"z":2}"#])
    // Back again: the first user's writes are known in this run.
    try world.act { _ = $0.switchUser(to: .nobody, showing: nil, nil) }
    #expect(world.takeHeard() == [#"value a {"x":1,"y":1}"#])
  }

  @Test("the server knows a client again that has purged its queue and lost its memory")
  func purgedOrigin() throws {
    let store = MemoryStore()
    let before = try world(store)
    try before.act { _ = $0.purge() }
    let after = try world(store)
    try after.act { $0.goOnline() }
    let opening = try #require(after.peer.opening)
    #expect(opening.origin == 0xC0FFEE)
    #expect(opening.stream != nil && opening.stream != 0xC0FFEE)
  }

  @Test("what became of writes that were purged says nothing about later ones")
  func purgeBeforeOutcomes() throws {
    let world = try world()
    try world.act { $0.goOnline() }
    world.losesAnswers = true
    try world.act { _ = $0.write(.set("a", 1)) }
    world.losesAnswers = false
    world.peer.holdsOutcomes = true
    try world.drop()
    try world.fire(.connection(.retry))
    #expect(world.peer.log.last == "wo 1...1")

    // The first write of the next stream is refused, and its answer lost.
    world.losesAnswers = true
    world.peer.denied = ["b"]
    try world.act { _ = $0.purge() }
    try world.act { _ = $0.write(.set("b", 1)) }
    world.losesAnswers = false
    _ = world.takeHeard()
    try world.release()
    #expect(world.takeHeard().isEmpty)
    try world.drop()
    try world.fire(.connection(.retry))
    #expect(world.takeHeard() == ["rejected permission_denied"])
  }

  @Test("R34 .info/connected follows the connection")
  func connected() throws {
    let world = try world()
    world.isReachable = false
    try world.act { _ = $0.listen(at: ".info/connected", query: .all, for: .value) }
    #expect(world.takeHeard() == ["value .info/connected false"])
    world.isReachable = true
    try world.fire(.connection(.retry))
    try world.act { $0.goOffline() }
    try world.act { $0.goOnline() }
    #expect(
      world.takeHeard() == [
        "value .info/connected true", "value .info/connected false", "value .info/connected true",
      ])
  }

  @Test("R38 .info/serverTimeOffset tells the distance to the server's clock")
  func serverTimeOffset() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: ".info/serverTimeOffset", query: .all, for: .value) }
    #expect(world.takeHeard().last == "value .info/serverTimeOffset 4000000")
  }

  @Test("R25 deferred writes are registered, and shown here when the connection ends")
  func onDisconnect() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "me", query: .all, for: .value) }
    try world.act { _ = $0.write(.set("me", "on")) }
    try world.act { _ = $0.onDisconnect(.set("me", "off")) }
    #expect(world.takeHeard().contains("registered"))
    try world.act { $0.goOffline() }
    #expect(world.takeHeard() == ["value me \"off\""])
    #expect(world.peer.tree == ["me": "off"])
  }

  @Test("R41 deferred writes and writes keep their order on reconnect")
  func deferredOrder() throws {
    let world = try world()
    world.isReachable = false
    try world.act { _ = $0.onDisconnect(.set("me", "off")) }
    try world.act { _ = $0.write(.set("me", "on")) }
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.log == ["o /me", "p /me"])
  }

  @Test("a client that is asked whether its link is the last one opens once more")
  func inquiry() throws {
    let world = try world()
    world.peer.inquiries = 2
    try world.act { $0.goOnline() }
    #expect(world.machine.connectionState == .online)
    #expect(world.peer.inquiries == 0)
  }
}
