import TernCore
import TernQuery
import TernSync
import TernTransactions
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("Writes behind one that the server could not take")
struct RestingOrderTests {
  /// A client that sends three writes at once.
  private func world(_ limits: TreeMachine.Limits = TreeMachine.Limits()) throws -> World {
    let world = try World(limits: limits)
    try world.act { $0.goOnline() }
    world.peer.refusal = "the disk is full"
    world.holdsDisk = true
    for number in Int64(1)...3 {
      try world.act { _ = $0.write(.set("n", TreeNode(.integer(number)))) }
    }
    return world
  }

  @Test("the connection stays, and all of them go again in their order")
  func writes() throws {
    let world = try world()
    world.holdsDisk = false
    try world.settle()
    #expect(world.peer.log == ["p /n", "p /n", "p /n"])
    #expect(world.closedLinks == 0 && world.timers[.outbox] != nil)
    try world.act { _ = $0.write(.set("n", 4)) }
    #expect(world.peer.log.count == 3, "what follows waits")
    world.peer.refusal = nil
    try world.fire(.outbox)
    #expect(world.peer.tree == ["n": 4] && world.peer.applied == 4)
    #expect(world.closedLinks == 0 && world.openedLinks == 1)
    #expect(world.machine.queueStatus.pending.isEmpty)
  }

  @Test("what is sent while a rest begins and ends is answered before anything goes again")
  func lateAnswers() throws {
    let world = try world()
    world.holdsDisk = false
    world.holdsAnswers = true
    try world.settle()
    world.peer.refusal = nil
    // The first answer alone arrives, and the rest is over before the others come.
    try world.releaseAnswers(1)
    try world.fire(.outbox)
    #expect(world.peer.log.count == 3)
    world.holdsAnswers = false
    try world.settle()
    #expect(world.peer.tree == ["n": 3] && world.peer.applied == 3)
    #expect(world.closedLinks == 0 && world.machine.queueStatus.pending.isEmpty)
  }

  @Test("a gap behind nothing that rests still ends the connection")
  func realGap() throws {
    let world = try World()
    try world.act { $0.goOnline() }
    world.peer.missesWrites = true
    world.isReachable = false
    try world.act { _ = $0.write(.set("n", 1)) }
    #expect(world.closedLinks == 1)
  }

  @Test("transactions rest as well, and no rest counts as an attempt")
  func transactions() throws {
    let world = try World()
    try world.act { $0.goOnline() }
    world.peer.refusal = "the disk is full"
    try world.act { machine in
      for path in ["a", "b"] as [TreePath] {
        _ = machine.transact(at: path, appliesLocally: true) { node in
          TreeNode(.integer(Int64(node.scalar?.number ?? 0) + 1))
        }
      }
    }
    for _ in 1...30 { try world.fire(.outbox) }
    #expect(world.takeHeard().filter { $0.hasPrefix("failed") }.isEmpty)
    #expect(world.closedLinks == 0)
    #expect(world.timers.keys.allSatisfy { if case .rest = $0 { false } else { true } })
    world.peer.refusal = nil
    try world.fire(.outbox)
    #expect(world.peer.tree == ["a": 1, "b": 1])
    #expect(world.takeHeard() == ["committed 1", "committed 1"])
  }
}
