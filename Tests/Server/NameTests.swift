import TernCore
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

/// Names that Unicode takes for the same and whose bytes differ are different names.
@Suite("Names by their bytes") struct NameTests {
  private let composed = "caf\u{E9}"
  private let decomposed = "cafe\u{301}"

  @Test("databases with canonically equivalent names are apart, opened together or one by one")
  func databases() throws {
    #expect(composed == decomposed, "as Swift compares them")
    let bench = try MachineBench()
    try bench.open(1, namespace: composed)
    try bench.open(2, namespace: decomposed)
    _ = try bench.ask(2, bench.listen("a"))
    _ = try bench.ask(1, bench.put("a", json("1")))
    #expect(bench.take(2).isEmpty)
    #expect(try bench.get(1, "a") == json("1"))
    #expect(try bench.get(2, "a") == .empty)
    let again = try MachineBench(store: bench.store)
    try again.open(1, namespace: decomposed)
    #expect(try again.get(1, "a") == .empty)
    try again.open(2, namespace: composed)
    #expect(try again.get(2, "a") == json("1"))
  }

  @Test("rules of one database are not those of the other")
  func rules() throws {
    let bench = try MachineBench(
      authorizer: AllowAll(), authenticator: ChiefAuthenticator())
    let closed = Array(#"{"rules": {}}"#.utf8)
    let credential = Credential(.service, token: "chief", isLocal: true)
    try bench.run([
      .direct(
        ticket: 1,
        DirectRequest(
          namespace: composed, isLocal: true, credential: credential,
          .setRules(closed, isTrial: false)))
    ])
    func status(_ namespace: String) throws -> TreeStatus? {
      try bench.open(1, namespace: namespace)
      defer { try? bench.run([.closed(slot: 1)]) }
      return try bench.response(1, .get("a", .all))?.status
    }
    #expect(try status(composed) == .permissionDenied)
    #expect(try status(decomposed) == .ok)
    #expect(try status(composed) == .permissionDenied)
  }

  @Test("a revocation, a rate and an identity are those of one user")
  func users() {
    var revocations = Revocations()
    revocations.revoke(composed, before: 10)
    func isRevoked(_ id: String) -> Bool {
      revocations.revokes(Authentication(.user(id: id, claims: .null), issued: 1))
    }
    #expect(isRevoked(composed) && !isRevoked(decomposed))
    #expect(Identity.user(id: composed, claims: .null) != .user(id: decomposed, claims: .null))
    #expect(JSONValue.object([.init(composed, .null)]) != .object([.init(decomposed, .null)]))
    #expect(JSONValue.object([.init(composed, .null)])[decomposed] == nil)
    var rates = RateTable(RateLimits(requestsPerIdentity: 1, burstSeconds: 1))
    func isFree(_ id: String) -> Bool {
      rates.count(address: "a", user: id, in: "d", at: 0) == nil
    }
    #expect(isFree(composed) && isFree(decomposed) && !isFree(composed))
  }

  @Test("the addresses of one IPv6 network are counted as one")
  func networks() {
    var rates = RateTable(RateLimits(requestsPerAddress: 1, burstSeconds: 1))
    func isFree(_ address: String) -> Bool {
      rates.count(address: address, user: nil, in: "d", at: 0) == nil
    }
    #expect(isFree("2001:db8::1") && !isFree("2001:db8::2") && !isFree("[2001:db8::3]"))
    #expect(isFree("2001:db8:0:1::1") && isFree("192.0.2.7") && isFree("192.0.2.8"))
  }
}
