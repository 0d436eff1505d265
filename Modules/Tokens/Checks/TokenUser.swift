import TernCore
import TernSecurity

/// The user that a token identifies.
///
/// Two forms are read. An *identity token* names its user in `user_id` or `sub`, and has what it
/// says about them at its top. A *custom token*, as `firebase-admin` makes it, names the user in
/// `uid`, and has what it says in `claims`; rules see it as the identity token that it would be
/// exchanged for. Source: realtime reference, section 12.4.
enum TokenUser {
  /// The member that makes a token one of an administrator, with the value `administrator`.
  ///
  /// Only a holder of the signing key can put it into a token: custom tokens may not carry it among
  /// their claims.
  static let powerClaim = "tern"
  static let administrator = JSONValue.string("administrator")

  /// Names that the claims of a custom token may not have: rules rely on what issuers say there.
  static let reserved: Set<String> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "cnf", "c_hash", "exp", "firebase", "iat",
    "iss", "jti", "nbf", "nonce", "sub", "user_id", "uid", powerClaim,
  ]

  /// - Parameter claims: The claims of a token whose signature was verified.
  /// - Throws: ``TokenError`` for an unknown power, a user's id that is missing or too long, or
  ///   reserved names among the claims of a custom token.
  static func identity(_ claims: JSONValue) throws(TokenError) -> Identity {
    if let power = claims[powerClaim] {
      guard power == administrator else { throw TokenError("its power is not known here") }
      return .administrator
    }
    if let user = claims["uid"] {
      let id = try id(user)
      return .user(id: id, claims: try exchanged(claims, for: id))
    }
    let user = try id(claims["user_id"] ?? claims["sub"] ?? .null)
    return .user(id: user, claims: claims)
  }

  private static func id(_ value: JSONValue) throws(TokenError) -> String {
    guard let id = value.text, !id.isEmpty, id.utf8.count <= TokenChecks.userIDBytes else {
      throw TokenError("it names no user of 1 to \(TokenChecks.userIDBytes) bytes")
    }
    return id
  }

  /// Returns the claims that rules see of a custom token.
  ///
  /// The times and the origin of the token are kept, and the custom claims move to the top level,
  /// where rules of the service find them.
  private static func exchanged(_ token: JSONValue, for id: String) throws(TokenError) -> JSONValue
  {
    var members: [JSONValue.Member] = [
      .init("sub", .string(id)), .init("user_id", .string(id)),
      .init("firebase", .object([.init("sign_in_provider", .string("custom"))])),
    ]
    for name in ["iss", "aud", "iat", "exp"] {
      if let value = token[name] { members.append(.init(name, value)) }
    }
    switch token["claims"] {
    case .object(let claims):
      for claim in claims {
        guard !reserved.contains(claim.name) else {
          throw TokenError("its claims have a reserved name")
        }
        members.append(claim)
      }
    case nil, .null: break
    case .some: throw TokenError("its claims are not an object")
    }
    return .object(members)
  }
}
