import TernSimulation
import Testing

@Suite struct ConvergenceTests {
  @Test("what must always hold holds at every step of every schedule", arguments: UInt64(1)...200)
  func everySchedule(seed: UInt64) {
    if Self.open.contains(where: { $0.seed == seed && $0.steps == 600 }) { return }
    let found = disagreements(of: seed, steps: 600)
    #expect(found.isEmpty, "replay: tern-simulate --seed \(seed) --steps 600\n\(found)")
  }

  /// Longer schedules that still break a promise; each is to be understood, mended and moved above.
  private static let open: [(seed: UInt64, steps: Int, what: String)] = [
    (28, 600, "a listener misses what another session's end has written"),
    (23, 1_000, "a listener of a place sees a state that the server never had"),
    (43, 1_000, "a write left for the end of a session comes after its successor's first write"),
  ]

  @Test("schedules known to break a promise still do", arguments: open.map(\.seed))
  func openSchedule(seed: UInt64) {
    for schedule in Self.open where schedule.seed == seed {
      withKnownIssue(Comment(rawValue: schedule.what)) {
        #expect(disagreements(of: seed, steps: schedule.steps).isEmpty)
      }
    }
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

  private func disagreements(of seed: UInt64, steps: Int) -> [String] {
    let world = World(seed: seed, clients: 3, faults: Set(Fault.allCases))
    world.run(steps: steps)
    world.heal()
    return world.disagreements
  }
}
