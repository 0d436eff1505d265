import TernCore

/// Why something is no token, or none any more.
struct TokenFlaw: Error, Hashable {
  /// What is wrong, without a word of the token in it.
  let text: String
  /// Whether it was good once.
  let isExpired: Bool

  init(_ text: String) {
    self.text = text
    isExpired = false
  }

  private init(expired text: String) {
    self.text = text
    isExpired = true
  }

  static let expired = TokenFlaw(expired: "it has expired")
}

/// JSON as tokens have to be written: one object, no name twice at any depth, no lone surrogate.
///
/// Of two members of one name, two programs may read different ones.
enum StrictJSON {
  static func object(_ bytes: [UInt8]) throws(TokenFlaw) -> JSONValue {
    let value: JSONValue
    var reader = JSONReader(bytes)
    do throws(JSONError) {
      value = try reader.value()
      try reader.finish()
    } catch {
      throw TokenFlaw("it is not JSON")
    }
    // Three ids that differ in such halves would be one user here.
    guard reader.loneSurrogates == 0 else { throw TokenFlaw("it holds half of a character") }
    guard case .object = value else { throw TokenFlaw("it is not a JSON object") }
    try checkNames(in: value)
    return value
  }

  /// The depth is bounded by the reader of JSON.
  private static func checkNames(in value: JSONValue) throws(TokenFlaw) {
    switch value {
    case .object(let members):
      var seen: Set<String> = []
      for member in members {
        guard seen.insert(member.name).inserted else { throw TokenFlaw("a member comes twice") }
        try checkNames(in: member.value)
      }
    case .array(let elements): for element in elements { try checkNames(in: element) }
    case .null, .bool, .integer, .double, .string: break
    }
  }
}
