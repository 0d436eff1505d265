import TernCore
import TernSecurity

/// Whose tokens no longer count: those of a user that were issued before a moment.
///
/// As a file: an object of user ids and moments in seconds since 1970; `*` stands for everybody.
/// `{"ada": 1760000000}`
public struct TokenRevocations: Hashable, Sendable {
  /// The most users on a list.
  public static let most = 100_000
  /// What stands for everybody.
  public static let everybody = "*"

  private var moments: [String: Int64] = [:]

  /// Nobody.
  public init() {}

  /// Reads a list.
  ///
  /// - Throws: ``TokenKeyError/unusable(reason:)`` or ``TokenKeyError/tooMany(limit:)``.
  public init(reading file: [UInt8]) throws(TokenKeyError) {
    let json: JSONValue
    do throws(TokenFlaw) { json = try StrictJSON.object(file) } catch {
      throw .unusable(reason: "the list of revocations cannot be read: \(error.text)")
    }
    guard case .object(let members) = json else { return }
    if members.count > Self.most { throw .tooMany(limit: Self.most) }
    for member in members {
      guard let moment = member.value.integer else {
        throw .unusable(reason: "a revocation is not a time in seconds since 1970")
      }
      moments[member.name] = moment
    }
  }

  /// Notes that tokens of `user` issued before `moment`, in seconds since 1970, do not count.
  public mutating func revoke(_ user: String, before moment: Int64) {
    moments[user] = max(moment, moments[user] ?? moment)
  }

  /// The list as a file.
  public var bytes: [UInt8] {
    let members = moments.sorted { $0.key < $1.key }.map {
      JSONValue.Member($0.key, .integer($0.value))
    }
    return JSONValue.object(members).bytes + [0x0A]
  }

  /// Whether what was accepted is on the list. A token that does not say when it was issued was
  /// issued before any moment.
  func revokes(_ accepted: Authentication) -> Bool {
    let issued = accepted.issued ?? .min
    if let moment = moments[Self.everybody], issued < moment { return true }
    guard case .user(let id, _) = accepted.identity, let moment = moments[id] else { return false }
    return issued < moment
  }
}
