import TernCore
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Rates and requests that only take away") struct SignOutRateTests {
  private struct Names: Authenticator {
    func authenticate(
      _ credential: Credential, now: Int64
    ) throws(AuthenticationError) -> Authentication {
      Authentication(.user(id: credential.token, claims: .object([])))
    }
  }

  private func bench(_ rates: RateLimits) throws -> MachineBench {
    let rules = try TreeRules(
      #"{"rules": {"open": {".read": true, ".write": true}, ".write": "auth.uid === 'ann'"}}"#)
    return try MachineBench(
      options: ServerOptions(limits: ServerLimits(rates: rates)),
      authorizer: RulesAuthorizer(rules), authenticator: Names())
  }

  private func signIn(_ user: String) -> TreeRequest { .auth(TreeCredential(.user, token: user)) }

  @Test("a user beyond their rate is signed out, and no later write is theirs")
  func signOut() throws {
    let bench = try bench(RateLimits(requestsPerIdentity: 1, burstSeconds: 1))
    try bench.open(1)
    #expect(try bench.response(1, signIn("ann"))?.status == .ok)
    let answers = try bench.ask(
      1, bench.put("n", 1), bench.put("n", 2), .unauth, bench.put("n", 3), bench.put("open/n", 4))
    #expect(answers.map(\.brief) == ["ok", "unavailable", "ok", "permission_denied", "ok"])
  }

  @Test("an address beyond its rate signs out, and ends its listens")
  func address() throws {
    let bench = try bench(RateLimits(requestsPerAddress: 3, burstSeconds: 1))
    try bench.open(1)
    try bench.open(2)
    let answers = try bench.ask(
      1, signIn("ann"), bench.listen("open"), bench.put("n", 1), bench.put("n", 2), .unauth,
      .unlisten("open", .all, tag: nil), .unauth, .get("open", .all))
    #expect(
      answers.map(\.brief).filter { !$0.hasPrefix("put") } == [
        "ok", "ok", "ok", "unavailable", "ok", "ok", "ok", "unavailable",
      ])
    bench.uptime += 10_000
    try bench.ask(2, bench.put("open/n", 1))
    #expect(bench.take(1).isEmpty, "it listens no more")
  }
}
