import TernSharedLedger
import TernSimulation
import Testing

/// Worlds of clusters whose nodes break one rule: a world that would not notice proves nothing.
/// Worlds of nodes alone, which are cheaper and harsher, try every fault.
@Suite("Planted faults of nodes") struct PlantedFaultTests {
  static let seeds = UInt64(1)...40
  /// The faults that show in what clients see, with whole servers in between.
  static let faults: [PlantedFault] = [
    .appliesBeforeAppending, .answersWithoutApplying, .forgetsWriters, .forgetsRemovals,
  ]

  @Test("a world of a cluster notices a node that breaks a rule", arguments: faults)
  func isNoticed(fault: PlantedFault) {
    for seed in Self.seeds {
      let world = SimulatedWorld(
        seed: seed, clients: 2, documentClients: 1, faults: Set(Fault.allCases), nodes: 3,
        plantedFault: fault)
      world.run(steps: 2_000)
      world.heal()
      if !world.disagreements.isEmpty { return }
    }
    Issue.record("\(fault) was not noticed within \(Self.seeds.count) seeds")
  }
}
