import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import TernStorageMemory
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Judging again") struct JudgingTests {
  private func rules(_ text: String) throws -> RulesAuthorizer {
    RulesAuthorizer(try TreeRules(text))
  }

  private func adopt(_ text: String, _ bench: MachineBench) throws {
    try bench.run([.adopt(ticket: 7, ServerAccess(tree: try rules(text)))])
    #expect(bench.answers.removeValue(forKey: 7) == .done)
  }

  private let open = #"{"rules": {".read": true, ".write": true}}"#

  @Test("other rules end the listens they would not have allowed, and no others")
  func listens() throws {
    let bench = try MachineBench(authorizer: try rules(open))
    try bench.open(1)
    try bench.open(2)
    for slot in [1, 2] {
      _ = try bench.ask(slot, bench.listen("a/x"), bench.listen("b"))
    }
    try adopt(#"{"rules": {"a": {".read": true}, "b": {".read": false, ".write": true}}}"#, bench)
    #expect(bench.take(1).map(\.brief) == ["revoked b"])
    #expect(bench.take(2).map(\.brief) == ["revoked b"])
    #expect(try bench.ask(1, bench.put("b", json("1"))).map(\.brief) == ["ok"], "nobody listens")
    #expect(try bench.ask(1, bench.put("a/x", json("1"))).map(\.brief) == ["permission_denied"])
    #expect(try bench.response(2, bench.listen("b"))?.status == .permissionDenied)
    try adopt(open, bench)
    #expect(bench.take(1).isEmpty)
    #expect(try bench.response(2, bench.listen("b"))?.status == .ok)
    #expect(try bench.ask(1, bench.put("a/x", json("1"))).map(\.brief) == ["put a/x 1", "ok"])
  }

  @Test("a database with rules of its own keeps them")
  func ownRules() throws {
    let bench = try MachineBench(
      authorizer: try rules(open), authenticator: OwnerAuthenticator())
    try bench.open(1, namespace: "own")
    try bench.open(2, namespace: "other")
    let owner = Credential(.service, token: "owner", isLocal: true)
    let own = #"{"rules": {"kept": {".read": true}}}"#
    let request = DirectRequest(
      namespace: "own", isLocal: true, credential: owner,
      .setRules(Array(own.utf8), isTrial: false))
    try bench.run([.direct(ticket: 1, request)])
    for slot in [1, 2] { _ = try bench.ask(slot, bench.listen("kept")) }
    try adopt(#"{"rules": {}}"#, bench)
    #expect(bench.take(1).isEmpty)
    #expect(bench.take(2).map(\.brief) == ["revoked kept"])
  }

  @Test("R31 what was left is judged when it happens, by the rules of that moment")
  func deferredWrites() throws {
    for (later, expected) in [(#"{"rules": {".read": true}}"#, TreeNode.empty), (open, json("1"))] {
      let bench = try MachineBench(authorizer: try rules(open))
      try bench.open(1)
      try bench.open(2)
      let left = TreeRequest.onDisconnectSet("p", json("1"))
      #expect(try bench.ask(1, left).map(\.brief) == ["ok"])
      try adopt(later, bench)
      try bench.run([.closed(slot: 1)])
      #expect(try bench.get(2, "p") == expected)
    }
  }

  @Test("R29 what may not be done is not left for later either, and its client gets an error")
  func registration() throws {
    let bench = try MachineBench(authorizer: try rules(#"{"rules": {".read": true}}"#))
    try bench.open(1)
    try bench.open(2)
    let left = TreeRequest.onDisconnectSet("p", json("1"))
    let answer = try bench.response(1, left)
    #expect(answer?.status == .permissionDenied)
    #expect(answer?.detail.hasPrefix("Permission denied [") == true)
    try adopt(open, bench)
    try bench.run([.closed(slot: 1)])
    #expect(try bench.get(2, "p") == .empty, "nothing was left")
  }

  @Test("rules see the server values of what is left as values, then and when it happens")
  func deferredServerValues() throws {
    let rules = #"""
      {"rules": {".read": true, "p": {"$who": {".write": true, "at": {
        ".validate": "newData.isNumber() && newData.val() === now"}, "n": {
        ".validate": "newData.val() === data.val() + 2"}}}}}
      """#
    let bench = try MachineBench(authorizer: try self.rules(rules))
    try bench.open(1)
    try bench.open(2)
    let at = TreeRequest.onDisconnectSet("p/ann/at", TreeNode(.serverValue(.timestamp)))
    let entry = TreeMerge.Entry(path: "at", node: TreeNode(.serverValue(.timestamp)))
    let both = TreeRequest.onDisconnectMerge("p/bob", try TreeMerge([entry]))
    #expect(try bench.ask(1, at, both).map(\.brief) == ["ok", "ok"])
    let fixed = TreeRequest.onDisconnectSet("p/ann/at", json("5"))
    #expect(try bench.ask(1, fixed).map(\.brief) == ["permission_denied"])
    bench.now += 70_000
    try bench.run([.closed(slot: 1)])
    #expect(try bench.get(2, "p") == json(#"{"ann":{"at":1070000},"bob":{"at":1070000}}"#))
  }

  @Test("rules that read are asked what is there now")
  func rulesThatRead() throws {
    let gate = #"{"rules": {".write": true, "a": {".read": "root.child('gate').val() === 1"}}}"#
    let bench = try MachineBench(authorizer: try rules(gate))
    try bench.open(1)
    _ = try bench.ask(1, bench.put("gate", json("1")), bench.listen("a"))
    _ = try bench.ask(1, bench.put("gate", json("2")))
    try adopt(gate, bench)
    #expect(bench.take(1).map(\.brief) == ["revoked a"], "judged by what is there now")
  }

  @Test("watches of documents end as listens do")
  func documents() throws {
    let bench = try DocumentBench()
    for slot in [1, 2] { try bench.link(slot) }
    let query = DocumentQuery.collection(try CollectionPath("cities"))
    for slot in [1, 2] {
      _ = try bench.listen(slot, 1, WatchTarget(id: 2, subject: .query(query.target)))
    }
    try bench.run([.adopt(ticket: 1, ServerAccess(documents: Nobody()))])
    for slot in [1, 2] {
      #expect(bench.changes(slot, 1).map(\.brief) == ["refuse [2] permissionDenied"])
    }
  }
}

/// Denies everything.
private struct Nobody: DocumentAuthorizer {
  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool { false }
}
