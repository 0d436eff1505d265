public import TernCore

/// The caller and the time of a request.
public struct RulesCaller: Sendable {
  /// The value of `auth` in rules: an object with `uid`, `provider` and `token`; `null` for a
  /// caller who did not sign in. Names are compared by their bytes.
  public var auth: JSONValue
  /// The server's time in milliseconds since 1970, the same that server values of the request get.
  public var now: Int64

  /// Names the caller of one request.
  public init(auth: JSONValue, now: Int64) {
    self.auth = auth
    self.now = now
  }
}

/// The decision of the rules about a request.
public enum RulesVerdict: Hashable, Sendable {
  /// The request is allowed.
  case allowed
  /// The request is denied.
  case denied(RulesDenial)

  /// True when the request is allowed.
  public var isAllowed: Bool { self == .allowed }
}

/// A refusal. Tell the client the ``id`` and nothing else; the operator finds the rest by it.
public struct RulesDenial: Error, Hashable, Sendable {
  /// The reason a request is denied.
  public enum Reason: Hashable, Sendable {
    /// No rule from the root to the path grants it.
    case notGranted
    /// A `.validate` rule does not hold, or cannot be evaluated; where it stands in the file.
    case invalid(RulesPosition)
    /// Judging was stopped.
    case exhausted(RulesBudget)
  }

  /// Sixteen hexadecimal digits; the same for the same rules, request and time, whatever denied.
  public let id: String
  /// The kind of rule that refused.
  public let kind: RulesKind
  /// The node of the tree it refused.
  public let path: TreePath
  /// The reason for the denial.
  public let reason: Reason
}
