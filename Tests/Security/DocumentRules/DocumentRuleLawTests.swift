import TernCore
import TernTestKit
import Testing

@testable import TernSecurity

/// Laws that conditions keep, whatever the values. Source: firestore reference, the rules of
/// documents.
@Suite("laws of rules for documents") struct DocumentRuleLawTests {
  private struct Values {
    var random: SeededGenerator

    mutating func pick(_ texts: [String]) -> String { texts[random.roll(texts.count)] }

    mutating func scalar() -> String {
      pick(["1", "2", "-3", "0", "2.5", "'a'", "'b'", "''", "true", "false", "null", "'é'", "1.0"])
    }

    mutating func list(_ most: Int = 5) -> String {
      "[" + (0..<random.roll(most)).map { _ in scalar() }.joined(separator: ", ") + "]"
    }

    mutating func map() -> String {
      var keys = ["a", "b", "c", "d"].shuffled(using: &random)
      keys.removeLast(random.roll(4))
      return "{" + keys.map { "'\($0)': \(scalar())" }.joined(separator: ", ") + "}"
    }

    mutating func text() -> String {
      "'" + (0..<random.roll(7)).map { _ in pick(["a", "b", ",", " ", "é", "B"]) }.joined() + "'"
    }

    mutating func whole() -> String { pick(["0", "1", "-1", "7", "-12", "100", "86400"]) }

    mutating func condition(_ depth: Int = 2) -> String {
      switch random.roll(depth > 0 ? 8 : 4) {
      case 0: "true"
      case 1: "false"
      case 2: "(1 / 0 == 1)"
      case 3: "(\(whole()) < \(whole()))"
      case 4: "(!\(condition(depth - 1)))"
      case 5: "(\(condition(depth - 1)) && \(condition(depth - 1)))"
      case 6: "(\(condition(depth - 1)) || \(condition(depth - 1)))"
      default: "(\(condition(depth - 1)) ? \(condition(depth - 1)) : \(condition(depth - 1)))"
      }
    }
  }

