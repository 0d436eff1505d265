import TernCore
import TernSecurity
import Testing

/// Operators, types and methods. Source: realtime reference, sections 12.5 and 12.6.
@Suite("Expressions")
struct ExpressionFactsTests {
  @Test(
    "what can never work is refused when the rules are loaded",
    arguments: [
      "7", "'foo'", "null", "data", "now", "$x", "auth == null ? 7 : true", "skies",
      "data == null", "root.child('a') != null", "data ? true : false", "!data", "!'x'", "!1",
      "1 && true", "true || 'x'", "1 ? true : false", "-'x' == 1", "'x' - 1 == 0", "true + 1 == 2",
      "null + 'a' == 'a'", "1 < 'a'", "'a' > 1", "data.val() > true", "null < 1", "1 + 1",
      "newData.exists()", "data.val", "data.exists", "data.foo()", "data.foo", "now.x", "$x.y",
      "$x.val()", "$z == 'a'", "1.contains('a')", "(1).contains('a')", "data.val().foo == 1",
      "data.val()['k'] == 1", "data.val().exists()", "auth.x.notThere()", "auth.uid.val()",
      "data['ex' + 'ists']()", "data[$x]()", "'a'['len' + 'gth'] == 1", "data.child() == null",
      "data.child('a', 'b').exists()", "data.child(1).exists()", "data.hasChild()",
      "data.hasChild(null)", "data.hasChildren('a')", "data.hasChildren([])",
      "data.hasChildren(['a', 7])", "data.hasChildren(['a'], ['b'])", "data.hasChildren([['a']])",
      "data.exists(1)", "data.parent(1).exists()", "'a'.contains()", "'a'.contains(1)",
      "'a'.replace('b') == 'a'", "'a'.toLowerCase(1) == 'a'", "'a'.matches('a')", "'a'.matches()",
      "'a'.matches(/a/g)", "'a'.matches(/a/ig)", "'a'.matches(/a/, /b/)", "/a/ == /a/", "/a/",
      "['a'] == ['a']", "[true]", "query == null", "query.foo == 1", "query.orderByKey()",
      "query['order' + 'ByKey']", "(true ? data : true)", "(true ? data : root).exists() == data",
      "auth = null", "true; true", "var x = 1", "true true", "true &&", "(true", "true)", "",
      " ", "a.b.c == 1", "auth.", "auth.1", "auth[", "auth[]", "2 ** 2 == 4", "+1 == 1", "~1 == 1",
      "1 & 1", "1 | 1 == 1", "true ? true", "true ? : false", "'a' in auth", "typeof auth == 'a'",
      "{} == null", "`a` == 'a'", "1a == 1", "1e == 1", "1e999 > 1", "'a == 'a'", "'a\n' == 'a'",
      "data.exists()()", "true()", "auth()", "$ == 'a'", "'\\u12' == 'a'",
      "'\\ud800' == 'a'", "data.\u{E9}()", "!", "()", "data.hasChild('a',)", "1 < 2 < 3",
      "auth", "auth.s", "!auth.n", "auth.t && true", "true || data.val()", "auth.t ? true : false",
      "true ? auth.t : false", "query.equalTo", "!data.getPriority()", "auth['a' + 'b']",
    ])
  func refused(expression: String) throws {
    #expect(try verdict(expression) == "invalid")
  }

