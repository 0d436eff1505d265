import Testing

@Suite("Methods of rules for documents")
struct DocumentRuleMethodTests {
  @Test func strings() {
    RuleTable(
      """
      T 'abc'.size() == 3
      T ''.size() == 0
      T '\\u00e9'.size() == 1
      T '\\uD83D\\uDE00'.size() == 1
      T 'ABC'.lower() == 'abc'
      T 'abc'.upper() == 'ABC'
      T '\\u00c9'.lower() == '\\u00e9'
      T '  a b \\n'.trim() == 'a b'
      T ''.trim() == ''
      T 'a,b'.split(',') == ['a', 'b']
      T 'a'.split(',') == ['a']
      T ',a'.split(',') == ['', 'a']
      T 'a1b22c'.split('[0-9]+') == ['a', 'b', 'c']
      F 'abc'.split('') == ['a', 'b', 'c']
      T 'a/b/c'.split('/').size() == 3
      T 'a'.replace('a', 'b') == 'b'
      T 'aaa'.replace('a', 'b') == 'bbb'
      T 'abc'.replace('(b)', '[$1]') == 'a[b]c'
      T 'abc'.replace('b', '[$0]') == 'a[b]c'
      T 'abc'.replace('x', 'y') == 'abc'
      E 'abc'.replace('b', '$1') == 'ac'
      T 'abc'.replace('(b)(x)?', '$1$2') == 'abc'
      T 'ab'.toUtf8().size() == 2
      T '\\u00e9'.toUtf8().size() == 2
      T 'abc'[0] == 'a'
      T 'abc'[2] == 'c'
      E 'abc'[3] == 'c'
      E 'abc'[-1] == 'c'
      E 'abc'['a'] == 'c'
      T 'abcdef'[1:3] == 'bc'
      T 'abc'[0:3] == 'abc'
      T 'abc'[1:1] == ''
      E 'abc'[0:0] == ''
      E 'abc'[3:3] == ''
      E 'abc'[0:4] == 'abc'
      E 'abc'[2:1] == ''
      E ''[0:0] == ''
      E 'abc'.nosuch() == 1
      E 'abc'.size(1) == 3
      E 'abc'.lower(1) == 'abc'
      E 'abc'.split(1) == ['abc']
      E 'abc'.replace('a') == 'bc'
      E 'abc'.matches() == true
      E 'abc'.keys() == []
      E 'abc'.length == 3
      T 'a\\'b' == "a'b"
      T 'a\\nb'.size() == 3
      T 'a\\qb' == 'a\\\\qb'
      T '\\t'.size() == 1
      """)
  }

  @Test func patterns() {
    RuleTable(
      """
      T 'abc'.matches('abc')
      F 'abc'.matches('b')
      F 'abc'.matches('ab')
      T 'abc'.matches('.*b.*')
      T 'abc'.matches('^abc$')
      T 'abc'.matches('a|abc')
      T ''.matches('')
      T ''.matches('a*')
      F ''.matches('a+')
      T 'aaa'.matches('a{3}')
      F 'aaaa'.matches('a{2,3}')
      T 'aaaa'.matches('a{2,}')
      T 'a{2'.matches('a{2')
      T 'a1_'.matches('\\\\w+')
      F 'a-'.matches('\\\\w+')
      T '12'.matches('\\\\d\\\\d')
      T ' '.matches('\\\\s')
      F 'a'.matches('\\\\W')
      T 'a.b'.matches('a\\\\.b')
      F 'axb'.matches('a\\\\.b')
      T 'ABC'.matches('(?i)abc')
      F 'ABC'.matches('abc')
      T 'aBc'.matches('a(?i)b(?-i)c')
      T 'a\\nb'.matches('(?s)a.b')
      F 'a\\nb'.matches('a.b')
      T 'a\\rb'.matches('a.b')
      T 'a\\nb'.matches('(?m)a$\\n^b')
      T 'x'.matches('[^a-w]')
      T ']'.matches('[]]')
      T '-'.matches('[a-]')
      T 'b'.matches('[[:alpha:]]')
      F '1'.matches('[[:alpha:]]')
      T '1'.matches('[[:^alpha:]]')
      T 'f'.matches('[[:xdigit:]]')
      T '\\u00e9'.matches('\\\\p{L}')
      T '\\u00e9'.matches('\\\\pL')
      F '1'.matches('\\\\p{L}')
      T '1'.matches('\\\\P{L}')
      T '1'.matches('\\\\p{Nd}')
      T 'A'.matches('[\\\\p{Lu}]')
      T 'ab'.matches('(?:a)(?P<x>b)')
      T 'a b'.matches('a\\\\b \\\\bb')
      F 'ab'.matches('a\\\\bb')
      T 'a*b'.matches('\\\\Qa*b\\\\E')
      T 'A'.matches('\\\\x41')
      T 'A'.matches('\\\\x{41}')
      T 'A'.matches('\\\\101')
      T 'aaa'.matches('a*?')
      T 'ab@c.de'.matches('[a-z]+@[a-z]+[.][a-z]{2,3}')
      T 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.matches('(a*)*')
      F 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaab'.matches('(a+)+')
      """)
  }