  private func holds(_ laws: [String], seed: UInt64) {
    for law in laws { #expect(RuleTable.outcome(of: law) == "T", "seed \(seed): \(law)") }
  }

  @Test("sets are sets", arguments: UInt64(1)...40)
  func sets(seed: UInt64) {
    var values = Values(random: SeededGenerator(seed: seed))
    let (a, b, c) = (
      "\(values.list()).toSet()", "\(values.list()).toSet()", "\(values.list()).toSet()"
    )
    let item = values.scalar()
    holds(
      [
        "\(a).union(\(b)) == \(b).union(\(a))",
        "\(a).intersection(\(b)) == \(b).intersection(\(a))",
        "\(a).union(\(b)).union(\(c)) == \(a).union(\(b).union(\(c)))",
        "\(a).difference(\(b)).union(\(a).intersection(\(b))) == \(a)",
        "\(a).difference(\(b)).intersection(\(b)).size() == 0",
        "\(a).union(\(b)).size() == \(a).size() + \(b).size() - \(a).intersection(\(b)).size()",
        "\(a).hasAll(\(b)) == (\(a).intersection(\(b)) == \(b))",
        "\(a).hasAny(\(b)) == (\(a).intersection(\(b)).size() > 0)",
        "\(a).hasOnly(\(b)) == \(b).hasAll(\(a))",
        "(\(item) in \(a).union(\(b))) == (\(item) in \(a) || \(item) in \(b))",
        "(\(item) in \(a).difference(\(b))) == (\(item) in \(a) && !(\(item) in \(b)))",
      ], seed: seed)
  }

  @Test("lists are lists", arguments: UInt64(1)...40)
  func lists(seed: UInt64) {
    var values = Values(random: SeededGenerator(seed: seed))
    let (a, b, item) = (values.list(), values.list(), values.scalar())
    holds(
      [
        "\(a).concat(\(b)).size() == \(a).size() + \(b).size()",
        "\(a).concat([]) == \(a)", "[].concat(\(a)) == \(a)",
        "(\(item) in \(a).concat(\(b))) == (\(item) in \(a) || \(item) in \(b))",
        "\(a).concat(\(b)).toSet() == \(a).toSet().union(\(b).toSet())",
        "\(a).removeAll(\(b)).hasAny(\(b)) == false",
        "\(a).removeAll(\(a)).size() == 0", "\(a).removeAll([]) == \(a)",
        "\(a).hasAll(\(b)) == \(a).toSet().hasAll(\(b).toSet())",
        "\(a).hasOnly(\(a)) && \(a).hasAll(\(a))",
        "\(a).concat(\(b))[0:\(a).size()] == \(a)",
      ].filter { !$0.contains("[0:[].size()]") }, seed: seed)
  }

  @Test("maps and their differences", arguments: UInt64(1)...40)
  func maps(seed: UInt64) {
    var values = Values(random: SeededGenerator(seed: seed))
    let (a, b) = (values.map(), values.map())
    let forward = "\(a).diff(\(b))"
    holds(
      [
        "\(a).keys().size() == \(a).size()", "\(a).values().size() == \(a).size()",
        "\(forward).affectedKeys() == \(b).diff(\(a)).affectedKeys()",
        "\(forward).addedKeys() == \(b).diff(\(a)).removedKeys()",
        "\(forward).changedKeys() == \(b).diff(\(a)).changedKeys()",
        "\(forward).unchangedKeys() == \(b).diff(\(a)).unchangedKeys()",
        "\(forward).affectedKeys() == \(forward).addedKeys().union(\(forward).removedKeys())"
          + ".union(\(forward).changedKeys())",
        "\(forward).affectedKeys().intersection(\(forward).unchangedKeys()).size() == 0",
        "\(forward).affectedKeys().union(\(forward).unchangedKeys())"
          + " == \(a).keys().toSet().union(\(b).keys().toSet())",
        "\(a).diff(\(a)).affectedKeys().size() == 0",
        "(\(forward).affectedKeys().size() == 0) == (\(a) == \(b))",
        "\(a).get('a', 'none') == ('a' in \(a) ? \(a)['a'] : 'none')",
      ], seed: seed)
  }

  @Test("texts are texts", arguments: UInt64(1)...40)
  func texts(seed: UInt64) {
    var values = Values(random: SeededGenerator(seed: seed))
    let (a, b) = (values.text(), values.text())
    holds(
      [
        "(\(a) + \(b)).size() == \(a).size() + \(b).size()",
        "(\(a) + \(b))[0:\(a).size()] == \(a)",
        "\(a).lower() == \(a).upper().lower()", "\(a).lower().lower() == \(a).lower()",
        "\(a).trim().trim() == \(a).trim()",
        "\(a).replace('z', 'y') == \(a)", "\(a).replace('a', 'b').matches('.*a.*') == false",
        "\(a).toUtf8().size() >= \(a).size()", "(\(a) == \(b)) == (\(a).toUtf8() == \(b).toUtf8())",
        "(\(a) < \(b)) == (\(b) > \(a))", "(\(a) <= \(b)) == !(\(b) < \(a))",
        "\(a).toUtf8().toBase64().size() >= \(a).size()",
        "hashing.md5(\(a)) == hashing.md5(\(a).toUtf8())",
      ].filter { !$0.contains("[0:''.size()]") }, seed: seed)
  }

  @Test("times and durations", arguments: UInt64(1)...40)
  func times(seed: UInt64) {
    var values = Values(random: SeededGenerator(seed: seed))
    let (a, b) = (values.whole(), values.whole())
    let (first, second) = ("duration.value(\(a), 's')", "duration.value(\(b), 's')")
    let time = "timestamp.value(1790000000123)"
    holds(
      [
        "\(first) + \(second) == \(second) + \(first)",
        "\(first) + \(second) - \(second) == \(first)",
        "\(first).seconds() == \(a)",
        "\(time) + \(first) - \(first) == \(time)", "(\(time) + \(first)) - \(time) == \(first)",
        "(\(time) + \(first)).toMillis() == \(time).toMillis() + 1000 * (\(a))",
        "timestamp.value(\(time).toMillis()) == \(time)",
        "timestamp.date(\(time).year(), \(time).month(), \(time).day()) == \(time).date()",
        "\(time).date() + \(time).time() == \(time)",
        "(\(first) < \(second)) == (\(a) < \(b))",
        "(\(time) + \(first) < \(time) + \(second)) == (\(a) < \(b))",
      ], seed: seed)
  }

  @Test("logic with errors", arguments: UInt64(1)...80)
  func logic(seed: UInt64) {
    var values = Values(random: SeededGenerator(seed: seed))
    let (a, b, c) = (values.condition(), values.condition(), values.condition())
    for (one, other) in [
      (a, "(!(!\(a)))"), ("!(\(a) && \(b))", "(!\(a) || !\(b))"),
      ("!(\(a) || \(b))", "(!\(a) && !\(b))"), ("\(a) && \(a)", a), ("\(a) || \(a)", a),
      ("(\(a) && \(b)) && \(c)", "\(a) && (\(b) && \(c))"),
      ("(\(a) || \(b)) || \(c)", "\(a) || (\(b) || \(c))"), ("\(a) && true", a),
      ("\(a) || false", a),
      ("\(a) && false", "false"), ("\(a) || true", "true"),
      ("\(a) && \(b)", "\(b) && \(a)"), ("\(a) || \(b)", "\(b) || \(a)"),
      ("true ? \(a) : \(b)", a), ("false ? \(a) : \(b)", b),
    ] {
      #expect(
        RuleTable.outcome(of: one) == RuleTable.outcome(of: other),
        "seed \(seed): \(one) and \(other)")
    }
  }

  @Test("whole numbers divide as the language says", arguments: [-13, -7, -1, 0, 1, 6, 7, 100])
  func division(number: Int) {
    for divisor in [-7, -2, -1, 1, 2, 7] {
      holds(
        [
          "(\(number)) / (\(divisor)) * (\(divisor)) + (\(number)) % (\(divisor)) == (\(number))",
          "(\(number)) % (\(divisor)) == (\(number % divisor))",
          "(\(number)) / (\(divisor)) == (\(number / divisor))",
        ], seed: 0)
    }
    for operation in ["/", "%"] {
      #expect(RuleTable.outcome(of: "(\(number)) \(operation) 0 == 1") == "E")
    }
  }
}
