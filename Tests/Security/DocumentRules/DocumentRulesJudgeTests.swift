import TernCore
import Testing

@testable import TernSecurity

@Suite("Decisions of rules for documents")
struct DocumentRulesJudgeTests {
  private func verdict(
    _ body: String, _ method: DocumentRuleMethods = .get, _ path: String = "a/b",
    version: Int = 2, change: DocumentRulesRequest.Change = .none,
    resource: DocumentFields? = nil, budget: inout DocumentRulesBudget
  ) throws -> DocumentRulesVerdict {
    let rules = try DocumentRules(
      source: """
        rules_version = '\(version)';
        service cloud.firestore { match /databases/{database}/documents {
        \(body)
        } }
        """)
    let request = DocumentRulesRequest(
      method, DocumentKey(unchecked: path), in: "(default)",
      at: DocumentTimestamp(uncheckedMicroseconds: 0), auth: .null, resource: resource,
      change: change)
    let state = DocumentRulesState(
      before: { $0.id == "old" ? ["n": 1] : nil }, after: { $0.id == "new" ? ["n": 2] : nil })
    return rules.judge(request, state: state, budget: &budget)
  }

  private func allows(
    _ body: String, _ method: DocumentRuleMethods = .get, _ path: String = "a/b", version: Int = 2
  ) throws -> Bool {
    var budget = DocumentRulesBudget.single
    return try verdict(body, method, path, version: version, budget: &budget).isAllowed
  }

  @Test(
    "a path matches as a whole",
    arguments: [
      ("match /a/{x} { allow get; }", "a/b", true), ("match /a/b { allow get; }", "a/b", true),
      ("match /a/c { allow get; }", "a/b", false),
      ("match /a/{x} { allow get; }", "a/b/c/d", false),
      ("match /a/{x}/c/{y} { allow get: if x == 'b' && y == 'd'; }", "a/b/c/d", true),
      ("match /a/{x} { match /c/{y} { allow get: if x + y == 'bd'; } }", "a/b/c/d", true),
      ("match /a/{x} { allow get; match /c/{y} { allow get: if false; } }", "a/b/c/d", false),
      ("match /{p=**} { allow get: if p == /a/b; }", "a/b", true),
      ("match /{p=**} { allow get: if p[3] == 'd'; }", "a/b/c/d", true),
      ("match /{p=**}/c/{y} { allow get: if p == /a/b && y == 'd'; }", "a/b/c/d", true),
      ("match /{p=**}/a/{y} { allow get; }", "a/b", true),
      ("match /a/{p=**} { allow get: if p[0] == 'b'; }", "a/b", true),
      ("match /a/b/{p=**} { allow get; }", "a/b", true),
      ("match /{x}/{x} { allow get: if x == 'b'; }", "a/b", true),
      ("match /a/{b} { function f() { return b == 'b'; } allow get: if f(); }", "a/b", true),
    ])
  func matching(body: String, path: String, isAllowed: Bool) throws {
    #expect(try allows(body, .get, path) == isAllowed)
  }

  @Test("in version 1 a recursive wildcard takes at least one segment")
  func versions() throws {
    let body = "match /a/b/{p=**} { allow get; }"
    #expect(try allows(body, version: 2))
    #expect(try !allows(body, version: 1))
    #expect(try allows(body, .get, "a/b/c/d", version: 1))
  }

  @Test("read is get and list, write is create, update and delete")
  func methods() throws {
    for method in [DocumentRuleMethods.get, .list] {
      #expect(try allows("match /a/b { allow read; }", method))
      #expect(try !allows("match /a/b { allow write; }", method))
    }
    for method in [DocumentRuleMethods.create, .update, .delete] {
      #expect(try allows("match /a/b { allow write; }", method))
      #expect(try !allows("match /a/b { allow read, fetch; }", method))
    }
    #expect(try allows("match /a/b { allow get, create: if true }", .create))
    #expect(try !allows("match /a/b { allow get, create: if true }", .update))
  }

