import TernCore
import Testing

@testable import TernSecurity

@Suite("Operators of rules for documents")
struct DocumentRuleOperatorTests {
  @Test func equality() {
    RuleTable(
      """
      T 1 == 1
      F 1 == 2
      T 1 == 1.0
      T 1.0 == 1
      F 1 == 1.5
      F 9007199254740993 == 9007199254740992.0
      T 9007199254740992 == 9007199254740992.0
      T 'a' == 'a'
      F 'a' == 'A'
      F '\\u00e9' == 'e\\u0301'
      T "a" == 'a'
      T true == true
      F true == false
      T null == null
      F null == false
      F null == 0
      F 1 == '1'
      F true == 1
      F 'true' == true
      T [1, 2] == [1, 2]
      F [1, 2] == [2, 1]
      F [1] == [1.0]
      T {'a': 1, 'b': 2} == {'b': 2, 'a': 1}
      F {'a': 1} == {'a': 1.0}
      F {'a': 1} == {'a': 1, 'b': 2}
      T {'a': [1, {'b': null}]} == {'a': [1, {'b': null}]}
      T [1, 2].toSet() == [2, 1, 2].toSet()
      F [1, 2].toSet() == [1, 2]
      T /a/b == path('a/b')
      F /a/b == /a/c
      F /a/b == '/a/b'
      T 'ab'.toUtf8() == 'ab'.toUtf8()
      F 'ab'.toUtf8() == 'ab'
      T timestamp.value(0) == timestamp.date(1970, 1, 1)
      F timestamp.value(0) == duration.value(0, 's')
      T duration.value(60, 's') == duration.value(1, 'm')
      T latlng.value(1, 2) == latlng.value(1.0, 2.0)
      F latlng.value(1, 2) == latlng.value(2, 1)
      F math.sqrt(-1) == math.sqrt(-1)
      T math.sqrt(-1) != math.sqrt(-1)
      T 1 != 2
      F 1 != 1.0
      T 1 != '1'
      T null != 1
      E nosuch == 1
      E 1 == nosuch
      E {'a': 1}.b == null
      T 0.0 == -0.0
      T {'a': 1}.diff({}) == {'a': 2}.diff({})
      """)
  }

  @Test("containers that are equal hash alike, and different ones differ")
  func hashing() {
    func map(_ entries: [(String, DocumentRuleValue)]) -> DocumentRuleValue {
      .map(DocumentRuleMap(entries))
    }
    let stored: DocumentMap = ["a": 1, "b": .double(.nan)]
    let made = map([("b", .float(.nan)), ("a", .int(1))])
    #expect(made == .map(DocumentRuleMap(stored)))
    #expect(made.hashValue == DocumentRuleValue.map(DocumentRuleMap(stored)).hashValue)
    #expect(made.hashValue != map([("b", .float(.nan)), ("a", .int(2))]).hashValue)
    let zeros = (map([("a", .float(0))]), map([("a", .float(-0.0))]))
    #expect(zeros.0 == zeros.1)
    #expect(zeros.0.hashValue == zeros.1.hashValue)
    #expect(map([("a", .int(1))]) != map([("a", .float(1))]))
    let ascending = DocumentRuleValue.set(DocumentRuleSet([.int(1), .int(2), .null]))
    let descending = DocumentRuleValue.set(DocumentRuleSet([.null, .int(2), .int(1)]))
    #expect(ascending == descending)
    #expect(ascending.hashValue == descending.hashValue)
  }

  @Test("sets of maps of one size take linear time")
  func setsOfMaps() {
    let maps = (0..<100_000).map { number in
      DocumentRuleValue.map(DocumentRuleMap([("a", .int(Int64(number)))]))
    }
    let set = DocumentRuleSet(maps + maps)
    #expect(set.count == maps.count)
    #expect(set.contains(.map(DocumentRuleMap(["a": 99_999] as DocumentMap))))
    let sets = DocumentRuleSet(
      (0..<100_000).map { number in
        DocumentRuleValue.set(DocumentRuleSet([.int(Int64(number)), .null]))
      })
    #expect(sets.count == 100_000)
  }

