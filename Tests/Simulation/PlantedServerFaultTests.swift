import TernServer
import TernSimulation
import Testing

/// Worlds of clusters whose servers break one rule of nodes that follow, or of several shards.
@Suite("Planted faults of servers of nodes") struct PlantedServerFaultTests {
  static let seeds = UInt64(1)...200
  static let steps = 2_500

  private static func notices(
    _ fault: PlantedServerFault? = nil, bug: PlantedBug? = nil, shards: Int = 1
  ) -> Bool {
    seeds.contains { seed in
      let world = SimulatedWorld(
        seed: seed, clients: 2, documentClients: 1,
        faults: Set(Fault.allCases).subtracting([.wrongClock, .clockJump]),
        nodes: shards == 1 ? 3 : 4, serves: true, shards: shards, bug: bug, serverFault: fault)
      world.run(steps: steps)
      world.heal()
      return !world.disagreements.isEmpty
    }
  }

  @Test("a world notices a server that breaks a rule", arguments: PlantedServerFault.allCases)
  func isNoticed(fault: PlantedServerFault) {
    let isNoticed = Self.notices(fault, shards: fault == .decidesForOtherShards ? 2 : 1)
    #expect(isNoticed, "not within \(Self.seeds.count) seeds")
  }

  @Test(
    "a world notices nodes that send a write twice, and nodes that ask no rules",
    arguments: [PlantedBug.repeatsRelayedWrites, .readsWithoutRules])
  func isNoticed(bug: PlantedBug) {
    #expect(Self.notices(bug: bug), "not within \(Self.seeds.count) seeds")
  }
}
