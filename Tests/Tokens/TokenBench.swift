import TernCore
import TernSecurity
import Testing

@testable import TernTokens

/// Keys of all kinds, an authenticator that has them, and a time of day.
struct TokenBench {
  /// Milliseconds since 1970.
  static let now: Int64 = 1_760_000_000_000
  static let seconds = now / 1_000

  let secret: TokenKeys
  let rsa: TokenKeys
  let p256: TokenKeys
  let authenticator: TokenAuthenticator

  init(checks: TokenChecks = TokenChecks()) async throws {
    secret = try await TokenKeys.reading(TestKeys.secret)
    rsa = try await TokenKeys.reading(Array(TestKeys.rsaPrivate.utf8))
    p256 = try await TokenKeys.reading(Array(TestKeys.p256Private.utf8))
    let trusted = try await secret.adding(TokenKeys.reading(Array(TestKeys.rsaPublic.utf8)))
      .adding(TokenKeys.reading(Array(TestKeys.p256Public.utf8)))
    authenticator = TokenAuthenticator(trusted, checks: checks)
  }

  /// The members of a good token, with some replaced and some left out.
  static func claims(
    _ changes: [(String, JSONValue)] = [], without left: [String] = []
  ) -> [JSONValue.Member] {
    let standard: [(String, JSONValue)] = [
      ("sub", .string("ada")), ("iat", .integer(seconds - 10)), ("exp", .integer(seconds + 3_600)),
    ]
    let replaced = Set(changes.map(\.0) + left)
    return (standard.filter { !replaced.contains($0.0) } + changes).map { .init($0.0, $0.1) }
  }

  func token(
    _ changes: [(String, JSONValue)] = [], without left: [String] = [], by keys: TokenKeys? = nil
  ) throws -> String {
    try TokenIssuer(keys ?? secret).sign(Self.claims(changes, without: left))
  }

  /// A token from texts, signed whatever they say.
  func raw(header: String, payload: String, by keys: TokenKeys? = nil) throws -> String {
    let content =
      Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    let key = try #require((keys ?? secret).keys.first)
    return content + "." + Base64URL.encode(try key.sign(Array(content.utf8)))
  }

  func judge(_ token: String, now: Int64 = TokenBench.now) -> Result<
    Authentication, AuthenticationError
  > {
    Result { () throws(AuthenticationError) in
      try authenticator.authenticate(Credential(.user, token: token), now: now)
    }
  }
}

extension Result<Authentication, AuthenticationError> {
  var isExpired: Bool {
    if case .failure(.expired) = self { true } else { false }
  }

  var isInvalid: Bool {
    if case .failure(.invalid) = self { true } else { false }
  }

  var user: String? {
    if case .success(let accepted) = self, case .user(let id, _) = accepted.identity {
      id
    } else {
      nil
    }
  }

  var claims: JSONValue? {
    if case .success(let accepted) = self, case .user(_, let claims) = accepted.identity {
      claims
    } else {
      nil
    }
  }
}
