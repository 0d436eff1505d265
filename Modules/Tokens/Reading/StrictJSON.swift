import TernCore

/// The reason a token is invalid or expired.
struct TokenError: Error, Hashable {
  /// The reason, without any part of the token in it.
  let text: String
  /// True for a token that was valid before it expired.
  let isExpired: Bool

  init(_ text: String) {
    self.text = text
    isExpired = false
  }

  private init(expired text: String) {
    self.text = text
    isExpired = true
  }

  /// The only error that clients may answer by fetching a new token.
  static let expired = TokenError(expired: "it has expired")
}

/// JSON as tokens have to be written: one object, no name twice at any depth, no lone surrogate.
///
/// Of two members of one name, two programs may read different ones; of three ids that differ in
/// such halves of characters, one would be left.
enum StrictJSON {
  /// - Throws: ``TokenError``, whose text contains no part of the token, because it is logged and
  ///   sent to the client.
  static func object(_ bytes: [UInt8]) throws(TokenError) -> JSONValue {
    let value: JSONValue
    do throws(JSONError) { value = try JSONValue(parsing: bytes, .unambiguous) } catch {
      switch error.reason {
      case .loneSurrogate: throw TokenError("it holds half of a character")
      case .duplicateName: throw TokenError("a member comes twice")
      default: throw TokenError("it is not JSON")
      }
    }
    guard case .object = value else { throw TokenError("it is not a JSON object") }
    return value
  }
}
