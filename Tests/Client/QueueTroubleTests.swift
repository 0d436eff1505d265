import Synchronization
import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernSync
import TernTestKit
import TernTransactions
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("Trouble with the queue")
struct QueueTroubleTests {
  @Test("the server may not forget an answer while the disk does not let its row go")
  func unsettledRow() throws {
    let disk = FaultyDisk()
    let world = try World(store: disk.open())
    try world.act { $0.goOnline() }
    // The append stores a row and the header; settling stores the header again, and fails.
    disk.inject(.writeError, after: 2)
    for number in 1...3 {
      try world.act { _ = $0.write(.set("n", TreeNode(.integer(Int64(number))))) }
    }
    #expect(world.takeHeard().filter { $0 == "accepted" }.count == 3)
    #expect(world.peer.acknowledged == [0, 0, 0])

    let again = try World(store: disk.open(), peer: world.peer)
    #expect(again.machine.queueStatus.pending.count == 1)
    try again.act { $0.goOnline() }
    #expect(again.peer.log.last == "wo 1...1" && again.peer.applied == 3)
    #expect(again.machine.queueStatus.pending.isEmpty)
    for number in 4...5 {
      try again.act { _ = $0.write(.set("n", TreeNode(.integer(Int64(number))))) }
    }
    #expect(again.peer.acknowledged.last == 4)
  }

  @Test("a refused row that the disk would not change is asked for again, too")
  func unsettledRejection() throws {
    let disk = FaultyDisk()
    let world = try World(store: disk.open())
    world.peer.denied = ["n"]
    try world.act { $0.goOnline() }
    disk.inject(.writeError, after: 2)
    try world.act { _ = $0.write(.set("n", 1)) }
    try world.act { _ = $0.write(.set("m", 1)) }
    #expect(world.peer.acknowledged == [0, 0])
    let again = try World(store: disk.open(), peer: world.peer)
    try again.act { $0.goOnline() }
    #expect(again.machine.queueStatus.rejected.map(\.reason.status) == ["permission_denied"])
  }

  @Test("a write whose outcome the server forgot is kept, and called neither good nor bad")
  func unknownOutcome() throws {
    let world = try World()
    try world.act { _ = $0.listen(at: "n", query: .all, for: .value) }
    world.losesAnswers = true
    try world.act { _ = $0.write(.set("n", .increment(by: 1))) }
    world.losesAnswers = false
    world.peer.forgetOutcomes()
    try world.drop()
    _ = world.takeHeard()
    try world.fire(.connection(.retry))
    #expect(world.takeHeard().contains("rejected outcome_unknown"))
    let kept = world.machine.queueStatus.rejected
    #expect(kept.count == 1 && kept.allSatisfy(\.reason.isOutcomeUnknown))
    #expect(world.machine.queueStatus.pending.isEmpty && world.peer.applied == 1)
    let after = try World(store: world.store)
    #expect(after.machine.queueStatus.rejected == kept)
    try after.act { _ = $0.discard(row: kept.first?.id ?? 0) }
    #expect(after.machine.queueStatus.rejected.isEmpty)
  }

  @Test("the server keeps twice as many outcomes as a client may have on their way")
  func window() {
    #expect(ClientLimits.window * 2 <= LedgerLimits.outcomesPerStream)
    var options = ClientOptions()
    options.window = 1_000_000
    #expect(options.machineLimits.window == ClientLimits.window)
  }

  @Test("a transaction that a full queue cannot remember ends with the reason")
  func notRemembered() throws {
    let world = try World(queue: QueueLimits(writeCount: 1))
    world.isReachable = false
    try world.act { _ = $0.write(.set("a", 1)) }
    _ = world.takeHeard()
    let addOne: TransactionUpdate = { node in
      TreeNode(.integer(Int64(node.scalar?.number ?? 0) + 1))
    }
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    try world.act {
      _ = $0.transact("add", at: "n", arguments: 1, appliesLocally: true, addOne)
    }
    let reason = "failed \(TransactionError.notStored(.queueFull(limitWrites: 1)))"
    #expect(world.takeHeard() == [reason, reason])
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.tree == ["a": 1])
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    #expect(world.peer.tree == ["a": 1, "n": 1])
  }

  @Test("a transaction that is on its way when the queue fails still hears its answer")
  func sentBeforeTheFailure() throws {
    let world = try World(queue: QueueLimits(writeCount: 0))
    try world.act { $0.goOnline() }
    world.holdsDisk = true
    try world.act { _ = $0.transact(at: "n", appliesLocally: true) { _ in 7 } }
    #expect(world.takeHeard() == ["committed 7"])
    world.holdsDisk = false
    try world.settle()
    #expect(world.takeHeard().isEmpty && world.peer.tree == ["n": 7])
  }

  @Test("a retry finds room in a queue that is full", .timeLimit(.minutes(10)))
  func retryWhenFull() throws {
    let world = try World(queue: QueueLimits(writeCount: 1))
    world.peer.denied = ["n"]
    try world.act { _ = $0.write(.set("n", 1)) }
    let row = try #require(world.machine.queueStatus.rejected.first?.id)
    world.peer.denied = []
    try world.act { _ = $0.retry(row: row) }
    #expect(world.peer.tree == ["n": 1] && world.machine.queueStatus.rejected.isEmpty)
  }

  @Test("the stores of a client close after the rows of answered writes are gone")
  func closing() async throws {
    let home = try await Home()
    for round in 1...40 {
      let disk = FaultyDisk()
      let store = disk.open()
      var parts = ClientParts(queue: store, cache: nil, transport: home.transport)
      parts.whenClosed = { store.close() }
      let tern = try TernDatabase.open(parts, ambient: .patient)
      for number in 1...3 {
        try await tern.tree["n/\(round)"].set(TreeNode(.integer(Int64(number)))).acknowledged()
      }
      await tern.close()
      let (_, rows) = try WriteQueue.open(disk.open(), newClient: 1)
      #expect(rows.isEmpty, "round \(round)")
    }
  }
}
