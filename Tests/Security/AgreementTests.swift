import Foundation
import TernCore
import TernSecurity
import Testing

/// The evaluator against the naive one, on random rules, trees and requests.
@Suite("Agreement with the naive evaluator")
struct AgreementTests {
  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["TERN_SEED"].flatMap(UInt64.init).map { [$0] } ?? [
      1, 2, 3, 4,
    ]

  /// Judged states per seed; a file of about four rules is judged on four states.
  private static let states = 25_000

  @Test("one hundred thousand states get the same verdict", arguments: seeds)
  func agreement(seed: UInt64) throws {
    var generator = NaiveGenerator(seed: seed)
    var tally = Tally()
    while tally.states < Self.states {
      let naive = NaiveRules.random(&generator)
      let text = naive.text(&generator.random)
      let rules = try? TreeRules(text)
      guard (rules != nil) == naive.isAcceptable else {
        Issue.record("seed \(seed): accepted \(rules != nil), expected otherwise:\n\(text)")
        return
      }
      tally.refused += rules == nil ? 1 : 0
      guard let rules else { continue }
      tally.rules += rules.count
      tally.vocabulary.merge(naive.vocabulary) { $0 + $1 }
      for _ in 0..<4 {
        tally.states += 1
        guard try agree(rules, naive, &generator, &tally) else {
          Issue.record("seed \(seed), state \(tally.states): different verdicts:\n\(text)")
          return
        }
      }
    }
    print(
      "agreement, seed \(seed): \(tally.states) states, \(tally.rules) rules,"
        + " \(tally.refused) files refused, \(tally.granted) requests granted")
    for word in NaiveVocabulary.all {
      #expect(tally.vocabulary[word, default: 0] >= 25, "\(word) is hardly ever used")
    }
    #expect(tally.queries > tally.states / 20)
    #expect(tally.granted > tally.states / 10 && tally.granted < tally.states * 9 / 10)
  }

  private func agree(
    _ rules: TreeRules, _ naive: NaiveRules, _ generator: inout NaiveGenerator,
    _ tally: inout Tally
  ) throws -> Bool {
    let before = generator.node(depth: 3)
    let auth = generator.auth()
    let caller = RulesCaller(auth: auth, now: 1_000)
    let path = generator.path(4)
    if generator.chance(40) {
      let (query, naiveQuery) = generator.query()
      tally.queries += naiveQuery.members.count > 1 ? 1 : 0
      let found = try rules.read(
        path, query: query, by: caller, in: TreeNodeSnapshot(before)
      ).isAllowed
      tally.granted += found ? 1 : 0
      return found == naive.read(path.keys.map(\.text), naiveQuery, auth: auth, tree: before)
    }
    var writes = [(path, generator.node(depth: 2))]
    if generator.chance(30) {
      let other = generator.path(4)
      if !other.contains(path), !path.contains(other) {
        writes.append((other, generator.node(depth: 2)))
      }
    }
    let after = writes.reduce(before) { $0.setting($1.1, at: $1.0) }
    let verdict = try rules.write(
      writes.map(\.0), by: caller, from: TreeNodeSnapshot(before), to: TreeNodeSnapshot(after))
    tally.granted += verdict.isAllowed ? 1 : 0
    if generator.chance(5) {
      let explained = try rules.explainWrite(
        writes.map(\.0), by: caller, from: TreeNodeSnapshot(before), to: TreeNodeSnapshot(after))
      #expect(explained.verdict == verdict)
    }
    let paths = writes.map { $0.0.keys.map(\.text) }
    return verdict.isAllowed == naive.write(paths, auth: auth, from: before, to: after)
  }

  private struct Tally {
    var states = 0
    var rules = 0
    var refused = 0
    var granted = 0
    /// Reads with a query.
    var queries = 0
    /// The parts that the rules were made of.
    var vocabulary: [String: Int] = [:]
  }
}
