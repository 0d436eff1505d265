import TernCore
import TernPresence
import TernSecurity
import TernStorage
import TernTreeWire
import Testing

@testable import TernServer

struct SessionTests {
  func left(_ path: String, _ node: TreeNode) throws -> TreeRequest {
    .onDisconnectSet(try TreePath(path), node)
  }

  @Test("what was left happens when the link ends, once")
  func disconnect() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    _ = try bench.ask(2, bench.listen("p"))
    let at = TreeNode(.serverValue(.timestamp))
    #expect(
      try bench.ask(1, left("p/me", json(#"{"s":"off"}"#)), left("p/me/at", at)).map(\.brief)
        == ["ok", "ok"])
    #expect(bench.take(2).isEmpty)
    try bench.run([.closed(slot: 1)])
    #expect(bench.take(2).map(\.brief) == [#"put p/me {"at":1000000,"s":"off"}"#])
    try bench.run([.closed(slot: 1)])
    #expect(bench.take(2).isEmpty)
    #expect(try MachineBench(store: bench.store).presenceIsEmpty)
  }

  @Test("taking back a child leaves the rest; what was taken back never fires")
  func cancel() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    _ = try bench.ask(2, bench.put("me", json(#"{"child":"orig","old":1}"#)))
    _ = try bench.ask(
      1, left("me", json(#"{"child":"new","parent":true}"#)),
      .onDisconnectCancel(TreePath("me/child")))
    try bench.run([.closed(slot: 1)])
    #expect(try bench.get(2, "me") == json(#"{"child":"orig","old":1,"parent":true}"#))
    try bench.open(3)
    _ = try bench.ask(3, left("x", json("1")), .onDisconnectCancel(.root))
    try bench.run([.closed(slot: 3)])
    #expect(try bench.get(2, "x") == .empty)
  }

  @Test("a session at its limit takes back all that it left, in any order", arguments: [1, 7])
  func cancelAll(step: Int) throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    let count = 1_000
    for number in 0..<count {
      #expect(try bench.ask(1, left("all/n\(number)", json("1"))).map(\.brief) == ["ok"])
    }
    #expect(try bench.ask(1, left("more", json("1"))).map(\.brief) == ["failed"])
    for number in 0..<count {
      let path = try TreePath("all/n\(number * step % count)")
      try #require(try bench.ask(1, .onDisconnectCancel(path)).map(\.brief) == ["ok"])
      // What was taken back makes room.
      if number == 500 {
        #expect(try bench.ask(1, left("more", json("1"))).map(\.brief) == ["ok"])
        #expect(try bench.ask(1, .onDisconnectCancel(TreePath("more"))).map(\.brief) == ["ok"])
      }
    }
    #expect(try MachineBench(store: bench.store).presenceIsEmpty)
    try bench.run([.closed(slot: 1)])
    #expect(try bench.get(2, "all") == .empty)
  }

  @Test("taking back a part of much that was left does not read all of it")
  func cancelMuch() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    let long = TreeNode(.string(String(repeating: "x", count: 50_000)))
    _ = try bench.ask(1, left("p/a", long), left("p/b", long))
    for path in ["p/a", "p/b"] {
      #expect(try bench.ask(1, .onDisconnectCancel(TreePath(path))).map(\.brief) == ["ok"])
      let changes = bench.lastCommits.flatMap(\.mutations)
      #expect(changes.count == 1, "a row, whatever it leaves")
      guard case .put? = changes.first else {
        Issue.record("a cancellation is stored")
        return
      }
    }
    try bench.run([.closed(slot: 1)])
    #expect(try bench.get(2, "p") == .empty)
    #expect(try MachineBench(store: bench.store).presenceIsEmpty)
    try bench.open(3)
    _ = try bench.ask(3, left("p/a", long), left("p/b", long), .onDisconnectCancel(.root))
    #expect(try MachineBench(store: bench.store).presenceIsEmpty)
  }

  @Test("a successor finds the deferred writes done before its own")
  func successor() throws {
    let bench = try MachineBench()
    let first = try bench.open(1)
    try bench.open(9)
    _ = try bench.ask(9, bench.listen("p"))
    _ = try bench.ask(1, left("p/me", json(#""off""#)))
    let opening = TreeOpening(lastSession: first.session)
    try bench.run([
      .opened(slot: 2, isLocal: true),
      .frame(slot: 2, TreeClientMessage.open(opening).encode()),
      bench.frame(2, bench.put("p/me", json(#""on""#))),
    ])
    #expect(bench.closed[1] == .replaced)
    #expect(bench.take(9).map(\.brief) == [#"put p/me "off""#, #"put p/me "on""#])
    try bench.run([.closed(slot: 1)])
    #expect(bench.take(9).isEmpty)
  }

  @Test("a session has the name that its node gives it, and takes the place of another link's")
  func names() throws {
    let bench = try MachineBench()
    let first = try bench.open(1)
    let own = String(repeating: "ab", count: 16)
    #expect(try bench.open(2, name: own).session == own)
    #expect(try bench.open(3, name: first.session).session == first.session)
    #expect(bench.closed == [1: .replaced])
    #expect(try bench.open(5, name: "no name").session != "no name")
    // What the other link left happens before anything that the session does over the new one.
    try bench.open(9)
    _ = try bench.ask(9, bench.listen("p"))
    _ = try bench.ask(2, left("p", json("1")))
    #expect(try bench.open(4, name: own).session == own)
    #expect(bench.closed[2] == .replaced)
    #expect(bench.take(9).map(\.brief) == ["put p 1"])
    // By its name its client's next session finds what it left.
    _ = try bench.ask(4, left("p", json("2")))
    try bench.open(6, last: own)
    #expect(bench.closed[4] == .replaced)
    #expect(bench.take(9).map(\.brief) == ["put p 2"])
    try bench.run([.closed(slot: 2)])
    #expect(bench.take(9).isEmpty)
  }

  @Test("what was left under one stream happens before the same client writes under another")
  func successorWithNewStream() throws {
    let bench = try MachineBench()
    try bench.open(1, stream: 7)
    try bench.open(9)
    _ = try bench.ask(9, bench.listen("p"))
    _ = try bench.ask(1, left("p", json("1")))
    try bench.open(2, stream: 8, origin: 7)
    #expect(bench.closed == [1: .replaced])
    #expect(bench.take(9).map(\.brief) == ["put p 1"])

    // Also when the server was restarted in between.
    _ = try bench.ask(2, left("p", json("2")))
    let after = try MachineBench(store: bench.store, seed: 1)
    try after.open(9)
    _ = try after.ask(9, after.listen("p"))
    try after.open(3, stream: 9, origin: 7)
    #expect(after.take(9).map(\.brief) == ["put p 2"])
  }

  @Test("an opening that was under way for long ends no newer session")
  func lateOpening() throws {
    let bench = try MachineBench()
    let opening = ServerInput.frame(
      slot: 1, TreeClientMessage.open(TreeOpening(stream: 7)).encode())
    try bench.run([.opened(slot: 1, isLocal: true)])
    try bench.open(2, stream: 7)
    _ = try bench.ask(2, bench.listen("p"))

    // The client has left link 1, so no answer comes from there.
    try bench.run([opening])
    #expect(bench.take(1) == [.inquiry])
    #expect(bench.closed.isEmpty)
    #expect(try bench.ask(2, bench.put("p", json("1"))).map(\.brief) == ["put p 1", "ok"])

    // Had it not left, the session would be its.
    try bench.run([opening])
    #expect(bench.closed == [2: .replaced])
    #expect(bench.take(1).count == 1)
  }

  @Test("an answer that was under way for long ends no newer session either")
  func lateAnswer() throws {
    let bench = try MachineBench()
    try bench.open(1, stream: 7)
    let opening = ServerInput.frame(
      slot: 2, TreeClientMessage.open(TreeOpening(stream: 7)).encode())
    try bench.run([.opened(slot: 2, isLocal: true), opening])
    #expect(bench.take(2) == [.inquiry])
    try bench.open(3, stream: 7)
    #expect(bench.closed == [1: .replaced])
    try bench.run([opening])
    #expect(bench.take(2) == [.inquiry])
    #expect(bench.closed == [1: .replaced])
  }

  @Test("D02: what was left survives the server and fires when the grace ends")
  func survivesRestart() throws {
    let before = try MachineBench()
    let first = try before.open(1)
    let other = try before.open(2)
    _ = try before.ask(1, left("p/a", json(#""off""#)))
    _ = try before.ask(2, left("p/b", json(#""off""#)))

    // The server is gone without a word; the next one takes up its store.
    let after = try MachineBench(store: before.store, seed: 1)
    try after.open(3)
    _ = try after.ask(3, after.listen("p"))
    try after.open(4, last: first.session)
    #expect(after.take(3).map(\.brief) == [#"put p/a "off""#])
    after.uptime = 29_999
    try after.run([.tick])
    #expect(after.take(3).isEmpty)
    after.uptime = 30_000
    try after.run([.tick, .tick])
    #expect(after.take(3).map(\.brief) == [#"put p/b "off""#])
    try after.open(5, last: other.session)
    #expect(after.take(3).isEmpty)
    #expect(try MachineBench(store: before.store).presenceIsEmpty)
  }

  @Test("a silent client is taken for dead")
  func silence() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    _ = try bench.ask(2, bench.listen("p"))
    _ = try bench.ask(1, left("p", json("1")))
    bench.uptime = 60_000
    try bench.run([.frame(slot: 2, TreeClientMessage.ping.encode()), .tick])
    #expect(bench.closed.isEmpty)
    bench.uptime = 60_001
    try bench.run([.tick])
    #expect(bench.closed == [1: .silent(.seconds(60))])
    #expect(bench.take(2).map(\.brief) == ["pong", "put p 1"])
  }

  @Test("deferred writes are judged when they are left and when they fire")
  func judgedTwice() throws {
    let bench = try MachineBench(authorizer: NoSecrets())
    try bench.open(1)
    try bench.open(2)
    #expect(try bench.ask(1, left("secret", json("1"))).map(\.brief) == ["permission_denied"])
    try bench.run([.closed(slot: 1)])
    #expect(try bench.get(2, "secret") == .empty)
  }

  @Test("many deferred writes are summed up")
  func summary() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    for index in 0..<200 { _ = try bench.ask(1, left("p", TreeNode(.integer(Int64(index))))) }
    let id = try #require(bench.machine.sessions[1]?.id)
    #expect((bench.machine.tree.disconnects.operations.estate(of: id)?.writes.count ?? 0) < 70)
    let after = try MachineBench(store: bench.store, seed: 1)
    after.uptime = 30_000
    try after.open(2)
    try after.run([.tick])
    #expect(try after.get(2, "p") == json("199"))
  }

  @Test("garbage ends its own session and no other")
  func garbage() throws {
    let bench = try MachineBench()
    try bench.open(1)
    try bench.open(2)
    for text in ["", "{", "[1]", #"{"t":"d"}"#, "\u{0}\u{1}", #"{"t":"d","d":{"a":"p"}}"#] {
      let slot = 10 + text.utf8.count
      try bench.run([
        .opened(slot: slot, isLocal: true), .frame(slot: slot, Array(text.utf8)),
      ])
      #expect(bench.closed[slot] != nil, "\(text.debugDescription)")
    }
    try bench.run([.opened(slot: 90, isLocal: true), bench.frame(90, .unauth)])
    #expect(bench.closed[90] == .outOfTurn("a request"))
    try bench.run([
      .opened(slot: 91, isLocal: true),
      .frame(slot: 91, TreeClientMessage.open(TreeOpening(namespace: "")).encode()),
    ])
    #expect(bench.closed[91] == .invalidNamespace(""))
    #expect(
      try bench.ask(1, .unknown(action: "zz"), .stats(.null)).map(\.brief) == ["failed", "ok"])
    #expect(bench.closed[1] == nil)
  }

  @Test("another identity keeps only the listens it may have")
  func identities() throws {
    let bench = try MachineBench(authorizer: NoSecrets(), authenticator: Names())
    try bench.open(1)
    #expect(
      try bench.ask(1, .auth(TreeCredential(.user, token: "bad"))).map(\.brief) == ["invalid_token"]
    )
    let answer = try bench.response(1, .auth(TreeCredential(.user, token: "ann")))
    #expect(try answer?.value()["auth"]?["uid"]?.text == "ann")
    #expect(try bench.response(1, bench.listen("private"))?.status == .ok)
    #expect(try bench.response(1, bench.listen("open"))?.status == .ok)
    #expect(try bench.ask(1, .unauth).map(\.brief) == ["ok", "revoked private"])
  }
}

extension MachineBench {
  fileprivate var presenceIsEmpty: Bool {
    machine.tree.disconnects.operations.due(at: .max).isEmpty
  }
}

/// Believes every name but one.
private struct Names: Authenticator {
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    if credential.token == "bad" { throw .invalid(reason: "bad") }
    return Authentication(.user(id: credential.token, claims: .object([])))
  }
}
