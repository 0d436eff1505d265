import TernCore
import TernSecurity

extension FuzzTarget {
  /// Rules for documents, and what they say about a small database.
  static let documentRules = FuzzTarget(
    "document-rules",
    texts: [
      #"""
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
        function f(a, b) { let x = a.data; return x.n + 1.5e2 > -b || x.get(['s', "t"], 'q')[0:1] == 'q'; }
        match /a/{id} { allow read, write: if request.auth.uid == id && f(resource, 3); }
        match /{path=**}/b/{id} { allow get: if path[0] in ['a', id] ? id.size() % 2 == 0 : false }
        match /a/b { allow get: if get(/databases/$(database)/documents/a/$('c')).data.n is int; }
      } }
      """#,
      #"""
      service cloud.firestore { match /databases/{d}/documents { match /{x=**} {
        allow get: if 'abc'.matches('(?i)^[a-c\\d]{2,5}(x|y)*?$') || {'k': [1, null].toSet()}.k.hasAny([1]);
        allow update: if request.resource.data.diff(resource.data).affectedKeys().hasOnly(['n']);
        allow get: if 'a1b2'.split('[0-9]').join('-') == 'a'.replace('(a)', '$1') // end
      } } }
      """#,
      #"""
      service cloud.firestore { match /databases/{d}/documents { match /a/b { /* c */
        allow get: if timestamp.date(2020, 1, 2) + duration.value(1, 'w') < request.time && !exists(/a);
        allow get: if hashing.sha256('é\u00e9'.lower()).toBase64() != math.pow(2, 0.5);
        allow get: if path('/a/{x}').bind({'x': 'b'}) == /a/b && latlng.value(1, 2).distance(latlng.value(2, 1)) > 1;
      } } }
      """#,
    ],
    words: [
      "(", ")", "&&", "||", "!", "?", ":", "==", "'", "/", "[", "]", "{", "}", ";", "match /",
      "allow",
      "function f(", "let ", "return", "$(", "=**", "request", "resource", ".data", ".size()",
      "get(",
      ".matches('(a*)*b')", "{1000}", "\\u", "\\", "/*", "*/", "//", "-", "9223372036854775808",
      " in ",
      " is int",
    ]
  ) { input in
    let rules: DocumentRules
    do throws(DocumentRulesError) {
      rules = try DocumentRules(source: input)
    } catch {
      return error.problems.isEmpty || error.description.isEmpty ? "rejected for nothing" : nil
    }
    return verdicts(of: rules) == verdicts(of: rules)
      ? nil : "two verdicts about one request"
  }

  private static func verdicts(of rules: DocumentRules) -> [String] {
    let fields: DocumentFields = ["n": 2, "s": ["t": "query"], "l": [1, "x"]]
    let auth = DocumentRuleValue(json: .object([.init("uid", .string("b"))]))
    let state = DocumentRulesState { $0.id == "c" ? fields : nil }
    let methods: [(DocumentRuleMethods, DocumentRulesRequest.Change)] = [
      (.get, .none), (.create, .write(fields)), (.update, .write(.empty)), (.delete, .write(nil)),
    ]
    return ["a/b", "a/c", "a/b/b/c"].flatMap { path in
      methods.map { method, change in
        let request = DocumentRulesRequest(
          method, DocumentKey(unchecked: path), in: "(default)",
          at: DocumentTimestamp(uncheckedMicroseconds: 7), auth: auth,
          resource: method == .create ? nil : fields, change: change)
        var budget = DocumentRulesBudget.single
        return "\(rules.judge(request, state: state, budget: &budget))"
      }
    }
  }
}