  @Test(
    "operators bind and evaluate as in JavaScript, without its coercions",
    arguments: [
      ("1 + 2 * 3 == 7", "true"), ("(1 + 2) * 3 == 9", "true"), ("10 - 2 - 3 == 5", "true"),
      ("2 * 3 % 4 == 2", "true"), ("-2 * -3 == 6", "true"), ("- -1 == 1", "true"),
      ("1 + 1 == 2 && 2 > 1 || false", "true"), ("true || false && false", "true"),
      ("false && false || true", "true"), ("!false && !(!true)", "true"),
      ("1 < 2 == true", "true"), ("1 == 1 == true", "true"), ("5 == 5 != false", "true"),
      ("true ? false : true ? true : true", "false"),
      ("false ? false : false ? false : true", "true"),
      ("1 == '1'", "false"), ("1 === 1.0", "true"), ("null == false", "false"),
      ("0 == false", "false"),
      ("'' == null", "false"), ("null === null", "true"), ("'a' != 'b'", "true"),
      ("'a' + 1 == 'a1'", "true"), ("1 + 'a' == '1a'", "true"), ("1 + 2 + 'a' == '3a'", "true"),
      ("'a' + 1 + 2 == 'a12'", "true"), ("'' + 0.5 == '0.5'", "true"), ("'' + 3.0 == '3'", "true"),
      ("'' + 1e21 == '1e+21'", "true"), ("'' + 1e20 == '100000000000000000000'", "true"),
      ("'' + 0.000001 == '0.000001'", "true"), ("'' + 1e-7 == '1e-7'", "true"),
      ("'' + 1.5e300 == '1.5e+300'", "true"), ("'' + -1.25 == '-1.25'", "true"),
      ("'' + 123456789.125 == '123456789.125'", "true"), ("'' + 1/3 == 0", "false"),
      ("'' + (1/3) == '0.3333333333333333'", "true"),
      ("1 / 0 == 1 / 0", "false"), ("1 % 0 != 0", "true"), ("'' + 5 % 0 == 'NaN'", "true"),
      ("1/0 < 1 || 1/0 >= 1", "false"), ("7 / 2 == 3.5", "true"), ("-7 % 3 == -1", "true"),
      ("5.5 % 2 == 1.5", "true"), ("6 / 3 == 2", "true"),
      ("9007199254740993 == 9007199254740992", "false"),
      ("9223372036854775807 + 1 == 9223372036854775808", "true"),
      ("9223372036854775807 > 9223372036854775806", "true"),
      ("-9223372036854775807 - 1 < 0 && -(-9223372036854775807 - 1) > 0", "true"),
      ("1e3 == 1000 && 1.5e-1 == 0.15 && .5 == 0.5", "true"),
      ("'a' < 'b' && 'B' < 'a' && 'a' < 'aa' && !('b' <= 'a')", "true"),
      ("'\\uE000' > '\u{1F600}'", "true"), ("'\\x41\\u0042\\'' == \"AB'\"", "true"),
      ("'\u{E9}' == 'e\u{301}'", "false"), ("'a\\nb\\t\\\\' == 'a\\nb\\t\\\\'", "true"),
    ])
  func operators(expression: String, expected: String) throws {
    #expect(try verdict(expression) == expected)
  }

  @Test(
    "a value of the wrong kind makes the whole rule false, unless it is never asked for",
    arguments: [
      ("!(auth.x > 1)", "error"), ("auth.x > 1 ? false : true", "error"),
      ("auth.x > 1 || true", "error"), ("true || auth.x > 1", "true"),
      ("false && auth.x > 1", "false"), ("true ? true : auth.x > 1", "true"),
      ("-auth.s == 1", "error"), ("auth.n + auth.t == 1", "error"),
      ("auth.s + auth.x == 'x'", "error"), ("auth.o + 'a' == 'x'", "error"),
      ("auth.n - auth.s == 0", "error"), ("auth.t < true", "invalid"), ("auth.t < auth.t", "error"),
      ("auth.x <= auth.x", "error"), ("auth.n < auth.s", "error"), ("auth.o < auth.o", "error"),
      ("auth.o == auth.o", "error"), ("data.val() == root.val()", "error"),
      ("auth.o != null && auth.o != 1 && auth.o != 'x'", "true"), ("auth.x.length == 0", "error"),
      ("auth.n.length == 1", "error"), ("auth.n.contains('1')", "error"),
      ("data.child(auth.x).exists()", "error"), ("data.child(auth.n).exists()", "error"),
      ("data.hasChild(auth.x)", "error"), ("data.hasChildren([auth.x])", "error"),
      ("data.hasChildren(['zzz', auth.x])", "error"), ("auth.s.contains(auth.n)", "error"),
      ("auth.s.replace('a', auth.x) == ''", "error"), ("auth.n.toLowerCase() == ''", "error"),
      ("auth.n.matches(/1/)", "error"),
      ("root.parent().exists()", "error"), ("data.parent().parent().parent().exists()", "error"),
    ])
  func mistakes(expression: String, expected: String) throws {
    let auth: JSONValue = ["n": 1, "s": "one", "t": true, "o": ["k": 1]]
    #expect(try verdict(expression, auth: auth, tree: ["a": ["b": ["c": 1]]]) == expected)
  }

  @Test(
    "comments are skipped where a token begins, and only there",
    arguments: [
      ("// only users\n auth != null", "false"), ("/* all */ true", "true"),
      ("true // && false", "true"), ("true // \r && false", "false"),
      ("true // \u{2028} && false", "false"), ("true /* && false */ /**/", "true"),
      ("data /* a */ . // b\n exists /***/ ( ) == false", "true"), ("6 /* / 2 */ / 3 == 2", "true"),
      ("6 / /* 3 */ 2 == 3", "true"), ("'// a' == '/' + '/ a'", "true"), ("'/*' == '/*'", "true"),
      ("'a//b'.matches(/a\\/\\/b/)", "true"), ("'a/*'.matches(/[/*]+$/)", "true"),
      ("'x'.matches(/* no */ /x/ /* no */ )", "true"), ("'x'.matches(// no\n/x/)", "true"),
      ("'x'.matches(//)", "invalid"), ("true /* and", "invalid"), ("true /*/", "invalid"),
      ("// nothing", "invalid"), ("/**/", "invalid"), ("1 /\n/ 2 == 1", "invalid"),
    ])
  func comments(expression: String, expected: String) throws {
    #expect(try verdict(expression) == expected)
  }

