import TernCommitLog
import TernLedger
import TernLogMemory
import TernTestKit
import Testing

@testable import TernSharedLedger

@Suite("Nodes that tell of themselves")
struct ClusterViewTests {
  let cluster = TestCluster()

  @Test("a request to step down counts for half a minute, the words of a node for a minute")
  func oldRequests() {
    var watch = NodeWatch()
    let mark = LeaseMark(epoch: LogEpoch(1), beat: 1)
    func record(_ name: LeaseName, _ mark: LeaseMark) -> LeaseRecord {
      LeaseRecord(name: name, mark: mark, holder: Lease(node: "n", address: "1", mark: mark))
    }
    let request = record(NodeLease.stepDown, mark)
    let node = record(NodeLease.name(of: "n"), mark)
    #expect(watch.observe([request, node], at: 5).isEmpty)
    #expect(watch.observe([request, node], at: 30_004).isEmpty)
    #expect(watch.observe([request, node], at: 30_005) == [request])
    // Another operator's request.
    let other = record(NodeLease.stepDown, LeaseMark(epoch: LogEpoch(2), beat: 2))
    #expect(watch.observe([other, node], at: 40_000).isEmpty)
    #expect(watch.observe([other, node], at: 60_005) == [node])
    // One that was taken back is left where it is.
    let released = LeaseRecord(name: NodeLease.stepDown, mark: other.mark, holder: nil)
    #expect(watch.observe([released], at: 90_000).isEmpty)
  }

  @Test("a card is read as it was written, and other texts are none")
  func cards() {
    let card = NodeCard(
      role: .standby, position: LogPosition(.max), version: "1.2.3", address: "[fd00::1]:9000")
    #expect(NodeCard(card.text) == card)
    var other = card
    (other.version, other.address) = ("a b", "")
    #expect(NodeCard(other.text)?.version == "a_b")
    #expect(NodeCard(other.text)?.address.isEmpty == true)
    other.version = String(repeating: "v", count: 400)
    other.address = String(repeating: "a", count: 500)
    #expect(other.text.utf8.count <= CommitLogLimits.addressBytes)
    #expect(NodeCard(other.text)?.address.isEmpty == true)
    for (role, links) in [(NodeCard.Role.follower, 12), (.follower, nil), (.leader, 0)] {
      for address in ["10.0.0.1:9000", "", "a b"] {
        (other.role, other.links, other.address) = (role, links, address)
        #expect(NodeCard(other.text)?.role == role)
        #expect(NodeCard(other.text)?.links == links)
        #expect(NodeCard(other.text)?.address == address)
      }
    }
    other.address = String(repeating: "a", count: 470)
    #expect(other.text.utf8.count <= CommitLogLimits.addressBytes)
    #expect(NodeCard(other.text)?.links == 0)
    for text in ["", "1", "2 standby 1 x y", "1 king 1 x y", "1 standby x x y", "1 standby 1 x"] {
      #expect(NodeCard(text) == nil, "\(text)")
    }
  }

