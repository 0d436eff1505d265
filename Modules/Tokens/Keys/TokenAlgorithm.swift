/// The algorithm that signs tokens.
public enum TokenAlgorithm: String, Hashable, Sendable, CaseIterable {
  /// HMAC with SHA-256: one secret signs and checks.
  case hs256 = "HS256"
  /// RSA with SHA-256: a private key signs, a public one checks.
  case rs256 = "RS256"
  /// ECDSA over P-256 with SHA-256: a private key signs, a public one checks.
  case es256 = "ES256"
}

/// The reason keys could not be read from a file.
public enum TokenKeyError: Error, Hashable, Sendable {
  /// The file cannot be read.
  case unreadable(reason: String)
  /// There is no key in it.
  case noKey
  /// A secret is shorter than what it signs with; make one with `openssl rand -hex 32`.
  case secretTooShort(bytes: Int, minimum: Int)
  /// Something in it is no key that is taken here.
  case unusable(reason: String)
  /// More keys than ``TokenKeys/most``.
  case tooMany(limit: Int)
  /// The key can only check, not sign.
  case cannotSign
}

extension TokenKeyError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unreadable(let reason): reason
    case .noKey: "there is no key in it"
    case .secretTooShort(let bytes, let minimum):
      "the secret has \(bytes) bytes; it needs \(minimum) (openssl rand -hex 32 makes a good one)"
    case .unusable(let reason): reason
    case .tooMany(let limit): "there are more than \(limit) keys"
    case .cannotSign: "the key can check tokens, but not sign them"
    }
  }
}
