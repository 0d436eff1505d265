import Synchronization
import TernCore
import TernQuery
import TernStorageMemory
import TernTreeReplica
import TernTreeWire
import Testing

@testable import TernClient

@Suite("Tokens and verdicts that come late")
struct LateTokenTests {
  /// Returns a token with its user, and its number among them.
  private func token(_ user: String, _ number: Int) -> String {
    let claims = #"{"uid":"\#(user)","n":\#(number)}"#
    return "e30." + String(decoding: Base64.encode(Array(claims.utf8)), as: UTF8.self) + ".s"
  }

  private func auth() throws -> ClientAuth { try ClientAuth(store: MemoryStore()) }

  @Test("a token that comes after another sign-in or a sign-out does not win")
  func lateToken() throws {
    let auth = try auth()
    let (first, second) = (token("ann", 1), token("ann", 2))
    let other = token("bob", 1)
    try auth.signIn(token: first)
    try auth.signIn(token: other)
    // The token need not be requested again either.
    #expect(auth.takes(second, insteadOf: first))
    #expect(auth.token == other && auth.currentUser?.uid == "bob")
    try auth.signOut()
    #expect(auth.takes(token("bob", 2), insteadOf: other))
    #expect(auth.token == nil && auth.state == .signedOut)
    // The same user may have brought one in the meantime, which is newer.
    let third = token("ann", 3)
    try auth.signIn(token: first)
    try auth.signIn(token: third)
    #expect(auth.takes(second, insteadOf: first))
    #expect(auth.token == third)
    // One that comes in time is taken.
    #expect(auth.takes(second, insteadOf: third))
    #expect(auth.token == second)
  }

  @Test(
    "an expiry that no date has is none",
    arguments: [
      ("9223372036854775807", nil), ("-1", nil), ("253402300800", nil), ("1e300", nil),
      ("253402300799", 253_402_300_799), ("1.5", 1), ("\"soon\"", nil),
    ] as [(String, Int64?)])
  func absurdExpiry(text: String, expires: Int64?) throws {
    let auth = try auth()
    auth.refreshTokens { _ in nil }
    let claims = #"{"uid":"ann","exp":\#(text)}"#
    let user = try auth.signIn(
      token: "e30." + String(decoding: Base64.encode(Array(claims.utf8)), as: UTF8.self) + ".s")
    #expect(user.expires == expires)
    auth.close()
  }

  @Test("that an older token is refused says nothing about who is signed in now")
  func lateRefusal() throws {
    let auth = try auth()
    try auth.signIn(token: token("ann", 1))
    try auth.signIn(token: token("bob", 1))
    auth.judged(.refused(token("ann", 1), reason: "late"))
    #expect(auth.state == .signedIn(try AuthUser(token: token("bob", 1))))
    auth.judged(.refused(token("bob", 1), reason: "now"))
    #expect(auth.state == .tokenNeeded(try AuthUser(token: token("bob", 1)), reason: "now"))
  }

  @Test("however many sign in at once, sessions end up showing the one who is signed in")
  func manyAtOnce() async throws {
    let auth = try auth()
    let sessions = [ShownTokens(), ShownTokens()]
    for session in sessions { auth.attach(session) }
    await withThrowingTaskGroup { group in
      for number in 1...50 {
        group.addTask { try auth.signIn(token: self.token("user\(number % 7)", number)) }
      }
    }
    for session in sessions {
      let shown = await session.takeCalls()
      #expect(shown.count == 51 && Set(shown).count == 51)
      #expect(shown.last == auth.token)
    }
    #expect(await sessions[0].takeCalls() == sessions[1].takeCalls())
  }

  @Test("the tree: an answer about an older token says nothing about the one that is shown")
  func treeAnswer() throws {
    let world = try World()
    world.peer.refusedTokens = ["old"]
    world.peer.holdsCredentials = true
    try world.act { $0.setCredential("old") }
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    try world.act { $0.setCredential("new") }
    #expect(world.verdicts.isEmpty && world.peer.log.isEmpty)
    try world.release()
    #expect(world.verdicts == [.accepted("new", expires: nil)])
    #expect(world.peer.log == ["q /a"])
  }

  @Test("the tree: the end of an older token, reported late, does not end the one that is shown")
  func treeRevocation() throws {
    let world = try World()
    try world.act { $0.setCredential("old") }
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    world.peer.holdsCredentials = true
    try world.act { $0.setCredential("new") }
    world.peer.holdsCredentials = false
    try world.say(.authRevoked(.expiredToken, detail: "it is over"))
    let accepted = ["old", "new"].map { CredentialVerdict.accepted($0, expires: nil) }
    #expect(world.verdicts == accepted)
    #expect(world.peer.log == ["q /a", "q /a"])
    try world.say(.authRevoked(.expiredToken, detail: "so is this"))
    #expect(world.verdicts == accepted + [.refused("new", reason: "so is this")])
  }
}

/// A session that notes which tokens it was to show.
private actor ShownTokens: CredentialSession {
  private let calls = Mutex<[@Sendable (isolated ShownTokens) -> Void]>([])
  private var shown: [String?] = []

  nonisolated func submit(_ call: @escaping @Sendable (isolated ShownTokens) -> Void) {
    calls.withLock { $0.append(call) }
  }

  func begin(
    showing credential: String?, judged: @escaping @Sendable (CredentialVerdict) -> Void
  ) {
    setCredential(credential)
  }

  func setCredential(_ credential: String?) { shown.append(credential) }

  /// Returns the calls so far, in order.
  func takeCalls() -> [String?] {
    for call in calls.withLock({ exchange(&$0, with: []) }) { call(self) }
    return shown
  }
}
