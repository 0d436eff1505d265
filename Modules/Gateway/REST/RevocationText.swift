import TernCore
import TernSecurity
import TernServer

/// The JSON form of revocations: an object of user ids, each with a moment in seconds since 1970,
/// `"now"`, or `null` for none.
enum RevocationText {
  /// Reads the body of a change.
  ///
  /// - Throws: 400 for a body that is no such object, for more than ``Revocations/most`` users,
  ///   for an id that is empty, too long or there twice, and for another kind of moment.
  static func changes(_ body: [UInt8]) throws(RESTError) -> [RevocationChange] {
    guard case .object(let members)? = try? JSONValue(parsing: body) else {
      throw .invalid("Invalid data; an object of user ids is wanted.")
    }
    guard members.count <= Revocations.most else {
      throw .invalid("Invalid data; at most \(Revocations.most) users.")
    }
    var changes: [RevocationChange] = []
    var seen: Set<ExactText> = []
    for member in members {
      let user = member.name
      guard (1...Revocations.userBytes).contains(user.utf8.count),
        seen.insert(ExactText(user)).inserted
      else {
        throw .invalid(
          "Invalid data; a user's id has 1 to \(Revocations.userBytes) bytes and comes once.")
      }
      changes.append(RevocationChange(user, try moment(member.value)))
    }
    return changes
  }

  /// Reads the moment before which a user's tokens do not count.
  private static func moment(_ value: JSONValue) throws(RESTError) -> RevocationChange.Moment {
    switch value {
    case .null: return .never
    case .string("now"): return .now
    case .integer(let seconds) where seconds >= 0: return .before(seconds)
    case .bool, .integer, .double, .string, .array, .object:
      throw .invalid(
        "Invalid data; a revocation is a time in seconds since 1970, \"now\", or null.")
    }
  }
}
