import TernCore
import TernSecurity
import Testing

@testable import tern

@Suite("cases for rules of a tree") struct RulesCaseTests {
  private static let rules = """
    {"rules": {
      "users": {"$id": {
        ".read": "auth.uid === $id",
        ".write": "auth.uid === $id && newData.child('time').val() === now",
        "name": {".validate": "newData.isString()"}
      }},
      "scores": {".read": "query.orderByChild === 'points' && query.limitToLast <= 10"}
    }}
    """

  private func isAllowed(_ text: String) throws -> Bool {
    let question = try RulesCase(JSONValue(parsing: text), number: 1)
    let rules = try TreeRules(Array(Self.rules.utf8))
    return try question.explanation(by: rules).verdict.isAllowed
  }

  @Test(
    "each kind of question is asked",
    arguments: [
      (#"{"read": "users/ann", "auth": {"uid": "ann"}}"#, true),
      (#"{"read": "users/ann", "auth": {"uid": "bob"}}"#, false),
      (#"{"read": "users/ann"}"#, false), (#"{"read": "/"}"#, false),
      (#"{"write": "users/ann", "value": {"time": 5}, "now": 5, "auth": {"uid": "ann"}}"#, true),
      (#"{"write": "users/ann", "value": {"time": 4}, "now": 5, "auth": {"uid": "ann"}}"#, false),
      (
        #"{"write": "users/ann/name", "value": "A", "now": 5, "auth": {"uid": "ann"}, "#
          + #""data": {"users": {"ann": {"time": 5}}}}"#, true
      ),
      (
        #"{"write": "users/ann", "value": {"time": {".sv": "timestamp"}}, "now": 7, "#
          + #""auth": {"uid": "ann"}}"#, true
      ),
      (
        #"{"update": "users", "values": {"ann/time": 1, "ann/name": "A"}, "now": 1, "#
          + #""auth": {"uid": "ann"}}"#, true
      ),
      (
        #"{"update": "users", "values": {"ann/time": 1, "ann/name": 3}, "now": 1, "#
          + #""auth": {"uid": "ann"}}"#, false
      ),
      (#"{"read": "scores", "query": {"limitToLast": 10, "orderBy": "points"}}"#, true),
      (#"{"read": "scores", "query": {"limitToLast": 11, "orderBy": "points"}}"#, false),
      (#"{"read": "scores", "query": {"orderBy": "$key", "limitToLast": 5}}"#, false),
      (#"{"read": "scores", "query": null}"#, false),
    ])
  func questions(text: String, expected: Bool) throws {
    #expect(try isAllowed(text) == expected)
  }

  @Test("a case has a name, a number otherwise, and perhaps an expectation")
  func members() throws {
    let read = { (rest: String) in
      try RulesCase(JSONValue(parsing: #"{"read": "a""# + rest + "}"), number: 7)
    }
    #expect(try read("").name == "case 7")
    #expect(try read(#", "name": "x""#).name == "x")
    #expect(try read("").isAllowed == nil)
    #expect(try read(#", "allow": true"#).isAllowed == true)
    #expect(try read(#", "allow": false"#).isAllowed == false)
    #expect(try read(#", "allow": "yes""#).isAllowed == nil)
  }

  @Test(
    "what is no case says what is wrong",
    arguments: [
      ("1", "case 3 is no object"), ("[]", "case 3 is no object"),
      (#"{"reed": "a"}"#, "case 3 has \"reed\"; known are name, read"),
      ("{}", "\"read\", \"write\" or \"update\""), (#"{"read": 1}"#, "is missing"),
      (#"{"name": "n", "update": "a"}"#, "n: \"read\""),
      (#"{"update": "a", "values": 1}"#, "missing"),
      (#"{"name": "n", "read": "a.b"}"#, "n: read: "), (#"{"write": "a$", "value": 1}"#, "write: "),
      (#"{"write": "a", "value": {"b#": 1}}"#, "write: "),
      (#"{"update": "a", "values": {"b": 1, "b/c": 2}}"#, "update: "),
      (#"{"read": "a", "data": {"x/y": 1}}"#, "data: "),
      (#"{"read": "a", "query": 1}"#, "\"query\" is no object"),
      (#"{"read": "a", "query": {"first": 1}}"#, "\"query\" has \"first\" of 1; known are orderBy"),
      (
        #"{"read": "a", "query": {"limitToFirst": "1"}}"#, "\"query\" has \"limitToFirst\" of \"1\""
      ),
      (#"{"read": "a", "query": {"limitToFirst": 0}}"#, "limitToFirst: "),
      (#"{"read": "a", "query": {"limitToFirst": 1, "limitToLast": 1}}"#, "limitToLast: "),
      (#"{"read": "a", "query": {"orderBy": "$key", "startAt": 1}}"#, "startAt: "),
      (#"{"read": "a", "query": {"startAt": 1, "equalTo": 1}}"#, "equalTo: "),
      (#"{"read": "a", "query": {"orderBy": ""}}"#, "orderBy: "),
    ])
  func mistakes(text: String, message: String) {
    let failure = failure { try RulesCase(JSONValue(parsing: text), number: 3) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }
}

@Suite("cases for rules of documents") struct DocumentRulesCaseTests {
  private static let rules = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        match /users/{id} {
          allow get: if request.auth.uid == id;
          allow create: if request.resource.data.at == request.time.toMillis();
          allow update: if request.resource.data.keys().hasAll(['a', 'b'])
            && resource.data.a == 1;
          allow delete: if exists(/databases/$(database)/documents/locks/$(id));
        }
        match /checked/{id} {
          allow write: if getAfter(/databases/$(database)/documents/checked/$(id)).data.n > 0;
        }
      }
    }
    """

  private func isAllowed(_ text: String) throws -> Bool {
    let question = try DocumentRulesCase(JSONValue(parsing: text), number: 1)
    return try question.verdict(by: DocumentRules(source: Array(Self.rules.utf8))).isAllowed
  }

  @Test(
    "each kind of question is asked, by its method",
    arguments: [
      (#"{"get": "users/ann", "auth": {"uid": "ann"}}"#, true),
      (#"{"get": "users/ann", "auth": {"uid": "bob"}}"#, false), (#"{"get": "users/ann"}"#, false),
      (#"{"set": "users/x", "value": {"at": 5}, "now": 5}"#, true),
      (#"{"set": "users/x", "value": {"at": 5}, "now": 6}"#, false),
      (#"{"set": "users/x", "value": {"a": 2, "b": 1}, "documents": {"users/x": {"a": 1}}}"#, true),
      (#"{"set": "users/x", "value": {"b": 1}, "documents": {"users/x": {"a": 1}}}"#, false),
      (#"{"update": "users/x", "value": {"b": 1}, "documents": {"users/x": {"a": 1}}}"#, true),
      (#"{"update": "users/x", "value": {"b": 1}, "documents": {"users/x": {"a": 2}}}"#, false),
      (#"{"delete": "users/x", "documents": {"users/x": {}, "locks/x": {}}}"#, true),
      (#"{"delete": "users/x", "documents": {"users/x": {}}}"#, false),
      (#"{"set": "checked/x", "value": {"n": 1}}"#, true),
      (#"{"set": "checked/x", "value": {"n": 0}, "documents": {"checked/x": {"n": 9}}}"#, false),
      (#"{"get": "other/x", "auth": {"uid": "ann"}}"#, false),
    ])
  func questions(text: String, expected: Bool) throws {
    #expect(try isAllowed(text) == expected)
  }

  @Test(
    "what is no case says what is wrong",
    arguments: [
      ("1", "case 1 is no object"), (#"{"read": "a/b"}"#, "case 1 has \"read\"; known are get"),
      ("{}", "case 1: \"get\""), (#"{"name": "n"}"#, "n: \"get\""), (#"{"get": 1}"#, "is missing"),
      (#"{"get": "a"}"#, "\"a\" is no path of a document"), (#"{"get": ""}"#, "is no path"),
      (#"{"get": "a/b", "documents": {"c": {}}}"#, "\"c\" is no path of a document"),
      (#"{"get": "a/b", "documents": {"c/d": 1}}"#, "case 1: "),
      (#"{"set": "a/b", "value": []}"#, "case 1: "),
      (#"{"get": "a/b", "now": 9223372036854775807}"#, "\"now\" is out of range"),
    ])
  func mistakes(text: String, message: String) {
    let failure = failure { try isAllowed(text) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }
}
