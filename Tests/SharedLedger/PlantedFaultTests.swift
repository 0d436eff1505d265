import Testing

@testable import TernSharedLedger

/// Worlds of nodes that break one rule: a world that would not notice proves nothing.
@Suite("Planted faults of nodes")
struct PlantedFaultTests {
  /// `TERN_FAULT_SEEDS=1-200` plays them all, and prints how many notice each fault.
  private static let seeds = WorldSeeds.named("TERN_FAULT_SEEDS")

  @Test("a world notices a node that breaks a rule", arguments: PlantedFault.allCases)
  func isNoticed(fault: PlantedFault) async {
    var found: [UInt64: String] = [:]
    for seed in Self.seeds ?? 1...200 {
      let world = ClusterWorld(seed: seed, plantedFault: fault)
      found[seed] = await world.play(steps: WorldSeeds.steps).violations.first
      if Self.seeds == nil, !found.isEmpty { return }
    }
    #expect(!found.isEmpty, "\(fault) was not noticed")
    print("\(fault): \(found.count), seeds \(found.keys.sorted().prefix(8))")
    for (seed, words) in found.sorted(by: { $0.key < $1.key }).prefix(4) {
      print("  \(seed): \(words)")
    }
  }
}
