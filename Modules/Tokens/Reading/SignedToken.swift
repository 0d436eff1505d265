import TernCore

/// A token in parts, with nothing about it believed yet. Source: RFC 7515, section 7.1.
///
/// A value is well-formed but not yet trusted: the caller verifies ``signature`` over ``content``
/// before it uses ``claims``. Tokens without a signature (`alg` of `none`) cannot be represented.
struct SignedToken {
  let algorithm: TokenAlgorithm
  /// The key that it says it was signed with.
  let keyName: String?
  let claims: JSONValue
  /// The signed content.
  ///
  /// It is header and payload as they were sent, with the dot between them: signatures cover the
  /// text, not what it decodes to.
  let content: [UInt8]
  let signature: [UInt8]

  /// The most bytes of a token. HTTP servers take about as much in a header.
  ///
  /// The limit is checked before anything is decoded.
  static let most = 16 << 10
  /// The most bytes of the name of a key.
  private static let keyNameBytes = 256

  /// - Throws: ``TokenError`` for a text that is too long, has not exactly three parts, or whose
  ///   parts are not base64url and strict JSON.
  init(_ text: String) throws(TokenError) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.most else {
      throw TokenError("it is longer than \(Self.most) bytes")
    }
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw TokenError("it does not have three parts") }
    let header = try StrictJSON.object(try Self.decode(parts[0], "header"))
    (algorithm, keyName) = try Self.read(header)
    claims = try StrictJSON.object(try Self.decode(parts[1], "payload"))
    signature = try Self.decode(parts[2], "signature")
    content = Array(bytes[..<(parts[0].count + 1 + parts[1].count)])
  }

  /// Decodes one part; the name of the part is for the message.
  private static func decode(
    _ part: ArraySlice<UInt8>, _ name: String
  ) throws(TokenError) -> [UInt8] {
    guard !part.isEmpty, let bytes = Base64URL.decode(part) else {
      throw TokenError("its \(name) is not base64url")
    }
    return bytes
  }

  /// Keys that a header carries or points at are not looked at: the server knows its own.
  private static func read(
    _ header: JSONValue
  ) throws(TokenError) -> (TokenAlgorithm, String?) {
    guard let algorithm = header["alg"]?.text.flatMap(TokenAlgorithm.init(rawValue:)) else {
      throw TokenError("its algorithm is not one of HS256, RS256 and ES256")
    }
    if let type = header["typ"] {
      guard type.text?.uppercased() == "JWT" else { throw TokenError("its type is not JWT") }
    }
    // `crit` names extensions that a reader must understand; the others change what the signature
    // or the payload means. Ignoring any of them could accept a token that its issuer did not mean.
    for member in ["crit", "b64", "enc", "zip"] where header[member] != nil {
      throw TokenError("its header asks for \(member), which is not done here")
    }
    guard let name = header["kid"] else { return (algorithm, nil) }
    guard let text = name.text, !text.isEmpty, text.utf8.count <= keyNameBytes else {
      throw TokenError("the name of its key is not a short text")
    }
    return (algorithm, text)
  }
}