  @Test("services other than the one for documents never apply")
  func services() throws {
    let rules = try DocumentRules(
      source:
        "service firebase.storage { match /databases/{d}/documents { match /{p=**} { allow get; } } }"
    )
    #expect(rules.matches.isEmpty)
  }

  @Test("an error in one statement leaves the others; the exhausted budget denies the request")
  func order() throws {
    let tree = { (leaves: Int) in
      func node(_ count: Int) -> String {
        count == 1 ? "true" : "(\(node(count / 2)) && \(node(count - count / 2)))"
      }
      return node(leaves)
    }
    func body(_ conditions: String...) -> String {
      "match /a/b { " + conditions.map { "allow get: if \($0);" }.joined() + " }"
    }
    #expect(try allows(body("1 / 0 == 1", "true")))
    #expect(try allows(body("nosuch", "false", "true")))
    #expect(try allows(body(tree(334))))
    #expect(try !allows(body(tree(335))))
    #expect(try allows(body("true", tree(335))))
    #expect(try !allows(body(tree(335), "true")))
    #expect(try !allows(body(tree(335) + " || true", "true")))
    #expect(try !allows(body(tree(200) + " && false", tree(200))))
    #expect(try allows(body(tree(335) + " && false || true").replacing("(true", with: "(false")))
  }

  @Test("bindings are evaluated when they are used, and once")
  func bindings() throws {
    #expect(
      try allows(
        """
        function f(x) { let unused = 1 / 0; let y = x + 1; let z = y + y; return z == 4; }
        match /a/b { allow get: if f(1); }
        """))
    #expect(try !allows("function f(x) { return true; } match /a/b { allow get: if f(1 / 0); }"))
    #expect(
      try allows(
        """
        function f(x) { return x; } match /a/{id} { function g(id) { return f(id) == 'q'; }
        allow get: if g('q') && f(id) == 'b'; }
        """))
  }

  @Test("documents are counted once for each operation and each request")
  func budgets() throws {
    func reads(_ range: Range<Int>, _ function: String = "exists") -> String {
      let terms = range.map { "!\(function)(/databases/$(database)/documents/d/x\($0))" }
      return "match /a/b { allow get: if \(terms.joined(separator: " && ")); }"
    }
    #expect(try allows(reads(0..<10)))
    #expect(try !allows(reads(0..<11)))
    #expect(try allows(reads(0..<10).replacing("x9", with: "x1")))
    var query = DocumentRulesBudget.query
    #expect(try verdict(reads(0..<20), budget: &query).isAllowed)
    var next = DocumentRulesBudget.query
    #expect(try !verdict(reads(0..<21), budget: &next).isAllowed)
    var several = DocumentRulesBudget.several
    #expect(try verdict(reads(0..<10), budget: &several).isAllowed)
    #expect(try verdict(reads(10..<20), budget: &several).isAllowed)
    #expect(try verdict(reads(5..<15), budget: &several).isAllowed)
    #expect(try !verdict(reads(20..<21), budget: &several).isAllowed)
    #expect(several.reads.count == 20)
  }

  @Test("a verdict names the documents it depends on, found or not")
  func readSet() throws {
    var budget = DocumentRulesBudget.single
    let found = try verdict(
      """
      match /a/b { allow get: if get(/databases/$(database)/documents/d/old).data.n == 1
        && getAfter(/databases/$(database)/documents/d/new).data.n == 2
        && !exists(/databases/$(database)/documents/d/none)
        && get(/databases/$(database)/documents/d/old).id == 'old'; }
      """, budget: &budget)
    #expect(found.isAllowed)
    #expect(found.reads.map(\.text) == ["d/old", "d/new", "d/none"])
  }

  @Test("a denial says which statements did not allow, and why")
  func explanations() throws {
    func text(_ condition: String, _ method: DocumentRuleMethods = .get) throws -> String {
      var budget = DocumentRulesBudget.single
      return try verdict(
        "match /a/b { allow read, write: if \(condition); }", method, resource: ["n": 1],
        budget: &budget
      ).denialText
    }
    #expect(try text("1 == 2") == "\nfalse for 'get' @ L3")
    #expect(
      try text("resource.data.q == 2", .update)
        == "\nevaluation error at L3:36 for 'update' @ L3, "
        + "Property q is undefined on object. for 'update' @ L3")
    #expect(try text("null.q == 2").hasSuffix("Null value error. for 'get' @ L3"))
    #expect(
      try text("null <= 1").contains(
        "Received: null <= int. Expected: string <= string, bytes <= bytes, int <= int, "
          + "float <= float, duration <= duration, timestamp <= timestamp, constraint <= any, "
          + "any <= constraint. for 'get' @ L3"))
    #expect(try text("nosuch").contains("Variable not found error: Name: [nosuch]."))
    #expect(try text("nosuch(1)").contains("Function not found error: Name: [nosuch]."))
    #expect(try text("exists(/a/b)").contains("Service call error. Function: [exists]"))
    var budget = DocumentRulesBudget.single
    #expect(
      try verdict("match /c/d { allow get; }", budget: &budget).denialText
        == "\nNo matching allow statements")
  }

  @Test("many recursive wildcards end in a denial, not in endless work")
  func wildcards() throws {
    let depth = 9
    let open = (0..<depth).map { "match /{p\($0)=**} {" }.joined()
    let body = open + "match /never { allow get; }" + String(repeating: "}", count: depth)
    let path = Array(repeating: "x", count: 60).joined(separator: "/")
    #expect(try !allows(body, .get, path))
  }

  @Test("a text that grows by doubling ends in an error")
  func growth() throws {
    let lets = (1..<19).map { "let v\($0) = v\($0 - 1) + v\($0 - 1);" }.joined()
    let functions = """
      function f(v0) { \(lets) return v18; } function g(x) { return f(f(x)).size() > 0; }
      match /a/b { allow get: if g('abcdefgh'); }
      """
    #expect(try !allows(functions))
  }
}