  @Test("cards of the first version are read, and nodes of that version read today's")
  func versions() {
    let old = NodeCard("1 standby 7 0.9 10.0.0.1:9000")
    #expect(
      old
        == NodeCard(
          role: .standby, position: LogPosition(7), version: "0.9", address: "10.0.0.1:9000"))
    #expect(old?.isFollowing == true)
    #expect(NodeCard("1 leader 7  ")?.address.isEmpty == true)
    // They read the part in the second word, and the address to the end.
    let new = NodeCard(
      role: .follower, position: LogPosition(7), version: "1.0", address: "10.0.0.1:9000", links: 3)
    #expect(new.text == "1 standby 7 1.0 10.0.0.1:9000 follower 3")
    #expect(
      NodeCard(role: .standby, position: .start, version: "", address: "").text == "1 standby 0  ")
  }

  @Test("a node whose server serves from its copy is a follower, with its links, and may lead next")
  func followers() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    first.ledger.tell { NodeService(isServing: true, links: 5) }
    second.ledger.tell { NodeService(isServing: true, links: 2) }
    await second.follow()
    for _ in 0..<2 {
      await second.announce()
      await first.announce()
    }
    let log = cluster.memory.node("operator")
    let view = try await ClusterView(of: ShardID(0), in: log)
    #expect(view.nodes.map(\.card.role) == [.leader, .follower])
    #expect(view.nodes.map(\.card.links) == [5, 2])
    try await view.askLeaderToStepDown(of: ShardID(0), in: log, as: "operator")
    await second.announce()
    await first.announce()
    #expect(!first.ledger.standing.isLeading)
    second.ledger.tell { NodeService(isServing: false, links: 0) }
    await second.announce()
    #expect(
      try await ClusterView(of: ShardID(0), in: log).nodes.map(\.card.role).last == .standby)
  }

  @Test("nodes are seen with their parts and places, and those that are silent are told apart")
  func view() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    try await first.commit([put("a", 1)])
    await second.follow()
    try await first.commit([put("a", 2)])
    await first.announce()
    await second.announce()
    let log = cluster.memory.node("operator")
    let before = try await ClusterView(of: ShardID(0), in: log)
    #expect(before.nodes.map(\.id) == ["node1", "node2"])
    #expect(before.nodes.map(\.card.role) == [.leader, .standby])
    #expect(before.nodes.map { before.lag(of: $0) } == [0, 1])
    #expect(before.nodes.map(\.card.address) == ["node1:9000", "node2:9000"])
    await first.announce()
    let after = try await ClusterView(of: ShardID(0), in: log)
    #expect(after.alive(since: before) == ["node1"])
  }

  @Test("a leader that is asked hands over at once, to a node that has everything")
  func stepDown() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    try await first.commit([put("a", 1, claim(1))])
    await second.follow()
    for _ in 0..<2 {
      await second.announce()
      await first.announce()
    }
    let log = cluster.memory.node("operator")
    let view = try await ClusterView(of: ShardID(0), in: log)
    try await view.askLeaderToStepDown(of: ShardID(0), in: log, as: "operator")
    await second.announce()
    await first.announce()
    #expect(!first.ledger.standing.isLeading)
    #expect(try await log.open(ShardID(0)).leader == nil)
    let before = cluster.clock.milliseconds
    // It leaves the lease to the other one, although it is the first to look.
    await first.follow()
    #expect(!first.ledger.isElected)
    try await second.lead()
    #expect(cluster.clock.milliseconds - before <= 1_000)
    #expect(try await second.commit([put("a", 1, claim(1))]) == [.duplicate(1, outcome: [1, 1])])
    // The request was for that term alone.
    await first.follow()
    await first.announce()
    await second.announce()
    #expect(second.ledger.standing.isLeading)
    #expect(try await log.leases(of: ShardID(0)).allSatisfy { NodeLease.node($0.name) != nil })
  }

  @Test("a leader without a successor that lives and is current goes on leading")
  func refused() async throws {
    let (first, second) = (cluster.node(), cluster.node())
    try await first.lead()
    await second.follow()
    let log = cluster.memory.node("operator")
    let view = try await ClusterView(of: ShardID(0), in: log)
    try await view.askLeaderToStepDown(of: ShardID(0), in: log, as: "operator")
    await first.announce()
    #expect(first.ledger.standing.isLeading, "there is no other node")
    // One that said something once, before the leader knew it, may be dead.
    await second.announce()
    await first.announce()
    #expect(first.ledger.standing.isLeading)
    try await ClusterView.withdrawRequest(of: ShardID(0), in: log, as: "operator")
    await second.announce()
    await first.announce()
    #expect(first.ledger.standing.isLeading, "the request was taken back")
    try await view.askLeaderToStepDown(of: ShardID(0), in: log, as: "another operator")
    await first.announce()
    #expect(!first.ledger.standing.isLeading)
  }

  @Test("what a node that is gone has said is removed, and a node that ends takes its words back")
  func removal() async throws {
    let (first, second, third) = (cluster.node(), cluster.node(), cluster.node())
    try await first.lead()
    for node in [second, third] {
      await node.follow()
      await node.announce()
    }
    await first.announce()
    let log = cluster.memory.node("operator")
    #expect(try await ClusterView(of: ShardID(0), in: log).nodes.count == 3)
    for _ in 0..<61 {
      cluster.clock.advance(by: .seconds(1))
      await third.announce()
      await first.follow()
      await first.announce()
    }
    #expect(try await ClusterView(of: ShardID(0), in: log).nodes.map(\.id) == ["node1", "node3"])
    await NodeDuties(ledger: third.ledger).withdraw()
    #expect(try await ClusterView(of: ShardID(0), in: log).nodes.map(\.id) == ["node1"])
  }
}
