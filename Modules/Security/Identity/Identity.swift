public import TernCore

/// Who is asking.
public enum Identity: Hashable, Sendable {
  /// Nobody in particular.
  case anonymous
  /// A user, with what the token says about them.
  case user(id: String, claims: JSONValue)
  /// Somebody whom rules do not bind.
  case administrator
}

extension Identity {
  /// The identity as JSON, to be read back by ``init(json:)``.
  package var json: JSONValue {
    switch self {
    case .anonymous: .object([])
    case .user(let id, let claims):
      .object([.init("user", .string(id)), .init("claims", claims)])
    case .administrator: .object([.init("administrator", .bool(true))])
    }
  }

  /// Reads what ``json`` wrote; anything else is nobody.
  package init(json: JSONValue) {
    if json["administrator"] == .bool(true) {
      self = .administrator
    } else if let id = json["user"]?.text {
      self = .user(id: id, claims: json["claims"] ?? .object([]))
    } else {
      self = .anonymous
    }
  }
}
