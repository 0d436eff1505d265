import TernCore
import TernQuery
import TernSecurity
import TernStorage
import TernStorageMemory
import TernTreeWire
import Testing

@testable import TernServer

@Suite("The users of deferred operations") struct DeferredOwnerTests {
  private func bench(over store: any OrderedStore = MemoryStore()) throws -> MachineBench {
    let rules = try TreeRules(
      #"""
      {"rules": {".read": true,
        "users": {"$uid": {".write": "auth.uid === $uid"}},
        "once": {".write": "!data.exists()"},
        "open": {".write": true}
      }}
      """#)
    return try MachineBench(
      store: store, authorizer: RulesAuthorizer(rules), authenticator: NamedUsers())
  }

  private func left(_ path: TreePath, _ node: TreeNode) -> TreeRequest {
    .onDisconnectSet(path, node)
  }

  private func signIn(_ name: String) -> TreeRequest { .auth(TreeCredential(.user, token: name)) }

  private func asksOK(_ bench: MachineBench, _ requests: TreeRequest...) throws {
    for request in requests {
      #expect(try bench.response(1, request)?.status == .ok, "\(request)")
    }
  }

  private func tree(_ bench: MachineBench) throws -> TreeNode? {
    try bench.open(2)
    return try bench.get(2, "")
  }

  @Test("what a user leaves after an anonymous one, or another user, happens as that user")
  func changeOfUser() throws {
    let bench = try bench()
    try bench.open(1)
    try asksOK(
      bench, left("open/a", 1), signIn("ann"), left("users/ann", "off"), signIn("bob"),
      left("users/bob", "off"))
    try bench.run([.closed(slot: 1)])
    #expect(try tree(bench) == ["open": ["a": 1], "users": ["ann": "off", "bob": "off"]])
  }

  @Test("what is left after an administrator signed out has no rights of the administrator")
  func administrator() throws {
    let bench = try bench()
    try bench.open(1)
    try asksOK(bench, signIn("chief"), left("anywhere", 1), .unauth, left("once", "taken"))
    try bench.open(3)
    _ = try bench.ask(3, bench.put("once", "mine"))
    try bench.run([.closed(slot: 1)])
    #expect(try tree(bench) == ["anywhere": 1, "once": "mine"])
  }

  @Test("operations of several users that overlap are made in their order, as one push")
  func overlaps() throws {
    let bench = try bench()
    try bench.open(1)
    try bench.open(9)
    _ = try bench.ask(9, bench.listen("open"))
    try asksOK(
      bench, left("open", ["a": 1, "b": 1]), signIn("ann"), left("open/a", 2), .unauth,
      left("open/b", 3), signIn("ann"), .onDisconnectCancel("open/b"))
    try bench.run([.closed(slot: 1)])
    #expect(bench.take(9).map(\.brief) == ["put open/a 2"])
  }

  @Test("what a user left does not happen after a revocation, and that of others does")
  func revocation() throws {
    for restarts in [false, true] {
      var bench = try bench()
      try bench.open(1)
      try asksOK(
        bench, signIn("ann"), left("users/ann", "off"), signIn("bob"), left("users/bob", "off"),
        .unauth, left("open/x", 1))
      let revoke = DirectRequest.Operation.revoke([RevocationChange("ann", .now)])
      let credential = Credential(.user, token: "chief", isLocal: true)
      try bench.run([
        .direct(
          ticket: 1,
          DirectRequest(namespace: "default", isLocal: true, credential: credential, revoke))
      ])
      if restarts {
        bench = try self.bench(over: bench.store)
        bench.uptime = 100_000
        try bench.run([.tick])
      } else {
        try bench.run([.closed(slot: 1)])
      }
      let expected: TreeNode = ["open": ["x": 1], "users": ["bob": "off"]]
      #expect(try tree(bench) == expected, "restarts: \(restarts)")
    }
  }

  @Test("what a user whose token expired left still happens, as that user")
  func expiry() throws {
    let bench = try bench()
    try bench.open(1)
    try asksOK(bench, signIn("ann@1010"), left("users/ann", "off"))
    bench.uptime = 20_000
    bench.now += 20_000
    try bench.run([.tick])
    #expect(bench.closed[1] != nil)
    #expect(try tree(bench) == ["users": ["ann": "off"]])
  }

  @Test("rows that older servers wrote are read, with one user for all of a session's")
  func olderRows() throws {
    let rows: [([UInt8], String)] = [
      ([0, 0, 0, 0], #"{"ns":"default","local":true,"identity":{"user":"ann","claims":{}}}"#),
      (
        [0, 0, 0, 1],
        #"{"t":"d","d":{"r":0,"a":"o","b":{"p":"/users/ann","d":"off"}}}"#
      ),
    ]
    let store = MemoryStore()
    _ = try bench(over: store)
    try store.write { transaction throws(StorageError) in
      for (number, text) in rows {
        let id = [UInt8](repeating: 0, count: 15) + [7]
        try transaction.put(Array(text.utf8), for: [0x18] + id + number)
      }
    }
    let bench = try bench(over: store)
    bench.uptime = 100_000
    try bench.run([.tick])
    #expect(try tree(bench) == ["users": ["ann": "off"]])
  }

  @Test("many operations of two users are summed up, each for its user")
  func summary() throws {
    let bench = try bench()
    try bench.open(1)
    try asksOK(bench, signIn("ann"), left("users/ann", 0), signIn("bob"))
    for count in 0..<200 { try asksOK(bench, left("users/bob", TreeNode(.integer(Int64(count))))) }
    let again = try self.bench(over: bench.store)
    again.uptime = 100_000
    try again.run([.tick])
    #expect(try tree(again) == ["users": ["ann": 0, "bob": 199]])
  }
}

/// Takes `name` or `name@end` for a token of that user, and `chief` for an administrator's.
private struct NamedUsers: Authenticator {
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    if credential.token == "chief" { return Authentication(.administrator) }
    let parts = credential.token.split(separator: "@").map(String.init)
    return Authentication(
      .user(id: parts[0], claims: .object([])), expires: parts.count > 1 ? Int64(parts[1]) : nil,
      issued: 900)
  }
}
