package import TernCore

/// Whose tokens no longer count: those of a user that were issued before a moment.
public struct Revocations: Hashable, Sendable {
  /// The most users on a list.
  public static let most = 100_000
  /// The most bytes of a user's id. Source: the limit of Firebase's.
  public static let userBytes = 128
  /// What stands for everybody.
  public static let everybody = "*"

  /// By user, in seconds since 1970.
  package private(set) var moments: [ExactText: Int64] = [:]

  /// Nobody.
  public init() {}

  /// Notes that tokens of `user` issued before `moment`, in seconds since 1970, do not count. A
  /// later moment that was noted before stays.
  public mutating func revoke(_ user: String, before moment: Int64) {
    let user = ExactText(user)
    moments[user] = max(moment, moments[user] ?? moment)
  }

  /// Takes a user off the list.
  public mutating func pardon(_ user: String) { moments[ExactText(user)] = nil }

  /// Whether what was accepted is on the list: whoever showed it, whomever they speak for. A token
  /// that does not say when it was issued was issued before any moment.
  public func revokes(_ accepted: Authentication) -> Bool {
    // What neither says when it began nor ends, and is signed by nobody, is no token.
    if accepted.issued == nil, accepted.expires == nil, accepted.voucher == nil { return false }
    let issued = accepted.issued ?? .min
    if let moment = moments[ExactText(Self.everybody)], issued < moment { return true }
    guard case .user(let id, _) = accepted.holder, let moment = moments[ExactText(id)] else {
      return false
    }
    return issued < moment
  }

  /// Whether tokens of a user, or of everybody, that were issued at an unknown time are on the list.
  package func names(_ user: String) -> Bool {
    moments[ExactText(user)] != nil || moments[ExactText(Self.everybody)] != nil
  }

  /// The list as JSON: `{"ada":1760000000}`.
  package var json: JSONValue {
    .object(moments.sorted { $0.key < $1.key }.map { .init($0.key.text, .integer($0.value)) })
  }

  /// The list as a file.
  public var bytes: [UInt8] { json.bytes + [0x0A] }
}
