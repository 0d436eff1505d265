import TernCore
import TernSecurity
import Testing

@testable import TernTokens

@Suite("tokens") struct AuthenticatorTests {
  @Test("tokens of all three algorithms are taken, each checked by its own key")
  func algorithms() async throws {
    let bench = try await TokenBench()
    for keys in [bench.secret, bench.rsa, bench.p256] {
      let token = try bench.token(by: keys)
      #expect(bench.judge(token).user == "ada")
    }
    guard case .success(let accepted) = bench.judge(try bench.token()) else {
      Issue.record("a good token was refused")
      return
    }
    #expect(accepted.expires == TokenBench.seconds + 3_600)
    #expect(accepted.issued == TokenBench.seconds - 10)
  }

  @Test("a token that comes with every request costs one signature, and is looked at each time")
  func oneSignature() async throws {
    let bench = try await TokenBench()
    let authenticator = bench.authenticator
    let credential = Credential(.user, token: try bench.token())
    let now = TokenBench.seconds * 1_000
    for _ in 0..<100 { _ = try authenticator.authenticate(credential, now: now) }
    #expect(authenticator.judgedTokens == 1)
    #expect(throws: AuthenticationError.self) {
      try authenticator.authenticate(credential, now: now + 100_000_000)
    }
    #expect(authenticator.judgedTokens == 1)
    let other = Credential(.user, token: try bench.token([("sub", .string("bea"))]))
    _ = try authenticator.authenticate(other, now: now)
    #expect(authenticator.judgedTokens == 2)
    let lookups = authenticator.credentialCache
    #expect(lookups.hits == 100 && lookups.misses == 2)
    let owner = OwnerAuthenticator(others: authenticator)
    #expect(owner.credentialCache.hits == 100)
  }

  @Test("the example of Docs/Formats/tokens.md")
  func example() async throws {
    let bench = try await TokenBench()
    let parts = [
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
      "eyJzdWIiOiJhZGEiLCJpYXQiOjE3NjAwMDAwMDAsImV4cCI6MTc2MDAwMzYwMH0",
      "DIMmG8C1EulU8pkSB_BhYxHkql1DRnSBs9vBjUSpEqk",
    ]
    #expect(bench.judge(parts.joined(separator: ".")).user == "ada")
    let claims: [JSONValue.Member] = [
      .init("sub", .string("ada")), .init("iat", .integer(1_760_000_000)),
      .init("exp", .integer(1_760_003_600)),
    ]
    #expect(try TokenIssuer(bench.secret).sign(claims) == parts.joined(separator: "."))
  }

  @Test("rules see a custom token as the identity token it stands for")
  func customTokens() async throws {
    let bench = try await TokenBench()
    let token = try bench.token([
      ("iss", .string("robot@example.org")), ("sub", .string("robot@example.org")),
      ("uid", .string("ada")),
      ("claims", .object([.init("role", .string("editor")), .init("level", .integer(3))])),
    ])
    let claims = try #require(bench.judge(token).claims)
    #expect(claims["role"] == .string("editor"))
    #expect(claims["level"] == .integer(3))
    #expect(claims["sub"] == .string("ada"))
    #expect(claims["claims"] == nil)
    #expect(claims["firebase"]?["sign_in_provider"] == .string("custom"))
  }

  @Test("an identity token keeps all its claims, and names its user in user_id or sub")
  func identityTokens() async throws {
    let bench = try await TokenBench()
    let token = try bench.token([
      ("user_id", .string("ada")), ("sub", .string("other")),
      ("email", .string("ada@example.org")), ("email_verified", .bool(true)),
    ])
    #expect(bench.judge(token).user == "ada")
    #expect(bench.judge(token).claims?["email"] == .string("ada@example.org"))
  }

  @Test("a token counts from its beginning to its end, give or take the clock skew")
  func times() async throws {
    let bench = try await TokenBench()
    let skew = TokenChecks.standardClockSkewSeconds
    func verdict(_ name: String, _ offset: Int64) throws -> Result<
      Authentication, AuthenticationError
    > {
      bench.judge(try bench.token([(name, .integer(TokenBench.seconds + offset))]))
    }
    #expect(try verdict("exp", -skew + 1).user == "ada")
    #expect(try verdict("exp", -skew).isExpired)
    #expect(try verdict("nbf", skew).user == "ada")
    #expect(try verdict("nbf", skew + 1).isInvalid)
    #expect(try verdict("iat", skew).user == "ada")
    #expect(try verdict("iat", skew + 1).isInvalid)
    #expect(bench.judge(try bench.token([("exp", .double(1_760_000_100.5))])).user == "ada")
  }

  @Test("a token that was taken is looked at again each time")
  func remembered() async throws {
    let bench = try await TokenBench()
    let token = try bench.token()
    let accepted = try bench.judge(token).get()
    #expect(bench.judge(token, now: TokenBench.now + 4_000_000).isExpired)
    #expect(bench.authenticator.revalidate(accepted, now: TokenBench.now) == nil)
    let end = (TokenBench.seconds + 3_600 + TokenChecks.standardClockSkewSeconds) * 1_000
    #expect(bench.authenticator.revalidate(accepted, now: end - 1) == nil)
    #expect(
      bench.authenticator.revalidate(accepted, now: end)
        == .expired(reason: "The token has expired."))
  }

  @Test("tokens of a key that is gone no longer count; those of one that stayed do")
  func rotation() async throws {
    let bench = try await TokenBench()
    let old = try bench.token()
    let new = try bench.token(by: bench.rsa)
    let accepted = (try bench.judge(old).get(), try bench.judge(new).get())
    bench.authenticator.use(try await TokenKeys.reading(Array(TestKeys.rsaPublic.utf8)))
    #expect(bench.authenticator.revalidate(accepted.0, now: TokenBench.now) != nil)
    #expect(bench.authenticator.revalidate(accepted.1, now: TokenBench.now) == nil)
    #expect(bench.judge(old).isInvalid)
    #expect(bench.judge(new).user == "ada")
  }

  @Test("revocation ends the earlier tokens of one user, and no others")
  func revocation() async throws {
    let bench = try await TokenBench()
    let token = try bench.token()
    let accepted = try bench.judge(token).get()
    var list = Revocations()
    list.revoke("ada", before: TokenBench.seconds)
    bench.authenticator.use(try Revocations(reading: list.bytes))
    #expect(bench.judge(token).isInvalid)
    #expect(bench.authenticator.revalidate(accepted, now: TokenBench.now) != nil)
    #expect(bench.judge(try bench.token([("iat", .integer(TokenBench.seconds))])).user == "ada")
    #expect(bench.judge(try bench.token(without: ["iat"])).isInvalid)
    #expect(bench.judge(try bench.token([("sub", .string("bob"))])).user == "bob")
    list.revoke(Revocations.everybody, before: TokenBench.seconds)
    bench.authenticator.use(list)
    #expect(bench.judge(try bench.token([("sub", .string("bob"))])).isInvalid)
    for text in ["", "[]", #"{"ada": "now"}"#, #"{"ada": 1, "ada": 2}"#] {
      #expect(throws: TokenKeyError.self) { try Revocations(reading: Array(text.utf8)) }
    }
  }

  @Test("an administrator may act for a user, and no other client may")
  func override() async throws {
    let bench = try await TokenBench()
    let power = try bench.token([("tern", .string("administrator"))])
    #expect(try bench.judge(power).get().identity == .administrator)
    func speak(_ token: String, _ user: JSONValue) -> Identity? {
      let shown = Credential(.service, token: token, override: user)
      return try? bench.authenticator.authenticate(shown, now: TokenBench.now).identity
    }
    let user = JSONValue.object([.init("uid", .string("bob"))])
    #expect(speak(power, user) == .impersonated(user))
    #expect(speak(power, .null) == .anonymous)
    #expect(speak(power, .string("bob")) == nil)
    #expect(speak(try bench.token(), user) == nil)
  }

  @Test("issuer and audience are checked when they are given")
  func origins() async throws {
    let checks = TokenChecks(issuers: ["https://id.example"], audiences: ["shop"])
    let bench = try await TokenBench(checks: checks)
    func verdict(_ issuer: JSONValue?, _ audience: JSONValue?) throws -> String? {
      let members = [("iss", issuer), ("aud", audience)].compactMap { name, value in
        value.map { (name, $0) }
      }
      return bench.judge(try bench.token(members)).user
    }
    let good = JSONValue.string("https://id.example")
    #expect(try verdict(good, .string("shop")) == "ada")
    #expect(try verdict(good, .array([.string("x"), .string("shop")])) == "ada")
    #expect(try verdict(good, .string("other")) == nil)
    #expect(try verdict(good, .array([])) == nil)
    #expect(try verdict(good, nil) == nil)
    #expect(try verdict(.string("https://id.example/"), .string("shop")) == nil)
    #expect(try verdict(.array([good]), .string("shop")) == nil)
    #expect(try verdict(nil, .string("shop")) == nil)
  }
}