@Suite("Compilation of rules for documents")
struct DocumentRulesCompilationTests {
  private func problem(_ body: String, version: String = "2") -> String? {
    do {
      _ = try DocumentRules(
        source: """
          rules_version = '\(version)';
          service cloud.firestore { match /databases/{database}/documents {
          \(body)
          } }
          """)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("limits are where the service has them")
  func limits() {
    func condition(_ text: String) -> String? { problem("match /a/b { allow get: if \(text); }") }
    func nested(_ open: String, _ inner: String, _ close: String, _ count: Int) -> String {
      String(repeating: open, count: count) + inner + String(repeating: close, count: count)
    }
    #expect(condition(nested("(", "true", ")", 98)) == nil)
    #expect(condition(nested("(", "true", ")", 99)) != nil)
    #expect(condition(nested("!", "true", "", 98)) == nil)
    #expect(condition(nested("!", "true", "", 99)) != nil)
    #expect(condition(nested("[", "", "]", 98) + " != null") == nil)
    #expect(condition(nested("[", "", "]", 99) + " != null") != nil)
    #expect(condition(nested("{'a': ", "1", "}", 48) + " != null") == nil)
    #expect(condition(nested("{'a': ", "1", "}", 49) + " != null") != nil)
    #expect(condition("true" + String(repeating: " && true", count: 500)) == nil)
    #expect(condition("1" + String(repeating: " + 1", count: 97) + " == 1") == nil)
    #expect(condition("1" + String(repeating: " + 1", count: 98) + " == 1") != nil)
    #expect(condition(nested("(", "true", "", 100_000)) != nil)
    #expect(condition(nested("[", "", "", 100_000)) != nil)
    #expect(condition(nested("!", "", "", 100_000)) != nil)
    #expect(condition(nested("-", "", "", 100_000)) != nil)
    #expect(condition(nested("true ? true : ", "true", "", 200)) != nil)
    let names = { (count: Int) in (0..<count).map { "a\($0)" }.joined(separator: ", ") }
    #expect(problem("function f(\(names(7))) { return a0; }") == nil)
    #expect(problem("function f(\(names(8))) { return a0; }") != nil)
    let lets = { (count: Int) in (0..<count).map { "let v\($0) = 1; " }.joined() }
    #expect(problem("function f() { \(lets(11)) return 1; }") == nil)
    #expect(problem("function f() { \(lets(20)) return 1; }") != nil)
    let segments = { (count: Int) in (0..<count).map { "/s\($0)/{c\($0)}" }.joined() }
    #expect(problem("match \(segments(19)) { allow get; }") == nil)
    #expect(problem("match \(segments(20)) { allow get; }") != nil)
    #expect(problem(nested("match /a/b { ", "allow get;", "}", 10)) == nil)
    #expect(problem(nested("match /a/b { ", "allow get;", "}", 11)) != nil)
    let filler = String(repeating: " ", count: DocumentRulesLimits.sourceBytes)
    #expect(problem(filler) != nil)
  }

  @Test("problems say what and where")
  func texts() {
    #expect(problem("function r(n) { return r(n); }") == "L3:10 Recursive call is not allowed.")
    #expect(
      problem("function p() { return q(); }\nfunction q() { return p(); }")
        == "L3:10 Recursive call is not allowed.")
    #expect(
      problem("function d() { return 1; }\nfunction d() { return 2; }")
        == "L4:10 Duplicate function definition: d.")
    #expect(
      problem("match /a/b { allow get: if ; }")
        == "L3:28 Missing conditional expression after 'if'.")
    #expect(problem("match /a/b { allow get: if 1 +; }")?.hasPrefix("L3:31 Unexpected ';'") == true)
    #expect(
      problem("match /a/b { allow get: if 'a'.matches('('); }")
        == "L3:40 Invalid regular expression: missing ).")
    #expect(problem("", version: "3") == "L1:17 Invalid rules version.")
    #expect(problem("match /{a=**}/b/{c=**} { allow get; }") != nil)
    #expect(problem("match /{a=**}/b { allow get; }", version: "1") != nil)
    #expect(problem("match /a/{b=**} { allow get; }", version: "1") == nil)
    #expect(problem("nonsense") != nil)
    #expect(problem("match a { }") != nil)
    #expect(problem("match /a//b { }") != nil)
    #expect(problem("/* open") != nil)
    #expect(problem("match /a/b { allow get: if 'open; }") != nil)
    #expect(problem("match /a/b { allow get: if 1 ? 2; }") != nil)
    #expect(problem("match /a/b { allow get if true; }") != nil)
    #expect(problem("match /a/b { allow : if true; }") != nil)
    #expect(problem("function f() { }") != nil)
    #expect(problem("function f() { return 1 }") != nil)
    #expect(throws: DocumentRulesError.self) { try DocumentRules(source: [0xFF, 0xFE]) }
  }

  @Test("slips that compile are warnings")
  func warnings() throws {
    let rules = try DocumentRules(
      source: """
        service cloud.firestore { match /databases/{database}/documents {
        function unused() { return true; }
        function used(request) { return request; }
        match /a/{resource} { allow get: if used(true) }
        } }
        """)
    #expect(rules.version == 1)
    #expect(
      rules.warnings.map(\.description) == [
        "L2:10 Unused function: unused.", "L3:10 Invalid variable name: request.",
        "L4:1 Invalid variable name: resource.",
      ])
    #expect(rules.allowCount == 1)
    #expect(DocumentRules.recognizes(Array("// c\nservice a {}".utf8)))
    #expect(!DocumentRules.recognizes(Array(#"{"rules": {}}"#.utf8)))
  }
}
