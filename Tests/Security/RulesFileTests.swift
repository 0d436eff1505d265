import TernCore
import TernSecurity
import Testing

/// The file format. Source: realtime reference, section 12.1.
@Suite("Rules file")
struct RulesFileTests {
  @Test("comments, strings over lines, literals and every kind of member are read")
  func whole() throws {
    let rules = try TreeRules(
      """
      // who may what
      { /* the one member */ "rules": {
        ".read": true, ".write": "auth != null // not a comment in here
           && auth.uid == 'é'",
        ".indexOn": ["height", "a/b", ".value", ".key"],
        "users": {"$uid": {".validate": "$uid != ''", ".indexOn": "x"}},
        "caf\\u00e9 \\ud83d\\ude00": {".read": false}
      }} // end
      """.replacing("// not a comment in here", with: ""))
    #expect(rules.count == 4)
    #expect(rules.indexes(at: .root) == [.child("height"), .child("a/b"), .value])
    #expect(rules.indexes(at: "users/7") == [.child("x")])
    #expect(rules.indexes(at: "users/7/deeper") == [])
  }

  @Test(
    "a file that is not JSON is refused where it stops being it",
    arguments: [
      ("", "1:1 expected a value"),
      ("{\"rules\": {}", "1:13 expected ',' or '}'"),
      ("{,}", "1:2 expected a member's name in double quotes"),
      ("{\"rules\": {},,}", "1:14 expected a member's name in double quotes"),
      ("{\"rules\": {\".indexOn\": [,]}}", "1:25 expected a value"),
      ("{\"rules\": {\".indexOn\": [\"a\",,]}}", "1:29 expected a value"),
      ("{'rules': {}}", "1:2 expected a member's name in double quotes"),
      ("{\"rules\": {}} x", "1:15 expected the end of the file"),
      ("{\"rules\": {}\n  \"x\": 1}", "2:3 expected ',' or '}'"),
      ("{\"rules\": {\"a\": {}, \"a\": {}}}", "1:21 the member \"a\" appears twice"),
      ("/* {\"rules\": {}}", "1:1 the comment does not end"),
      ("{\"rules", "1:2 the string does not end"),
      ("{\"rules\": {\"\\q\": {}}}", "1:13 unknown escape in a string"),
      ("{\"rules\": {\"\\ud800\": {}}}", "1:13 half of a surrogate pair"),
      ("{\"rules\": tru}", "1:11 expected a value"),
    ])
  func syntax(file: String, problem: String) {
    #expect(problems(file) == [problem])
  }

