import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSharedLedger

/// Nodes that run by themselves, on a clock that stands still: whatever they do, they do it because
/// something has happened, and not because time has passed.
@Suite("Leads that change hands without a wait", .timeLimit(.minutes(5)))
struct HandOverTests {
  private let clock = ManualClock()
  private let memory: LogMemory

  init() {
    let clock = clock
    memory = LogMemory(clock: clock) { clock.now.offset.wholeMilliseconds }
  }

  private func node(_ name: String) -> SharedLedger {
    let clock = clock
    return SharedLedger(
      log: memory.node(name), store: MemoryStore(),
      options: SharedLedgerOptions(node: name, address: name),
      environment: NodeEnvironment(
        clock: clock, uptime: { clock.now.offset.wholeMilliseconds },
        randomBits: { UInt64.random(in: .min ... .max) }))
  }

  /// A node that leads, and two that know it.
  private func nodes() async throws -> (leader: SharedLedger, others: [SharedLedger]) {
    let leader = node("a")
    leader.start()
    try await leader.beginTerm()
    let others = [node("b"), node("c")]
    for other in others {
      other.start()
      await learn("a", other)
    }
    return (leader, others)
  }

  /// Waits until a node knows which other one leads.
  private func learn(_ leader: String, _ node: SharedLedger) async {
    var known = node.standing
    while known.leader != leader, let next = await node.changeOfLeader(after: known) {
      known = next
    }
  }

  /// Waits until one of the nodes leads.
  private func successor(of nodes: [SharedLedger]) async throws -> SharedLedger {
    try await withThrowingTaskGroup(of: SharedLedger?.self) { group in
      for node in nodes {
        group.addTask {
          do { try await node.beginTerm() } catch { return nil }
          return node
        }
      }
      let first = try await group.next() ?? nil
      group.cancelAll()
      return try #require(first)
    }
  }

  @Test("a leader that steps down is followed at once, and all nodes know by which one")
  func stepDown() async throws {
    let (leader, others) = try await nodes()
    _ = try await leader.commit([put("a", 1, claim(1))])
    for node in others + others { await NodeDuties(ledger: node).announce() }
    await NodeDuties(ledger: leader).announce()
    for node in others { await NodeDuties(ledger: node).announce() }
    let log = memory.node("operator")
    let view = try await ClusterView(of: ShardID(0), in: log)
    try await view.askLeaderToStepDown(of: ShardID(0), in: log, as: "operator")
    await NodeDuties(ledger: leader).announce()
    #expect(await leader.endOfTerm() == "an operator asked this node to step down")
    let next = try await successor(of: others)
    for node in [leader] + others where node !== next { await learn(next.options.address, node) }
    #expect(leader.standing.isHandingOver, "for a second, in which its server lets clients go")
    #expect(try await next.commit([put("a", 1, claim(1))]) == [.duplicate(1, outcome: [1, 1])])
    #expect(try await next.commit([put("a", 2)]) == [.committed(2)])
    #expect(clock.now.offset == .zero)
    for node in [leader] + others { await node.close() }
  }

  @Test("a leader that ends in order is followed at once")
  func end() async throws {
    let (leader, others) = try await nodes()
    _ = try await leader.commit([put("a", 1)])
    await leader.close()
    let next = try await successor(of: others)
    for node in others where node !== next { await learn(next.options.address, node) }
    #expect(try await next.commit([put("a", 2)]) == [.committed(2)])
    #expect(clock.now.offset == .zero)
    for node in others { await node.close() }
  }

  @Test("a batch of another leader makes the look due, which does not wait for further batches")
  func busyLeader() async throws {
    let cluster = TestCluster()
    let (first, second, third) = (cluster.node(), cluster.node(), cluster.node())
    try await first.lead()
    await third.follow()
    #expect(third.ledger.standing.leader == "node1:9000")
    let looked = cluster.clock.now
    first.ledger.handOver("a test")
    await first.follow()
    try await second.lead()
    try await second.commit([put("a", 1)])
    _ = await third.ledger.step()
    #expect(third.ledger.standing.leader == "node2:9000")
    // Its next look was not due by time.
    #expect(looked.duration(to: cluster.clock.now) < third.ledger.options.lookInterval)
  }

  @Test("a node hands over from the end of its term until it knows the next leader")
  func standing() async throws {
    let cluster = TestCluster()
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    #expect(!first.ledger.standing.isHandingOver)
    first.ledger.handOver("a test")
    #expect(first.ledger.standing.isHandingOver)
    await first.follow()
    #expect(first.ledger.standing.isHandingOver, "no other node leads yet")
    try await second.lead()
    cluster.clock.advance(by: .seconds(1))
    await first.follow()
    #expect(!first.ledger.standing.isHandingOver)
    second.ledger.endTerm("a test")
    #expect(!second.ledger.standing.isHandingOver)
  }
}
