import TernCore
import TernSecurity
import TernTestKit
import Testing

/// Regular expressions. Source: realtime reference, section 12.7.
@Suite("Patterns")
struct PatternTests {
  @Test(
    "what is outside the subset is refused",
    arguments: [
      "", "(", ")", "a)", "(a", "()", "a||b", "(a|)", "^(foo|)$", "|a", "a|", "*a", "+", "a**",
      "a+?", "a*?", "a??", "a++", "a{2}+", "a{2}{3}", "{2}", "a{", "a{x}", "a{2", "a{3,2}",
      "a{1001}", "a^", "a$b", "(^foo$|bar)", "(a$)", "a|^b", "^^a", "a$$", "^*", "[", "[a", "[]",
      "[^]", "[z-a]", "[\\d-z]", "(?:a)", "(?=a)", "(?!a)", "(?<n>a)", "\\b", "\\B", "a\\",
      "\\1", "\\p{L}", "\\x41", "(a{1000}){1000}", "((((a{0}){999}){999}){999}){999}", "^|a", "a|$",
    ])
  func refused(pattern: String) throws {
    #expect(try verdict("'a'.matches(/\(pattern)/)") == "invalid")
  }

  @Test(
    "the subset matches as everywhere",
    arguments: [
      ("foo", "xfoox", true), ("^foo", "xfoo", false), ("foo$", "foox", false),
      ("^foo$", "foo", true),
      ("^", "", true), ("$", "x", true), ("^$", "", true), ("^$", "x", false), ("a*", "", true),
      ("^a*$", "aaa", true), ("^a*$", "aab", false), ("^a+$", "", false), ("^ab?c$", "ac", true),
      ("^a{2}$", "aa", true), ("^a{2}$", "aaa", false), ("^a{2,}$", "aaaa", true),
      ("^a{1,3}$", "aaaa", false), ("^a{0}b$", "b", true), ("^(ab|cd)+$", "abcdab", true),
      ("^(ab|cd)+$", "abc", false), ("^[a-c]+$", "abcabc", true), ("^[^a-c]+$", "xyz", true),
      ("^[^a-c]+$", "xbz", false), ("^[-a]+$", "a-a", true), ("^[a-]+$", "a-a", true),
      ("^[.]$", "x", false), ("^[\\]]$", "]", true), ("^[\\w-]+$", "a-b_9", true),
      ("^[\\s\\d]+$", "1 2", true), ("^[^\\S]$", " ", true), ("^\\d{4}-\\d\\d$", "2026-11", true),
      ("^\\w+@\\w+\\.org$", "me@x.org", true), ("^.$", "\u{1F600}", true), (".", "\n", false),
      ("^.\\n$", "a\n", true), ("\\{foo}", "{foo}", true), ("]}", "]}", true),
      ("^(a|b)*c$", "ababac", true), ("^((a)(b))$", "ab", true), ("^(a*)*$", "aaaa", true),
      ("^(a*b*)+$", "abba", true), ("x*y", "xxz", false), ("é", "caf\u{E9}", true),
      ("^[à-ü]$", "é", true), ("^foo|bar$", "foox", true), ("^foo|bar$", "xbar", true),
      ("^foo|bar$", "xfoo", false), ("a|bc|d", "xbcx", true),
      ("\\.\\*\\+\\?\\(\\)\\[\\$\\^\\|", ".*+?()[$^|", true),
      ("^(x{2,3}y){2}$", "xxyxxxy", true), ("^(x{2,3}y){2}$", "xyxxy", false),
      ("^(a?){3}b$", "aab", true), ("^a{0,2}$", "aaa", false),
      (
        "^[a-z]{70}$", "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij",
        true
      ),
      (
        "^[a-z]{70}$", "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghi",
        false
      ),
      ("^.{80}é$", String(repeating: "é", count: 81), true),
    ])
  func matches(pattern: String, text: String, expected: Bool) throws {
    let found = try verdict("auth.matches(/\(pattern)/)", auth: .string(text))
    #expect(found == "\(expected)")
  }

  @Test(
    "the flag puts letter case aside, ASCII apart from the rest",
    arguments: [
      ("^foo$", "FoO", true), ("^[a-c]$", "B", true), ("^[^a-c]$", "B", false), ("^É$", "é", true),
      ("^[à-ü]$", "É", true), ("k", "\u{212A}", false), ("s", "\u{17F}", false),
      ("^\\w$", "A", true),
    ])
  func folding(pattern: String, text: String, expected: Bool) throws {
    let found = try verdict("auth.matches(/\(pattern)/i)", auth: .string(text))
    #expect(found == "\(expected)")
  }

  @Test("patterns that ruin backtracking matchers take one look at each character")
  func linear() throws {
    // A matcher that goes back would not come to an end within the life of this machine.
    let text = String(repeating: "a", count: 20_000)
    for pattern in ["^(a+)+$", "^(a|a)*b$", "^(a*)*b$", "(x+x+)+y", "^(a?){30}a{30}$"] {
      let found = try verdict("auth.matches(/\(pattern)/)", auth: .string(text))
      #expect(["true", "false"].contains(found))
    }
  }

  @Test("agrees with a backtracking matcher on random patterns", arguments: [UInt64(1), 2, 3])
  func agreement(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<700 {
      let pattern = NaivePattern.random(&random)
      let flag = Bool.random(using: &random) ? "i" : ""
      let rule = JSONValue.string("auth.matches(/\(pattern.text)/\(flag))").json
      let rules = try TreeRules(#"{"rules": {".read": \#(rule)}}"#)
      for _ in 0..<6 {
        let text = NaivePattern.randomText(&random)
        let caller = RulesCaller(auth: .string(text), now: 0)
        let found = try rules.read(.root, by: caller, in: TreeNodeSnapshot(.empty)).isAllowed
        let expected = pattern.matches(text, ignoringCase: !flag.isEmpty)
        #expect(found == expected, "seed \(seed): /\(pattern.text)/\(flag) on \(text)")
      }
    }
  }
}