  @Test(
    "members that mean nothing are refused",
    arguments: [
      ("[]", "1:1 a rules file is an object with the one member \"rules\""),
      ("{}", "1:1 the member \"rules\" is missing"),
      (#"{"rules": {}, "x": 1}"#, #"1:15 the only member of a rules file is "rules""#),
      (#"{"rules": true}"#, "1:11 rules for a place are an object"),
      (#"{"rules": {"a": "true"}}"#, "1:17 rules for a place are an object"),
      (
        #"{"rules": {".reads": true}}"#,
        "1:12 unknown rule '.reads'; there are .read, .write, .validate and .indexOn"
      ),
      (
        #"{"rules": {".read": 1}}"#,
        "1:21 a rule is an expression in a string, or true, or false"
      ),
      (
        #"{"rules": {".read": null}}"#,
        "1:21 a rule is an expression in a string, or true, or false"
      ),
      (
        #"{"rules": {".indexOn": {"a": true}}}"#,
        "1:24 .indexOn takes a child's path, \".value\", or a list of these"
      ),
      (#"{"rules": {".indexOn": ["a", "b#"]}}"#, "1:30 'b#' is not a child's path"),
      (#"{"rules": {"$a": {}, "$b": {}}}"#, "1:22 a second $name beside the first"),
      (
        #"{"rules": {"$a": {"x": {"$a": {}}}}}"#, "1:25 $a names a key further up already"
      ),
      (#"{"rules": {"$": {}}}"#, "1:12 '$' cannot name a key"),
      (
        #"{"rules": {"a/b": {}}}"#,
        "1:12 'a/b' cannot be a key: . # $ / [ ] and control characters are not allowed"
      ),
      (#"{"rules": {"": {}}}"#, "1:12 '' cannot be a key: it is empty"),
    ])
  func structure(file: String, problem: String) {
    #expect(problems(file) == [problem])
  }

  @Test("one comma may follow the last member, as in the file of the Firebase console's test mode")
  func trailingCommas() throws {
    let rules = try TreeRules(
      """
      {
        "rules": {
          ".read": "now < 1905589200000",  // 2030-5-20
          ".write": "now < 1905589200000",  // 2030-5-20
          "a": {".indexOn": ["x", "y", /* end */ ], },
        }
      }
      """)
    #expect(rules.count == 2)
    #expect(rules.indexes(at: "a") == [.child("x"), .child("y")])
  }

  @Test("a condition of unknown type is rejected with the comparison to write")
  func unknownConditions() throws {
    let file = """
      {"rules": {
        ".read": "auth.token.admin",
        "a": {".read": "auth", ".write": "!newData.child('x').val()"},
        "b": {".write": "auth != null && auth.token.admin", ".read": "auth.token.admin === true"}
      }}
      """
    let any = "this may be any value: write"
    #expect(
      problems(file) == [
        "2:13 a rule must be true or false; \(any) auth.token.admin == true",
        "3:19 a rule must be true or false; \(any) auth != null",
        "3:38 '!' needs a boolean; \(any) newData.child('x').val() == true",
        "4:36 '&&' needs booleans; \(any) auth.token.admin == true",
      ])
    #expect(try TreeRules(stored: Array(file.utf8)).count == 5, "files stored before still load")
  }

  @Test("every mistake of a file is reported, with the line and column inside the string")
  func positions() {
    let file = """
      {"rules": {
        ".read": "auth.uid ==
           skies",
        "é": {".write": "\\"x\\" + 1 && nope"},
        "b": {".validate": "newData.val( == 1"}
      }}
      """
    #expect(
      problems(file) == [
        "3:6 unknown variable 'skies'",
        "4:20 '&&' needs booleans; this is a string",
        "5:36 expected a value, found '=='",
      ])
    #expect(throws: RulesFileError.self) { try TreeRules(file) }
    let described = #expect(throws: RulesFileError.self) { try TreeRules(file) }
    #expect(described?.problems.first?.rule == "/.read")
    #expect(described?.description.hasPrefix("3:6: /.read: unknown variable") == true)
  }

  @Test("limits on the file hold")
  func limits() {
    var limits = RulesLimits.standard
    limits.fileBytes = 40
    let long = #"{"rules": {"abcdefgh": {".read": true}}}   "#
    #expect(problems(long, limits: limits).first?.contains("at most 40") == true)
    let deep = String(repeating: #"{"a":"#, count: 70) + "{}" + String(repeating: "}", count: 70)
    #expect(problems(#"{"rules": \#(deep)}"#).first?.contains("more than 64 levels") == true)
    for nested in ["(", "!", "-", "[", "auth[", "data.child("] {
      let text = String(repeating: nested, count: 100_000)
      #expect(problems(#"{"rules": {".read": "\#(text)"}}"#).count == 1)
    }
    let sum = String(repeating: "1 + ", count: 5_000) + "1 == 1"
    #expect(problems(#"{"rules": {".read": "\#(sum)"}}"#).first?.contains("levels") == true)
    let chain = String(repeating: "true && ", count: 5_000) + "true"
    #expect(problems(#"{"rules": {".read": "\#(chain)"}}"#) == [])
  }

  @Test("text that is not UTF-8 is refused at its first wrong byte")
  func encoding() {
    let bytes = Array(#"{"rules": {"é": {}}}"#.utf8)
    #expect(throws: Never.self) { try TreeRules([0xEF, 0xBB, 0xBF] + bytes) }
    var broken = bytes
    broken[13] = 0xFF
    let error = #expect(throws: RulesFileError.self) { try TreeRules(broken) }
    #expect(error?.problems.first?.message == "the file is not UTF-8")
  }
}
