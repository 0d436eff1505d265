import TernSimulation
import Testing

@Suite struct ConvergenceTests {
  /// A taste of every schedule, with the checks of a debug build; `Tools/worlds` plays more of them,
  /// and longer.
  private static let steps = 2_500

  @Test("what must always hold holds at every step of every schedule", arguments: UInt64(1)...40)
  func everySchedule(seed: UInt64) {
    let world = World(seed: seed, clients: 3, faults: Set(Fault.allCases))
    world.run(steps: Self.steps)
    world.heal()
    let found = world.disagreements
    #expect(found.isEmpty, "replay: tern-simulate --seed \(seed) --steps \(Self.steps)\n\(found)")
  }

  @Test("without faults nothing ever disagrees", arguments: UInt64(1)...20)
  func calm(seed: UInt64) {
    let world = World(seed: seed, clients: 3, faults: [])
    world.run(steps: 500)
    world.heal()
    #expect(world.disagreements.isEmpty, "replay: tern-simulate --seed \(seed) --faults none")
  }

  @Test("one seed gives one trace", arguments: [UInt64(3), 14, 159])
  func deterministic(seed: UInt64) {
    let hashes = (1...2).map { _ in
      let world = World(seed: seed, clients: 3, faults: Set(Fault.allCases))
      world.run(steps: 500)
      world.heal()
      return world.trace.hash
    }
    #expect(hashes[0] == hashes[1])
  }
}
