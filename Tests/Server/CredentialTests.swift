import Synchronization
import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

@Suite("credentials") struct CredentialTests {
  private static let day = try? TreeRules(#"{"rules": {".read": "auth != null"}}"#)

  private func bench() throws -> MachineBench {
    let rules = try #require(Self.day)
    return try MachineBench(authorizer: RulesAuthorizer(rules), authenticator: Passes())
  }

  private func show(_ token: String) -> TreeRequest { .auth(TreeCredential(.user, token: token)) }

  @Test("a session ends with a word when its token does, and its listens are not taken back")
  func expiry() throws {
    let bench = try bench()
    try bench.open(1)
    // The bench's clock shows 1,000 s.
    #expect(try bench.response(1, show("1060"))?.value()["expires"] == .integer(1_060))
    #expect(try bench.response(1, bench.listen("a"))?.status == .ok)
    bench.uptime = 59_999
    try bench.run([.frame(slot: 1, TreeClientMessage.keepAlive.encode()), .tick])
    #expect(bench.take(1).isEmpty)
    bench.uptime = 60_000
    try bench.run([.frame(slot: 1, TreeClientMessage.keepAlive.encode()), .tick])
    let said = bench.take(1)
    #expect(said.first == .authRevoked(.expiredToken, detail: "The token has expired."))
    #expect(!said.map(\.brief).contains("revoked a"))
    #expect(bench.closed[1] == .credentialEnded("The token has expired."))
  }

  @Test("a clock that jumps ends no session")
  func clockJumps() throws {
    let bench = try bench()
    try bench.open(1)
    try bench.ask(1, show("1060"))
    bench.now += 10_000_000
    try bench.run([.frame(slot: 1, TreeClientMessage.keepAlive.encode()), .tick])
    #expect(bench.take(1).isEmpty && bench.closed[1] == nil)
  }

  @Test("a token that is shown in time carries the session on, with its listens")
  func refresh() throws {
    let bench = try bench()
    try bench.open(1)
    try bench.ask(1, show("1060"))
    try bench.ask(1, bench.listen("a"))
    #expect(try bench.ask(1, show("1120")).map(\.brief) == ["ok"])
    bench.uptime = 61_000
    try bench.run([.frame(slot: 1, TreeClientMessage.keepAlive.encode()), .tick])
    #expect(bench.take(1).isEmpty)
    #expect(try bench.ask(1, show("expired")).map(\.brief) == ["expired_token"])
    #expect(try bench.response(1, .get("a", .all))?.status == .ok)
    #expect(try bench.ask(1, .unauth).map(\.brief) == ["ok", "revoked a"])
    bench.uptime = 70_000_000
    try bench.run([.frame(slot: 1, TreeClientMessage.keepAlive.encode()), .tick])
    #expect(bench.closed[1] == nil)
  }

  @Test("a token is judged once a connection, whatever is asked over it")
  func judgedOnce() throws {
    let authenticator = Passes()
    let rules = try #require(Self.day)
    let bench = try MachineBench(
      authorizer: RulesAuthorizer(rules), authenticator: authenticator)
    for slot in 1...2 {
      try bench.open(slot)
      try bench.ask(slot, show("9999"))
      for number in 0..<100 {
        let path = try TreePath("a/n\(number)")
        #expect(try bench.response(slot, .get(path, .all))?.status == .ok)
        #expect(try bench.response(slot, bench.listen(path.text))?.status == .ok)
        try bench.run([.tick])
      }
    }
    #expect(authenticator.judged.withLock { $0 } == 2)
  }

  @Test("what was revoked meanwhile ends, too")
  func revocation() throws {
    let authenticator = Passes()
    let bench = try MachineBench(authenticator: authenticator)
    try bench.open(1)
    try bench.open(2)
    try bench.ask(1, show("9999"))
    try bench.ask(2, show("8888"))
    authenticator.revoked.withLock { $0 = "9999" }
    try bench.run([.tick])
    #expect(bench.take(1).first == .authRevoked(.invalidToken, detail: "revoked"))
    #expect(bench.closed[1] == .credentialEnded("revoked"))
    #expect(bench.closed[2] == nil)
  }
}

/// Accepts any number as the token of a user that expires at that second.
private final class Passes: Authenticator {
  let revoked = Mutex("")
  /// The number of credentials that were examined.
  let judged = Mutex(0)

  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    judged.withLock { $0 += 1 }
    guard let end = Int64(credential.token) else { throw .expired(reason: "Too late.") }
    return Authentication(.user(id: credential.token, claims: .object([])), expires: end)
  }

  func revalidate(_ accepted: Authentication, now: Int64) -> AuthenticationError? {
    if case .user(let id, _) = accepted.identity, id == revoked.withLock({ $0 }) {
      return .invalid(reason: "revoked")
    }
    guard let end = accepted.ends, now >= end * 1_000 else { return nil }
    return .expired(reason: "The token has expired.")
  }
}
