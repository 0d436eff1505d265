import TernSimulation
import Testing

@Suite struct ConvergenceTests {
  /// A taste of every schedule, with the checks of a debug build; `Tools/worlds` plays more of
  /// them, and longer.
  private static let steps = 2_500

  @Test("what must always hold holds at every step of every schedule", arguments: UInt64(1)...40)
  func everySchedule(seed: UInt64) {
    let world = SimulatedWorld(seed: seed, clients: 3, faults: Set(Fault.allCases))
    world.run(steps: Self.steps)
    world.heal()
    let found = world.disagreements
    #expect(found.isEmpty, "replay: tern-simulate --seed \(seed) --steps \(Self.steps)\n\(found)")
  }

  @Test("without faults nothing ever disagrees", arguments: UInt64(1)...20)
  func calm(seed: UInt64) {
    let world = SimulatedWorld(seed: seed, clients: 3, faults: [])
    world.run(steps: 500)
    world.heal()
    #expect(world.disagreements.isEmpty, "replay: tern-simulate --seed \(seed) --faults none")
  }

  @Test("one seed gives one trace", arguments: [UInt64(3), 14, 159])
  func deterministic(seed: UInt64) {
    let hashes = (1...2).map { _ in
      let world = SimulatedWorld(seed: seed, clients: 3, faults: Set(Fault.allCases))
      world.run(steps: 500)
      world.heal()
      return world.trace.hash
    }
    #expect(hashes[0] == hashes[1])
  }

  @Test(
    "clocks that are wrong at every start forget no writer and double no write",
    arguments: UInt64(1)...10)
  func wrongClocks(seed: UInt64) {
    let world = Self.world(of: seed, faults: [.wrongClock, .serverCrash, .droppedLink])
    #expect(world.disagreements.isEmpty)
  }

  @Test("a server that forgets writers by the time of day is found out")
  func forgetfulServer() {
    #expect(Self.isFound(.forgetsWritersByTimeOfDay, words: "forgotten"))
  }

  @Test("a log that is cut before it was replayed is found out")
  func shortLog() {
    #expect(Self.isFound(.cutsLogTooEarly, words: "are gone"))
  }

  private static func world(
    of seed: UInt64, faults: Set<Fault>, bug: PlantedBug? = nil
  ) -> SimulatedWorld {
    let world = SimulatedWorld(
      seed: seed, clients: 2, documentClients: 2, faults: faults, bug: bug)
    world.run(steps: 1_000)
    world.heal()
    return world
  }

  /// Returns true when a planted bug is found in one of the first worlds.
  private static func isFound(_ bug: PlantedBug, words: String) -> Bool {
    (UInt64(1)...5).contains { seed in
      let found = world(of: seed, faults: [.wrongClock, .serverCrash, .droppedLink], bug: bug)
      return found.disagreements.contains { $0.contains(words) }
    }
  }
}
