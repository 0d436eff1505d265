#if TCP && canImport(Glibc)
  import TernCore
  import TernSecurity
  import TernSync
  import TernTestKit
  import TernTokens

  @testable import TernGateway
  @testable import TernServer

  /// A server that takes tokens, with its endpoints open and its time in the test's hand.
  struct TokenGateway {
    static let rules = """
      {"rules": {"users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}}}
      """
    /// The start of the test, in seconds since 1970.
    static let start: Int64 = 1_760_000_000

    let gateway: GatewayUnderTest
    private let clock: ManualClock
    private let issuer: TokenIssuer

    private init(_ gateway: GatewayUnderTest, _ clock: ManualClock, _ issuer: TokenIssuer) {
      (self.gateway, self.clock, self.issuer) = (gateway, clock, issuer)
    }

    /// Lends one.
    static func with(
      serverLimits: ServerLimits = ServerLimits(), _ body: (TokenGateway) async throws -> Void
    ) async throws {
      let clock = ManualClock()
      let keys = try await TokenKeys.reading(Array("0123456789abcdef0123456789abcdef".utf8))
      let ambient = RuntimeEnvironment(
        millisecondsSinceEpoch: { (start * 1_000) + clock.now.offset.milliseconds },
        clock: clock, randomBits: RuntimeEnvironment.system.randomBits)
      var limits = GatewayLimits()
      limits.pollSeconds = 600
      let gateway = try await GatewayUnderTest(
        limits: limits, serverLimits: serverLimits, rules: rules,
        authenticator: TokenAuthenticator(keys, checks: TokenChecks(clockSkewSeconds: 0)),
        ambient: ambient)
      let lent = TokenGateway(gateway, clock, try TokenIssuer(keys))
      do { try await apart { try await body(lent) } } catch {
        await gateway.stop()
        throw error
      }
      await gateway.stop()
    }

    /// A token that was issued so many seconds after the beginning, and counts for so many.
    func token(
      _ user: String, for seconds: Int64, issued: Int64 = 0, isAdministrator: Bool = false
    ) throws -> String {
      try issuer.sign(
        user: user, now: Self.start + issued, lifetimeSeconds: seconds,
        claims: isAdministrator ? [.init("tern", .string("administrator"))] : [])
    }

    /// Lets time pass, and the server look at its clock.
    func pass(seconds: Int) async {
      clock.advance(by: .seconds(seconds))
      await gateway.server.tick()
    }

    /// The answer to a request over REST.
    func rest(
      _ method: String, _ target: String, token: String? = nil, body: String = ""
    ) throws -> (head: String, body: String) {
      let peer = try gateway.connect()
      let field = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
      peer.send(
        "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(field)"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      return peer.answer()
    }
  }
#endif
