package import TernCore

/// Tokens revoked at run time: those of a user that were issued before a moment.
public struct Revocations: Hashable, Sendable {
  /// The most users on a list.
  public static let most = 100_000
  /// The most bytes of a user's id. Source: the limit of Firebase's.
  public static let userBytes = 128
  /// The key for all users.
  public static let everybody = "*"

  /// By user, in seconds since 1970.
  package private(set) var moments: [ExactText: Int64] = [:]

  /// Creates an empty list.
  public init() {}

  /// Notes that tokens of `user` issued before `moment`, in seconds since 1970, do not count. A
  /// later moment that was noted before stays.
  public mutating func revoke(_ user: String, before moment: Int64) {
    let user = ExactText(user)
    moments[user] = max(moment, moments[user] ?? moment)
  }

  /// Takes a user off the list.
  public mutating func pardon(_ user: String) { moments[ExactText(user)] = nil }

  /// Returns true when an accepted credential is on the list, by its holder or by the user it
  /// impersonates. A token without a time of issue counts as issued before any moment.
  public func revokes(_ accepted: Authentication) -> Bool {
    // A credential without times and without a signature is no token.
    if accepted.issued == nil, accepted.expires == nil, accepted.voucher == nil { return false }
    let issued = accepted.issued ?? .min
    if let moment = moments[ExactText(Self.everybody)], issued < moment { return true }
    guard case .user(let id, _) = accepted.holder, let moment = moments[ExactText(id)] else {
      return false
    }
    return issued < moment
  }

  /// Returns true when tokens of a user, or of all users, with an unknown time of issue are on the
  /// list.
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
