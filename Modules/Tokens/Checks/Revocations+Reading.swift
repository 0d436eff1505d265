import TernCore
public import TernSecurity

extension Revocations {
  /// Reads a list from a file: an object of user ids and moments in seconds since 1970, with `*`
  /// for all users. `{"ada": 1760000000}`
  ///
  /// - Throws: ``TokenKeyError/unusable(reason:)`` or ``TokenKeyError/tooMany(limit:)``.
  ///
  /// The file is read as a whole or not at all.
  public init(reading file: [UInt8]) throws(TokenKeyError) {
    self.init()
    let json: JSONValue
    do throws(TokenError) { json = try StrictJSON.object(file) } catch {
      throw .unusable(reason: "the list of revocations cannot be read: \(error.text)")
    }
    guard case .object(let members) = json else { return }
    if members.count > Self.most { throw .tooMany(limit: Self.most) }
    for member in members {
      guard let moment = member.value.integer else {
        throw .unusable(reason: "a revocation is not a time in seconds since 1970")
      }
      revoke(member.name, before: moment)
    }
  }
}
