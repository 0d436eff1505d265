import TernSimulation
import Testing

/// The same as ``ConvergenceTests`` for clients of documents.
@Suite struct DocumentConvergenceTests {
  /// As in ``ConvergenceTests``.
  private static let steps = 1_000

  private func play(
    seed: UInt64, steps: Int, trees: Int = 0, faults: Set<Fault>, changesRules: Bool = false
  ) -> SimulatedWorld {
    let world = SimulatedWorld(
      seed: seed, clients: trees, documentClients: 3, faults: faults, changesRules: changesRules)
    world.run(steps: steps)
    world.heal()
    return world
  }

  @Test("what must always hold of documents holds at every step", arguments: UInt64(1)...20)
  func everySchedule(seed: UInt64) {
    let found = play(seed: seed, steps: Self.steps, faults: Set(Fault.allCases)).disagreements
    #expect(
      found.isEmpty,
      "replay: tern-simulate --clients 0 --documents 3 --seed \(seed) --steps \(Self.steps)\n\(found)"
    )
  }

  @Test(
    "what must always hold holds under rules that change, with tokens that are revoked",
    arguments: UInt64(1)...10)
  func everyRule(seed: UInt64) {
    let found = play(
      seed: seed, steps: Self.steps, faults: Set(Fault.allCases), changesRules: true
    ).disagreements
    #expect(
      found.isEmpty,
      "replay: tern-simulate --clients 0 --documents 3 --rules --seed \(seed) --steps \(Self.steps)\n\(found)"
    )
  }

  @Test("without faults nothing ever disagrees under rules that change", arguments: UInt64(1)...5)
  func calmRules(seed: UInt64) {
    let found = play(seed: seed, steps: 800, faults: [], changesRules: true).disagreements
    #expect(
      found.isEmpty, "replay: tern-simulate --documents 3 --rules --seed \(seed) --faults none")
  }

  @Test("clients of both models share one server", arguments: UInt64(1)...5)
  func together(seed: UInt64) {
    let world = play(seed: seed, steps: Self.steps, trees: 2, faults: Set(Fault.allCases))
    let found = world.disagreements
    #expect(
      found.isEmpty,
      "replay: tern-simulate --clients 2 --documents 3 --seed \(seed) --steps \(Self.steps)\n\(found)"
    )
  }

  @Test("without faults nothing ever disagrees", arguments: UInt64(1)...10)
  func calm(seed: UInt64) {
    let found = play(seed: seed, steps: 500, faults: []).disagreements
    #expect(found.isEmpty, "replay: tern-simulate --documents 3 --seed \(seed) --faults none")
  }

  @Test("a server that does not judge listens again is found out")
  func forgottenDependencies() {
    #expect(isFound(.forgetsDependencies, words: "may not"))
  }

  @Test("a server whose rules do not see what a commit would make is found out")
  func formerDocuments() {
    #expect(isFound(.judgesByFormerDocuments, words: "for no reason"))
  }

  /// Returns true when a planted bug is found in one of the first worlds.
  private func isFound(_ bug: PlantedBug, words: String) -> Bool {
    (UInt64(1)...10).contains { seed in
      let world = SimulatedWorld(
        seed: seed, clients: 0, documentClients: 3, faults: [], changesRules: true, bug: bug)
      world.run(steps: 2_000)
      world.heal()
      return world.disagreements.contains { $0.contains(words) }
    }
  }

  /// Found by this seed: a snapshot between the request and the answer showed old documents as
  /// certain.
  @Test("a listener is not current while its target is asked for again")
  func askedAgain() {
    let found = play(seed: 122, steps: 3_100, faults: Set(Fault.allCases)).disagreements
    #expect(
      found.isEmpty,
      "replay: tern-simulate --clients 0 --documents 3 --seed 122 --steps 3100\n\(found)")
  }

  @Test("one seed gives one trace", arguments: [UInt64(3), 14, 159], [false, true])
  func deterministic(seed: UInt64, changesRules: Bool) {
    let hashes = (1...2).map { _ in
      play(
        seed: seed, steps: 800, faults: Set(Fault.allCases), changesRules: changesRules
      ).trace.hash
    }
    #expect(hashes[0] == hashes[1])
  }
}
