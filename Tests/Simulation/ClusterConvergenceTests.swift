import TernSimulation
import Testing

/// The same as ``ConvergenceTests`` for servers over a shared log.
@Suite struct ClusterConvergenceTests {
  /// As in ``ConvergenceTests``.
  private static let steps = 2_500

  private static func play(
    seed: UInt64, steps: Int = steps, faults: Set<Fault> = Set(Fault.allCases),
    clusterFaults: Set<ClusterFault> = Set(ClusterFault.allCases)
  ) -> SimulatedWorld {
    let world = SimulatedWorld(
      seed: seed, clients: 2, documentClients: 1, faults: faults, nodes: 3,
      clusterFaults: clusterFaults)
    world.run(steps: steps)
    world.heal()
    return world
  }

  @Test("what must always hold holds whichever node leads", arguments: UInt64(1)...30)
  func everySchedule(seed: UInt64) throws {
    let world = Self.play(seed: seed)
    let found = world.disagreements
    #expect(
      found.isEmpty,
      "replay: tern-simulate --clients 2 --documents 1 --nodes 3 --seed \(seed) --steps \(Self.steps)\n\(found)"
    )
    // A world in which nothing happens proves nothing.
    let summary = try #require(world.clusterSummary)
    #expect(summary.terms > 1 && summary.batches > 10 && summary.comparisons > 10, "\(summary)")
  }

  @Test("a cluster without faults has one leader and no failure", arguments: UInt64(1)...5)
  func calm(seed: UInt64) throws {
    let world = Self.play(seed: seed, steps: 1_000, faults: [], clusterFaults: [])
    #expect(world.disagreements.isEmpty, "\(world.disagreements)")
    let summary = try #require(world.clusterSummary)
    #expect(summary.terms == 1 && summary.failures == 0 && summary.kills == 0, "\(summary)")
  }

  @Test("one seed gives one trace", arguments: [UInt64(3), 14, 159])
  func deterministic(seed: UInt64) {
    let worlds = (1...2).map { _ in Self.play(seed: seed, steps: 800) }
    #expect(worlds[0].trace.hash == worlds[1].trace.hash)
    #expect(worlds[0].clusterSummary == worlds[1].clusterSummary)
  }
}
