public import TernCore

/// The identity of a client.
///
/// An authenticator makes it from a credential when a connection signs in; authorizers see it as
/// part of a ``Requester``. Claims are those of the token at that time: later changes take effect
/// with the next token.
public enum Identity: Hashable, Sendable {
  /// No identity.
  case anonymous
  /// A user, with what the token says about them.
  case user(id: String, claims: JSONValue)
  /// An administrator. Rules do not apply.
  case administrator
  /// The user that an administrator impersonates: an object that rules see as `auth`, as it stands.
  case impersonated(JSONValue)
}

extension Identity {
  /// Returns true when both are the same; users are compared by the bytes of their ids.
  public static func == (left: Identity, right: Identity) -> Bool {
    switch (left, right) {
    case (.anonymous, .anonymous), (.administrator, .administrator): true
    case (.user(let a, let claims), .user(let b, let others)):
      a.hasSameBytes(as: b) && claims == others
    case (.impersonated(let a), .impersonated(let b)): a == b
    default: false
    }
  }

  /// Claims are left out for users, because hashing a large object costs more than a rare
  /// collision.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .anonymous: hasher.combine(0)
    case .administrator: hasher.combine(1)
    case .user(let id, _): id.hashBytes(into: &hasher)
    case .impersonated(let auth): hasher.combine(auth)
    }
  }

  /// The user it is about, if it is about one.
  ///
  /// Rate limits and memory budgets are counted by it.
  package var userID: String? {
    switch self {
    case .user(let id, _): id
    case .impersonated(let auth): auth["uid"]?.text
    case .anonymous, .administrator: nil
    }
  }

  /// The value of `auth` in rules; `nil` for an administrator, who is exempt from them.
  ///
  /// The claims of a user's token become `auth.token`. Source: realtime reference, section 12.4.
  package var auth: JSONValue? {
    switch self {
    case .anonymous: return .null
    case .administrator: return nil
    case .impersonated(let auth): return auth
    case .user(let id, let claims):
      let provider = claims["firebase"]?["sign_in_provider"] ?? .string("custom")
      return .object([
        .init("uid", .string(id)), .init("provider", provider), .init("token", claims),
      ])
    }
  }
}

extension Identity {
  /// The identity as JSON, to be read back by ``init(json:)``.
  ///
  /// The form is part of the store: onDisconnect operations keep the identity they will be judged
  /// by. An anonymous client is an empty object, and so is everything this version cannot read.
  package var json: JSONValue {
    switch self {
    case .anonymous: .object([])
    case .user(let id, let claims):
      .object([.init("user", .string(id)), .init("claims", claims)])
    case .administrator: .object([.init("administrator", .bool(true))])
    case .impersonated(let auth): .object([.init("auth", auth)])
    }
  }

  /// Reads the form that ``json`` wrote; anything else is anonymous.
  package init(json: JSONValue) {
    if json["administrator"] == .bool(true) {
      self = .administrator
    } else if let id = json["user"]?.text {
      self = .user(id: id, claims: json["claims"] ?? .object([]))
    } else if let auth = json["auth"] {
      self = .impersonated(auth)
    } else {
      self = .anonymous
    }
  }
}