  @Test func invalidPatterns() {
    RuleTable(
      """
      C 'a'.matches('(')
      C 'a'.matches(')')
      C 'a'.matches('[a')
      C 'a'.matches('*a')
      C 'a'.matches('a**')
      C 'a'.matches('a{3,2}')
      C 'a'.matches('(?=a)a')
      C 'a'.matches('(?!b)a')
      C 'a'.matches('(?<=b)a')
      C 'a'.matches('(a)\\\\1')
      C 'a'.matches('\\\\p{Bogus}')
      C 'a'.matches('a{1001}')
      C 'a'.split('(')
      C 'a'.replace('(', 'b') == 'a'
      E 'a'.matches('(' + '')
      T 'a'.matches('a' + '')
      E 1.matches('1')
      E null.matches('1')
      E ['a'].matches('a')
      """)
  }

  @Test func lists() {
    RuleTable(
      """
      T [1, 2, 3].size() == 3
      T [].size() == 0
      T [1, 2].concat([3]) == [1, 2, 3]
      E [1].concat([2].toSet()) == [1, 2]
      E [1].concat(2) == [1, 2]
      T [1, 2, 3].hasAll([1, 3])
      F [1, 2, 3].hasAll([1, 4])
      T [1].hasAll([])
      T [1, 2].hasAll([1].toSet())
      T [1, 2].hasAny([2, 5])
      F [1, 2].hasAny([5])
      F [1, 2].hasAny([])
      F [].hasAny([1])
      T [1, 2].hasOnly([1, 2, 3])
      F [1, 4].hasOnly([1, 2, 3])
      T [].hasOnly([1])
      T [1, 1].hasOnly([1])
      E [1].hasAll(1)
      E [1].hasAny('1')
      T [1, 2, 1].removeAll([1]) == [2]
      T [1, 2].removeAll([]) == [1, 2]
      E [1].removeAll(1) == []
      T ['a', 'b'].join('-') == 'a-b'
      T [1, true, null].join(',') == '1,true,null'
      T [].join(',') == ''
      E [1].join(1) == '1'
      E [[1]].join(',') == '[1]'
      T [1, 2, 2].toSet().size() == 2
      T [1, 2][0] == 1
      E [1, 2][2] == 1
      E [1, 2][-1] == 2
      E [1, 2][0.0] == 1
      T [1, 2, 3][1:3] == [2, 3]
      T [1, 2, 3][1:1] == []
      E [1, 2, 3][0:0] == []
      E [1, 2, 3][3:3] == []
      E [1, 2, 3][0:4] == [1, 2, 3]
      E [][0:0] == []
      E [1].lower() == [1]
      E [1].keys() == []
      E [1].first == 1
      T [[1, 2], [3]][1][0] == 3
      """)
  }

