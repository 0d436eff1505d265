public import TernCore

/// Who is asking.
public enum Identity: Hashable, Sendable {
  /// Nobody in particular.
  case anonymous
  /// A user, with what the token says about them.
  case user(id: String, claims: JSONValue)
  /// Somebody whom rules do not bind.
  case administrator
  /// Whom an administrator speaks for: an object that rules see as `auth`, as it stands.
  case impersonated(JSONValue)
}

extension Identity {
  /// The user it is about, if it is about one.
  package var userID: String? {
    switch self {
    case .user(let id, _): id
    case .impersonated(let auth): auth["uid"]?.text
    case .anonymous, .administrator: nil
    }
  }

  /// What rules see as `auth`; `nil` for an administrator, whom they do not bind.
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
  package var json: JSONValue {
    switch self {
    case .anonymous: .object([])
    case .user(let id, let claims):
      .object([.init("user", .string(id)), .init("claims", claims)])
    case .administrator: .object([.init("administrator", .bool(true))])
    case .impersonated(let auth): .object([.init("auth", auth)])
    }
  }

  /// Reads what ``json`` wrote; anything else is nobody.
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