  @Test(
    "snapshots answer about one node",
    arguments: [
      "data.val() != null && data.exists() && data.hasChildren()",
      "!data.isNumber() && !data.isString() && !data.isBoolean()",
      "data.child('n').val() == 5 && data.child('n').isNumber() && !data.child('n').hasChildren()",
      "data.child('s').isString() && data.child('t').isBoolean() && data.child('d').isNumber()",
      "data.child('none').val() == null && !data.child('none').exists()",
      "data.child('/n/').val() == 5 && data.child('').child('n').val() == 5",
      "data.child('deep/er').val() == 'x' && data.child('deep').child('er').val() == 'x'",
      "data.child('n/x').val() == null && !data.hasChild('n/x')",
      "data.hasChild('n') && data.hasChild('deep/er') && !data.hasChild('z')",
      "data.hasChildren(['n', 's', 'deep/er']) && !data.hasChildren(['n', 'z'])",
      "!data.child('b@x.org').exists() && !data.hasChild('.priority') && !data.hasChild('$k')",
      "data.child('x.y').parent().child('n').val() == 5",
      "data.child('x.y/z').parent().parent().child('n').val() == 5",
      "data.child('n').parent().hasChild('s') && data.parent().parent().hasChild('a')",
      "root.child('a').child($y).child('n').val() == 5 && root.hasChild($x + '/' + $y)",
      "data.child('p').getPriority() == 3 && data.getPriority() == null",
      "data.child('q').getPriority() == 'high' && data.child('none').getPriority() == null",
      "data['exists']() && data[\"child\"]('n')['val']() == 5",
      "(true ? data : root).child('n').exists() && (false ? data : root).child('a').exists()",
      "data.child('s').val().length == 3 && data.child('s').val()['length'] == 3",
      "data.child('a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/a/b/c/d/e/f/g/h').val() == null",
    ])
  func snapshots(expression: String) throws {
    let node: TreeNode = [
      "n": 5, "s": "str", "t": true, "d": 1.5, "deep": ["er": "x"],
      "p": TreeNode(1, priority: 3), "q": TreeNode(["k": 1].node.children, priority: "high"),
    ]
    #expect(try verdict(expression, tree: ["a": ["b": node]]) == "true")
  }

  @Test(
    "strings have their methods",
    arguments: [
      "'foobar'.contains('oba') && !'foobar'.contains('obx') && 'a'.contains('') && ''.contains('')",
      "'aaab'.contains('aab') && 'ababac'.contains('abac')",
      "'foobar'.beginsWith('foo') && !'foobar'.beginsWith('oo') && 'a'.beginsWith('')",
      "'foobarfoo'.endsWith('foo') && 'aXa'.endsWith('a') && !'foo'.endsWith('xfoo')",
      "'a.b.c'.replace('.', ',') == 'a,b,c' && 'aaaa'.replace('aa', 'b') == 'bb'",
      "'abc'.replace('', 'x') == 'abc' && 'abc'.replace('z', 'x') == 'abc'",
      "'a$1'.replace('$1', '$&') == 'a$&' && 'aa'.replace('a', 'aa') == 'aaaa'",
      "'ÄbC'.toLowerCase() == 'äbc' && 'äbc'.toUpperCase() == 'ÄBC'",
      "'abc'.length == 3 && ''.length == 0 && '\u{1F600}'.length == 2 && '\u{E9}'.length == 1",
      "'bar'.matches(/bar/) && 'BAR'.matches(/bar/i) && !'BAR'.matches(/bar/)",
      "'a/b'.matches(/a\\/b/) && 'a/b'.matches(/a[/]b/) && (4 / 2 / 1 == 2)",
      "$x.contains('a') && auth.uid.beginsWith('u') && ($x + $y).endsWith('ab')",
    ])
  func strings(expression: String) throws {
    #expect(try verdict(expression, auth: ["uid": "u1"]) == "true")
  }

  @Test("a comparison of leaves in the tree keeps whole numbers exact")
  func exactNumbers() throws {
    let tree: TreeNode = ["a": ["b": ["x": 9_007_199_254_740_993, "y": 9_007_199_254_740_992.0]]]
    #expect(try verdict("data.child('x').val() == data.child('y').val()", tree: tree) == "false")
    #expect(try verdict("data.child('x').val() > data.child('y').val()", tree: tree) == "true")
  }
}

extension TreeNode {
  /// Helps the literal above to give children a priority.
  fileprivate init(_ children: ChildMap, priority: TreeScalar) {
    self.init(children: children, priority: priority)
  }
}

extension [String: Int64] {
  fileprivate var node: TreeNode {
    TreeNode(
      children: ChildMap(
        unsorted: map { (key: TreeKey(unchecked: $0.key), node: TreeNode(.integer($0.value))) }))
  }
}
