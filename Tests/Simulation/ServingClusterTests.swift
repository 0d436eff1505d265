import TernSimulation
import Testing

/// The same as ``ClusterConvergenceTests`` for nodes that all serve clients: those that follow
/// answer from their copies, and pass on what only the leader decides.
@Suite struct ServingClusterTests {
  private static let steps = 2_500
  /// Nodes whose clocks are years apart judge tokens apart, which is no fault of theirs.
  private static let faults = Set(Fault.allCases).subtracting([.wrongClock, .clockJump])

  private static func play(
    seed: UInt64, steps: Int = steps, faults: Set<Fault> = faults,
    clusterFaults: Set<ClusterFault> = Set(ClusterFault.allCases), shards: Int = 1
  ) -> SimulatedWorld {
    let world = SimulatedWorld(
      seed: seed, clients: 2, documentClients: 1, faults: faults, nodes: shards == 1 ? 3 : 4,
      clusterFaults: clusterFaults, serves: true, shards: shards)
    world.run(steps: steps)
    world.heal()
    return world
  }

  @Test("what must always hold holds at whichever node a client is", arguments: UInt64(1)...14)
  func everySchedule(seed: UInt64) throws {
    let world = Self.play(seed: seed)
    let found = world.disagreements
    #expect(
      found.isEmpty,
      "replay: tern-simulate --clients 2 --documents 1 --nodes 3 --serve --seed \(seed) --steps \(Self.steps)\n\(found)"
    )
    let summary = try #require(world.clusterSummary)
    #expect(summary.terms > 1 && summary.batches > 10 && summary.relays > 1, "\(summary)")
  }

  @Test("nodes without faults serve with one leader and no failure", arguments: UInt64(1)...3)
  func calm(seed: UInt64) throws {
    let world = Self.play(seed: seed, steps: 1_000, faults: [], clusterFaults: [])
    #expect(world.disagreements.isEmpty, "\(world.disagreements)")
    let summary = try #require(world.clusterSummary)
    #expect(summary.terms == 1 && summary.failures == 0 && summary.kills == 0, "\(summary)")
    #expect(summary.followings >= 2 && summary.relays > 0, "\(summary)")
  }

  @Test("one seed gives one trace", arguments: [UInt64(3), 14, 159])
  func deterministic(seed: UInt64) {
    let worlds = (1...2).map { _ in Self.play(seed: seed, steps: 800) }
    #expect(worlds[0].trace.hash == worlds[1].trace.hash)
    #expect(worlds[0].clusterSummary == worlds[1].clusterSummary)
  }

  @Test("what must always hold holds for each of two shards", arguments: UInt64(1)...8)
  func twoShards(seed: UInt64) throws {
    let world = Self.play(seed: seed, shards: 2)
    let found = world.disagreements
    #expect(
      found.isEmpty,
      "replay: tern-simulate --clients 2 --documents 1 --nodes 4 --shards 2 --serve --seed \(seed) --steps \(Self.steps)\n\(found)"
    )
    let summary = try #require(world.clusterSummary)
    #expect(summary.terms > 2 && summary.batches > 10 && summary.relays > 1, "\(summary)")
  }
}