  @Test func sets() {
    RuleTable(
      """
      T [1, 2].toSet().size() == 2
      T [1].toSet().union([2].toSet()) == [1, 2].toSet()
      T [1, 2].toSet().intersection([2, 3].toSet()) == [2].toSet()
      T [1, 2].toSet().difference([2].toSet()) == [1].toSet()
      E [1].toSet().union([2]) == [1, 2].toSet()
      E [1].toSet().intersection([1]) == [1].toSet()
      E [1].toSet().difference([1]) == [].toSet()
      T [1, 2].toSet().hasAll([1])
      F [1].toSet().hasAll([1, 2])
      T [1, 2].toSet().hasAll([2].toSet())
      T [1].toSet().hasAny([1, 3])
      F [1].toSet().hasAny([3])
      T [1].toSet().hasOnly([1, 2])
      F [1, 3].toSet().hasOnly([1, 2])
      T [1].toSet().hasOnly([1, 2].toSet())
      E [1].toSet().toSet() == [1].toSet()
      E [1].toSet()[0] == 1
      E [1].toSet().join(',') == '1'
      T [1, 1.0].toSet().size() == 2
      T [null, null].toSet().size() == 1
      T [[1], [1]].toSet().size() == 1
      """)
  }

  @Test func maps() {
    RuleTable(
      """
      T {'a': 1}.size() == 1
      T {}.size() == 0
      T {'b': 1, 'a': 2}.keys() == ['a', 'b']
      T {'b': 1, 'a': 2}.values() == [2, 1]
      T {'a': 1}.a == 1
      T {'a': 1}['a'] == 1
      E {'a': 1}.b == 1
      E {'a': 1}['b'] == 1
      E {'a': 1}[0] == 1
      T {'a': {'b': 2}}.a.b == 2
      E {'a': 1}.a.b == 2
      E {'a': null}.a.b == 2
      T {'a': 1}.get('a', 0) == 1
      T {'a': 1}.get('b', 0) == 0
      T {'a': {'b': 2}}.get(['a', 'b'], 0) == 2
      T {'a': {'b': 2}}.get(['a', 'c'], 0) == 0
      T {'a': 1}.get(['a', 'b'], 0) == 0
      T {'a': null}.get('a', 1) == null
      E {'a': 1}.get('a') == 1
      E {'a': 1}.get(1, 0) == 0
      T {'a': 1}.diff({'b': 1}).addedKeys() == ['a'].toSet()
      T {'a': 1}.diff({'b': 1}).removedKeys() == ['b'].toSet()
      T {'a': 1}.diff({'a': 2}).changedKeys() == ['a'].toSet()
      T {'a': 1}.diff({'a': 1}).unchangedKeys() == ['a'].toSet()
      T {'a': 1, 'c': 1}.diff({'b': 1, 'c': 2}).affectedKeys() == ['a', 'b', 'c'].toSet()
      T {'a': {'b': 1}}.diff({'a': {'b': 1}}).affectedKeys().size() == 0
      T {'a': 1}.diff({'a': 1.0}).changedKeys().size() == 1
      T {'a': 1}.diff({}).affectedKeys().hasOnly(['a', 'b'])
      E {'a': 1}.diff([]).affectedKeys().size() == 0
      E {'a': 1}.diff({}).size() == 1
      E {'a': 1}.diff({}).nosuch() == 1
      E {'a': 1}.hasAll(['a'])
      E {1: 2} == {}
      T {'a' + 'b': 1}.ab == 1
      T {'a': 1, 'a': 2}.a == 2
      T {'a': 1}.keys().hasOnly(['a'])
      T {'a': 1}.keys() is list
      """)
  }

  @Test func bytes() {
    RuleTable(
      """
      T 'abc'.toUtf8().toBase64() == 'YWJj'
      T 'ab'.toUtf8().toBase64() == 'YWI='
      T 'a'.toUtf8().toBase64() == 'YQ=='
      T ''.toUtf8().toBase64() == ''
      T '\\u00ff\\u00fe'.toUtf8().toHexString() == 'C3BFC3BE'
      T '~~~~'.toUtf8().toBase64() == 'fn5-fg=='
      T 'a'.toUtf8().size() == 1
      E 'a'.toUtf8().lower() == 'a'
      E 'a'.toUtf8()[0] == 97
      """)
  }