  @Test func order() {
    RuleTable(
      """
      T 1 < 2
      F 2 < 1
      T 1 <= 1
      T 1 < 1.5
      T 1.5 > 1
      F 1.5 < 1
      T 2 >= 2.0
      T 9007199254740993 > 9007199254740992.0
      T 9223372036854775807 < 1e19
      T -9223372036854775808 > -1e19
      T 'a' < 'b'
      T 'B' < 'a'
      T 'a' < 'ab'
      T '\\uFFFF' < '\\uD83D\\uDE00'
      F 'b' <= 'a'
      T 'a'.toUtf8() <= 'a'.toUtf8()
      T 'b'.toUtf8() > 'a'.toUtf8()
      T duration.value(1, 'ms') < duration.value(1, 's')
      T duration.value(-1, 's') < duration.value(0, 's')
      T timestamp.value(1) > timestamp.value(0)
      F timestamp.value(0) >= timestamp.value(1)
      F math.sqrt(-1) < 1
      F math.sqrt(-1) >= 1
      F 1 <= math.sqrt(-1)
      E true < false
      E [1] < [2]
      E {'a': 1} < {'a': 2}
      E null < 1
      E 1 > null
      E null <= null
      E 1 < '2'
      E 'a' > 1
      E /a < /b
      E latlng.value(1, 1) < latlng.value(2, 2)
      E timestamp.value(0) < duration.value(1, 's')
      E [1].toSet() <= [1].toSet()
      """)
  }

  @Test func arithmetic() {
    RuleTable(
      """
      T 1 + 2 == 3
      T 1 + 2 is int
      T 1 + 2.0 is float
      T 1.5 + 1.5 == 3
      T 'a' + 'b' == 'ab'
      T 7 - 10 == -3
      T 7 - 0.5 == 6.5
      T 6 * 7 == 42
      T 6 * 0.5 == 3
      T 7 / 2 == 3
      T -7 / 2 == -3
      T 7.0 / 2 == 3.5
      T 7 / 2.0 == 3.5
      T 7 % 3 == 1
      T -7 % 3 == -1
      T 7 % -3 == 1
      T 7.5 % 2 == 1.5
      T 2 + 3 * 4 == 14
      T (2 + 3) * 4 == 20
      T 10 - 3 - 2 == 5
      T 100 / 10 / 5 == 2
      T -9223372036854775808 < 0
      T -9223372036854775808 == -9223372036854775807 - 1
      C 9223372036854775808 > 0
      E 9223372036854775807 + 1 == 0
      E -9223372036854775808 - 1 == 0
      E 9223372036854775807 * 2 == 0
      E -9223372036854775808 / -1 == 0
      E -(-9223372036854775808) == 0
      E 1 / 0 == 0
      E 1 % 0 == 0
      T 1.0 / 0 > 1e308
      T -1.0 / 0.0 < -1e308
      F 0.0 / 0.0 == 0.0 / 0.0
      E 1 + 'a' == '1a'
      E 'a' + 1 == 'a1'
      E 'a' - 'a' == ''
      E 'a' * 2 == 'aa'
      E 1 + null == 1
      E true + 1 == 2
      E [1] + [2] == [1, 2]
      E /a + /b == /a/b
      E {'a': 1} + {'b': 2} == {'a': 1, 'b': 2}
      E 'a'.toUtf8() + 'b'.toUtf8() == 'ab'.toUtf8()
      T timestamp.value(0) + duration.value(1, 's') == timestamp.value(1000)
      T duration.value(1, 's') + timestamp.value(0) == timestamp.value(1000)
      T timestamp.value(1000) - duration.value(1, 's') == timestamp.value(0)
      T timestamp.value(1000) - timestamp.value(0) == duration.value(1, 's')
      T duration.value(1, 's') - duration.value(1, 'ms') == duration.value(999, 'ms')
      E duration.value(1, 's') - timestamp.value(0) == duration.value(1, 's')
      E timestamp.value(0) + timestamp.value(0) == timestamp.value(0)
      E duration.value(1, 's') * 2 == duration.value(2, 's')
      E timestamp.date(9999, 12, 31) + duration.value(2, 'd') > timestamp.value(0)
      T -(1) == -1
      T --1 == 1
      T -1.5 == 0 - 1.5
      E -'a' == 'a'
      E -null == 0
      T 1e3 == 1000
      T 1.5e2 == 150
      T 2e-1 == 0.2
      """)
  }

