public import TernCore

/// Makes tokens, for development, tests and small servers of one's own.
///
/// A server that only checks tokens needs none.
public struct TokenIssuer: Sendable {
  private let key: TokenKey

  /// Signs with the first of the keys that can.
  ///
  /// - Throws: ``TokenKeyError/cannotSign`` when all of them are public.
  ///
  /// The order of the keys is that of their file.
  public init(_ keys: TokenKeys) throws(TokenKeyError) {
    guard let key = keys.keys.first(where: \.canSign) else { throw .cannotSign }
    self.key = key
  }

  /// The algorithm that signs the tokens.
  public var algorithm: TokenAlgorithm { key.algorithm }

  /// Signs a token about `claims`, as they are.
  ///
  /// The header names the algorithm, the type `JWT` and, if the key has a name, its `kid`. Nothing
  /// about the claims is checked.
  ///
  /// - Returns: Header, claims and signature in base64url, joined by dots.
  /// - Throws: ``TokenKeyError/unusable(reason:)`` if the cryptographic library fails.
  public func sign(_ claims: [JSONValue.Member]) throws(TokenKeyError) -> String {
    var header: [JSONValue.Member] = [
      .init("alg", .string(key.algorithm.rawValue)), .init("typ", .string("JWT")),
    ]
    if let name = key.name { header.append(.init("kid", .string(name))) }
    let content =
      Base64URL.encode(JSONValue.object(header).bytes) + "."
      + Base64URL.encode(JSONValue.object(claims).bytes)
    return content + "." + Base64URL.encode(try key.sign(Array(content.utf8)))
  }

  /// Signs a token about a user.
  ///
  /// - Parameters:
  ///   - now: The time of issue, in seconds since 1970.
  ///   - lifetimeSeconds: How long it counts.
  ///   - claims: What else rules are to see in `auth.token`.
  /// - Parameters:
  ///   - user: The user's id, which becomes `sub`.
  public func sign(
    user: String, now: Int64, lifetimeSeconds: Int64 = 3_600, issuer: String? = nil,
    audience: String? = nil, claims: [JSONValue.Member] = []
  ) throws(TokenKeyError) -> String {
    var members: [JSONValue.Member] = [
      .init("sub", .string(user)), .init("iat", .integer(now)),
      .init("exp", .integer(now + lifetimeSeconds)),
    ]
    if let issuer { members.append(.init("iss", .string(issuer))) }
    if let audience { members.append(.init("aud", .string(audience))) }
    return try sign(members + claims)
  }
}
