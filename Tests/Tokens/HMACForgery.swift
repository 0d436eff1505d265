import JWTKit

/// Signs with secrets that no server would take.
enum HMACForgery {
  /// HMAC with SHA-256; secrets shorter than a digest are filled up with zeros, which HMAC takes
  /// for the same.
  static func sign(_ content: [UInt8], with secret: [UInt8]) async throws -> [UInt8] {
    let filled = secret + [UInt8](repeating: 0, count: max(0, 32 - secret.count))
    let keys = await JWTKeyCollection()
      .add(hmac: HMACKey(from: filled), digestAlgorithm: .sha256)
    return try await keys.getKey().sign(content)
  }
}
