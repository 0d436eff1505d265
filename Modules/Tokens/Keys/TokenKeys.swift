import TernCore

/// The keys that tokens are checked with.
///
/// A set is immutable; ``TokenAuthenticator/use(_:)`` replaces it as a whole.
public struct TokenKeys: Sendable {
  /// The most keys in one set.
  ///
  /// Each key that fits a token's header may cost one verification, so the limit also bounds the
  /// work for a forged token.
  public static let most = 64

  let keys: [TokenKey]

  init(keys: [TokenKey]) { self.keys = keys }

  /// No key: no token is genuine.
  public init() { keys = [] }

  /// The number of keys.
  public var count: Int { keys.count }

  /// True when a key of the set can make tokens, so that a reader of its file can, too.
  public var canSign: Bool { keys.contains(where: \.canSign) }

  /// The keys of both.
  ///
  /// - Throws: ``TokenKeyError/tooMany(limit:)`` above ``most``.
  public func adding(_ others: TokenKeys) throws(TokenKeyError) -> TokenKeys {
    let all = keys + others.keys
    if all.count > Self.most { throw .tooMany(limit: Self.most) }
    return TokenKeys(keys: all)
  }

  /// Those that may have signed a token: of its algorithm, and of its name when both have one.
  ///
  /// The algorithm of the token never selects how a key is used: a key has one algorithm, and a
  /// public RSA key is never tried as the secret of HS256.
  func candidates(_ algorithm: TokenAlgorithm, name: String?) -> [TokenKey] {
    keys.filter { key in
      key.algorithm == algorithm && (key.name == nil || name == nil || key.name == name)
    }
  }
}

// MARK: - Reading files

extension TokenKeys {
  /// Reads the contents of a key file.
  ///
  /// Text that begins with `{` is a JSON Web Key or a set of them; blocks of PEM are keys and
  /// certificates; anything else is a secret for HS256, of at least 32 bytes, without the line
  /// break at its end.
  ///
  /// - Throws: ``TokenKeyError``; a file is taken whole or not at all, but for keys of a set that
  ///   are for something else.
  public static func reading(_ file: [UInt8]) async throws(TokenKeyError) -> TokenKeys {
    let spaces: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    let text = file.drop { spaces.contains($0) }
    guard let first = text.first else { throw .noKey }
    let keys: [TokenKey]
    if first == UInt8(ascii: "{") {
      keys = try await set(Array(text))
    } else if text.starts(with: Array("-----BEGIN ".utf8)) {
      keys = try await blocks(String(decoding: text, as: UTF8.self))
    } else {
      var secret = file
      while secret.last == 0x0A || secret.last == 0x0D { secret.removeLast() }
      keys = [try await TokenKey.secret(secret)]
    }
    if keys.isEmpty { throw .noKey }
    if keys.count > most { throw .tooMany(limit: most) }
    return TokenKeys(keys: keys)
  }

  /// Reads PEM blocks one after another; text between blocks is ignored.
  private static func blocks(_ text: String) async throws(TokenKeyError) -> [TokenKey] {
    var keys: [TokenKey] = []
    var block: [Substring]?
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("-----BEGIN ") { block = [] }
      block?.append(line)
      guard line.hasPrefix("-----END "), let lines = block else { continue }
      block = nil
      // OpenSSL writes the curve of a key in a block of its own.
      if line.contains("EC PARAMETERS") { continue }
      keys.append(try await TokenKey.pem(lines.joined(separator: "\n") + "\n"))
      if keys.count > most { throw .tooMany(limit: most) }
    }
    if block != nil { throw .unusable(reason: "a PEM block does not end") }
    return keys
  }

  /// Reads a JSON Web Key, or a set of them under `keys`. The limit is checked before any key is
  /// built.
  private static func set(_ text: [UInt8]) async throws(TokenKeyError) -> [TokenKey] {
    let json: JSONValue
    do throws(TokenError) { json = try StrictJSON.object(text) } catch {
      throw .unusable(reason: "the key set is not JSON: \(error.text)")
    }
    guard let members = json["keys"] else { return [try await key(json)].compactMap { $0 } }
    guard case .array(let elements) = members else {
      throw .unusable(reason: "\"keys\" must be an array")
    }
    if elements.count > most { throw .tooMany(limit: most) }
    var keys: [TokenKey] = []
    for element in elements {
      if let key = try await key(element) { keys.append(key) }
    }
    return keys
  }

  /// A key of a set; `nil` for one that is for something else. Source: RFC 7517, section 4.
  ///
  /// - Throws: ``TokenKeyError/unusable(reason:)`` for a key of a known type that is incomplete. A
  ///   key for encryption, of another algorithm or of another curve is skipped, because public sets
  ///   mix them.
  private static func key(_ json: JSONValue) async throws(TokenKeyError) -> TokenKey? {
    guard let type = json["kty"]?.text else { throw .unusable(reason: "a key has no \"kty\"") }
    if let use = json["use"], use != .string("sig") { return nil }
    let name = json["kid"]?.text
    func text(_ member: String) throws(TokenKeyError) -> String {
      guard let text = json[member]?.text else {
        throw .unusable(reason: "a key of type \(type) has no \"\(member)\"")
      }
      return text
    }
    func isFor(_ algorithm: TokenAlgorithm) -> Bool {
      json["alg"].map { $0 == .string(algorithm.rawValue) } ?? true
    }
    switch type {
    case "oct" where isFor(.hs256):
      guard let secret = Base64URL.decode(try text("k").utf8) else {
        throw .unusable(reason: "the \"k\" of a key is not base64url")
      }
      return try await TokenKey.secret(secret, name: name)
    case "RSA" where isFor(.rs256):
      return try await TokenKey.rsa(modulus: try text("n"), exponent: try text("e"), name: name)
    case "EC" where isFor(.es256) && json["crv"] == .string("P-256"):
      return try await TokenKey.ecdsa(x: try text("x"), y: try text("y"), name: name)
    default: return nil
    }
  }
}