  @Test func logic() {
    RuleTable(
      """
      T true && true
      F true && false
      F false && true
      T true || false
      T false || true
      F false || false
      F false && nosuch
      F nosuch && false
      F null && false
      T true || nosuch
      T nosuch || true
      T 1 || true
      E true && nosuch
      E nosuch && true
      E false || nosuch
      E nosuch || false
      E nosuch && nosuch
      E true && null
      E null && null
      E false || 1
      E 'a' && true
      F nosuch && true && false
      T nosuch || false || true
      T false && nosuch || true
      F false || nosuch && false
      T !false
      F !true
      T !!true
      E !1
      E !null
      E !'a'
      E !nosuch
      T !(nosuch && false)
      T true ? true : nosuch
      T false ? nosuch : true
      E nosuch ? true : true
      E null ? true : true
      E 1 ? true : false
      T false ? false : false ? false : true
      T true ? 1 == 1 : 1 == 2
      T (true ? 1 : 2) == 1
      E true ? 1 : 2
      E 1
      E null
      E 'true'
      E nosuch
      """)
  }

  @Test func precedence() {
    RuleTable(
      """
      T true || false && false
      F (true || false) && false
      T 1 + 1 == 2 && 2 * 2 == 4
      T !false && true
      T !(1 == 2)
      E !1 == 2
      T 1 in [1] == true
      T 1 + 1 in [2]
      T 1 is int && true
      T 2 < 3 == true
      T -1 + 2 == 1
      T -'abc'.size() == -3
      T false ? true : true || false
      T 1 == 1 ? true : false
      T 1 + 2 is int
      T (1 in [1, 2]) is bool
      T 1 in [1, 2] is bool
      T 1 == 1 is bool
      """)
  }

  @Test func membership() {
    RuleTable(
      """
      T 1 in [1, 2]
      F 3 in [1, 2]
      F 1 in []
      T null in [null]
      T [1] in [[1], [2]]
      T 'a' in {'a': null}
      F 'b' in {'a': 1}
      F 1 in {'a': 1}
      T 1 in [1, 2].toSet()
      F 3 in [1, 2].toSet()
      E 'a' in 'abc'
      E 'a' in /a/b
      E 1 in 1
      E 1 in null
      E nosuch in [1]
      F !(1 in [1])
      T /a/b in [/a/b]
      T 'a' in ['a', nosuch].concat([])  || true
      """)
  }

  @Test func types() {
    RuleTable(
      """
      T true is bool
      F 1 is bool
      T 1 is int
      F 1.0 is int
      T 1.0 is float
      F 1 is float
      T 1 is number
      T 1.5 is number
      F '1' is number
      T 'a' is string
      F null is string
      T 'a'.toUtf8() is bytes
      F 'a' is bytes
      T [1] is list
      F [1].toSet() is list
      F [1].toSet() is set
      T {} is map
      F null is map
      T /a/b is path
      F '/a/b' is path
      T timestamp.value(0) is timestamp
      F timestamp.value(0) is duration
      T duration.value(0, 's') is duration
      T latlng.value(0, 0) is latlng
      T {'a': 1}.diff({}) is map_diff
      F {'a': 1} is map_diff
      F 1 is constraint
      C 1 is bogus
      C 1 is null
      C 1 is 'int'
      T request is map
      E nosuch is int
      F !(1 is int)
      """)
  }
}