  @Test func times() {
    RuleTable(
      """
      T timestamp.date(2024, 2, 29).day() == 29
      T timestamp.date(2024, 2, 29).month() == 2
      T timestamp.date(2024, 2, 29).year() == 2024
      T timestamp.date(2024, 12, 31).dayOfYear() == 366
      T timestamp.date(2023, 12, 31).dayOfYear() == 365
      T timestamp.date(2024, 1, 1).dayOfWeek() == 1
      T timestamp.date(2023, 12, 31).dayOfWeek() == 7
      T timestamp.date(1969, 12, 31).dayOfWeek() == 3
      T timestamp.date(1, 1, 1).year() == 1
      T timestamp.date(9999, 12, 31).year() == 9999
      E timestamp.date(2023, 2, 29) is timestamp
      E timestamp.date(2023, 13, 1) is timestamp
      E timestamp.date(2023, 0, 1) is timestamp
      E timestamp.date(0, 1, 1) is timestamp
      E timestamp.date(2023, 1, 1.0) is timestamp
      T timestamp.value(3723004).hours() == 1
      T timestamp.value(3723004).minutes() == 2
      T timestamp.value(3723004).seconds() == 3
      T timestamp.value(3723004).nanos() == 4000000
      T timestamp.value(-1).seconds() == 59
      T timestamp.value(-1).nanos() == 999000000
      T timestamp.value(-1).toMillis() == -1
      T timestamp.value(1500).toMillis() == 1500
      T timestamp.value(90061001).date() == timestamp.date(1970, 1, 2)
      T timestamp.value(90061001).time() == duration.value(3661001, 'ms')
      E timestamp.value(9223372036854775807) is timestamp
      E timestamp.value('0') is timestamp
      E timestamp.value(0).nosuch() == 1
      E timestamp.value(0).size() == 1
      T request.time is timestamp
      T request.time.toMillis() == 1790000000123
      T duration.value(1, 'w') == duration.value(7, 'd')
      T duration.value(1, 'd') == duration.value(24, 'h')
      T duration.value(1, 'h') == duration.value(60, 'm')
      T duration.value(1, 's') == duration.value(1000000000, 'ns')
      E duration.value(1, 'y') is duration
      E duration.value(1.5, 's') is duration
      E duration.value(9223372036854775807, 'w') is duration
      T duration.time(1, 2, 3, 4).seconds() == 3723
      T duration.time(1, 2, 3, 4).nanos() == 4
      T duration.value(-1500, 'ms').seconds() == -1
      T duration.value(-1500, 'ms').nanos() == -500000000
      T duration.abs(duration.value(-1500, 'ms')) == duration.value(1500, 'ms')
      T duration.abs(duration.value(1500, 'ms')) == duration.value(1500, 'ms')
      E duration.abs(-1) == 1
      E duration.value(1, 's').toMillis() == 1000
      """)
  }

  @Test func places() {
    RuleTable(
      """
      T latlng.value(1.5, 2).latitude() == 1.5
      T latlng.value(1.5, 2).longitude() == 2.0
      E latlng.value(91, 0) is latlng
      E latlng.value(0, 181) is latlng
      E latlng.value('1', 0) is latlng
      E latlng.value(1) is latlng
      T latlng.value(0, 0).distance(latlng.value(0, 0)) == 0
      T latlng.value(0, 0).distance(latlng.value(0, 180)) > 20000000
      T latlng.value(0, 0).distance(latlng.value(0, 180)) < 20100000
      T latlng.value(0, 0).distance(latlng.value(1, 0)) > 111000
      E latlng.value(0, 0).distance(1) == 0
      E latlng.value(0, 0).size() == 2
      """)
  }

  @Test func paths() {
    RuleTable(
      """
      T path('/a/b') == /a/b
      T path('a/b') == /a/b
      T /a/b[0] == 'a' || true
      T path('/a/b')[1] == 'b'
      E path('/a/b')[2] == 'b'
      E path('/a/b').size() == 2
      E path(1) is path
      T /a/$('b') == /a/b
      T /a/$('b' + 'c')/d == /a/bc/d
      T /x/$(/a/b)/c == /x/a/b/c
      E /a/$(1) == /a/1
      E /a/$(null) is path
      E /a/$(nosuch) is path
      T path('/a/{x}').bind({'x': 'b'}) == /a/b
      E path('/a/b').bind({'x': 'b'}) == /a/b
      E path('/a/{x}').bind({}) == /a/b
      E path('/a/{x}').bind({'x': 1}) == /a/b
      T request.path == /databases/(default)/documents/probe/x
      T request.path == /databases/$(database)/documents/probe/$(id)
      T request.path[1] == '(default)'
      F /a/b == /a/b/c
      T /a/b-c.d == path('/a/b-c.d')
      """)
  }
}
