#if Tokens
  import JWTKit
  import TernCore

  /// One key, bound to its algorithm.
  ///
  /// It hides the cryptographic library: only this file imports it. Binding the algorithm to the
  /// key, and not taking it from the token, closes the known attacks that mix them up.
  struct TokenKey: Sendable {
    let algorithm: TokenAlgorithm
    /// The key id in tokens; `nil` for a key that tokens need not name.
    let name: String?
    /// Tells it from other keys, over reloads: a digest of what it was made from.
    ///
    /// Connections keep it as the voucher of their credential. It survives a reload of the same
    /// file and ends with the key.
    let mark: UInt64
    /// True when it can make tokens.
    let canSign: Bool
    private let mechanism: any JWTAlgorithm

    private init(
      _ algorithm: TokenAlgorithm, _ name: String?, canSign: Bool, from material: [UInt8],
      _ mechanism: any JWTAlgorithm
    ) {
      self.algorithm = algorithm
      self.name = name
      self.canSign = canSign
      self.mechanism = mechanism
      mark = Self.mark(of: Array(algorithm.rawValue.utf8) + (name ?? "").utf8 + [0] + material)
    }

    /// Returns true when `signature` was made for `content` with this key.
    ///
    /// Runs on the calling thread and does not wait.
    func verifies(_ signature: [UInt8], of content: [UInt8]) -> Bool {
      // What the library throws at a signature it cannot even read is a no.
      (try? mechanism.verify(signature, signs: content)) ?? false
    }

    /// Signs.
    ///
    /// - Throws: ``TokenKeyError/cannotSign`` for a public key.
    func sign(_ content: [UInt8]) throws(TokenKeyError) -> [UInt8] {
      guard canSign else { throw .cannotSign }
      do { return try mechanism.sign(content) } catch {
        throw .unusable(reason: "the key does not sign: \(error)")
      }
    }

    /// FNV-1a: it has to tell keys of one file apart, not to withstand an attack.
    private static func mark(of bytes: [UInt8]) -> UInt64 {
      bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
  }

  extension TokenKey {
    /// The fewest bytes of a secret: those of the digest it is used with.
    static let secretBytes = 32

    /// A secret, for HS256.
    static func secret(_ bytes: [UInt8], name: String? = nil) async throws(TokenKeyError)
      -> TokenKey
    {
      guard bytes.count >= secretBytes else {
        throw .secretTooShort(bytes: bytes.count, minimum: secretBytes)
      }
      let mechanism = try await mechanism { keys in
        await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
      }
      return TokenKey(.hs256, name, canSign: true, from: bytes, mechanism)
    }

    /// A key or a certificate in PEM; its type tells the algorithm.
    ///
    /// Certificates are used for their public key alone; neither their dates nor their issuer are
    /// checked. RSA is tried before P-256 in each group.
    static func pem(_ text: String, name: String? = nil) async throws(TokenKeyError) -> TokenKey {
      let bytes = Array(text.utf8)
      if text.contains("CERTIFICATE-----") {
        if let key = try? Insecure.RSA.PublicKey(certificatePEM: text) {
          return try await rsa(key, name, canSign: false, bytes)
        }
        if let key = try? ES256PublicKey(certificate: text) {
          return try await ecdsa(key, name, canSign: false, bytes)
        }
        throw .unusable(reason: "a certificate holds neither an RSA nor a P-256 key")
      }
      if text.contains("PRIVATE KEY-----") {
        if let key = try? Insecure.RSA.PrivateKey(pem: text) {
          return try await rsa(key, name, canSign: true, bytes)
        }
        if let key = try? ES256PrivateKey(pem: text) {
          return try await ecdsa(key, name, canSign: true, bytes)
        }
      }
      if let key = try? Insecure.RSA.PublicKey(pem: text) {
        return try await rsa(key, name, canSign: false, bytes)
      }
      if let key = try? ES256PublicKey(pem: text) {
        return try await ecdsa(key, name, canSign: false, bytes)
      }
      throw .unusable(
        reason: "a PEM block is neither an RSA key of 2048 bits or more nor a P-256 key")
    }

    /// An RSA key of a key set, for RS256.
    ///
    /// - Parameters:
    ///   - modulus: The member `n`, in base64url.
    ///   - exponent: The member `e`, in base64url.
    ///   - name: The member `kid`.
    static func rsa(
      modulus: String, exponent: String, name: String?
    ) async throws(TokenKeyError) -> TokenKey {
      let key: Insecure.RSA.PublicKey
      do { key = try Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent) } catch {
        throw .unusable(reason: "an RSA key of the set is malformed, or has less than 2048 bits")
      }
      return try await rsa(key, name, canSign: false, Array((modulus + "." + exponent).utf8))
    }

    /// A P-256 key of a key set, for ES256.
    ///
    /// - Parameters:
    ///   - x: The member `x`, in base64url.
    ///   - y: The member `y`, in base64url.
    ///   - name: The member `kid`.
    static func ecdsa(x: String, y: String, name: String?) async throws(TokenKeyError) -> TokenKey {
      let key: ES256PublicKey
      do { key = try ES256PublicKey(parameters: (x, y)) } catch {
        throw .unusable(reason: "a P-256 key of the set is malformed")
      }
      return try await ecdsa(key, name, canSign: false, Array((x + "." + y).utf8))
    }

    private static func rsa(
      _ key: some RSAKey, _ name: String?, canSign: Bool, _ material: [UInt8]
    ) async throws(TokenKeyError) -> TokenKey {
      let mechanism = try await mechanism { await $0.add(rsa: key, digestAlgorithm: .sha256) }
      return TokenKey(.rs256, name, canSign: canSign, from: material, mechanism)
    }

    private static func ecdsa(
      _ key: some ECDSAKey, _ name: String?, canSign: Bool, _ material: [UInt8]
    ) async throws(TokenKeyError) -> TokenKey {
      let mechanism = try await mechanism { await $0.add(ecdsa: key) }
      return TokenKey(.es256, name, canSign: canSign, from: material, mechanism)
    }

    /// Lets the library make what checks and signs. It keeps keys in actors; what is taken out of
    /// one here is called without waiting.
    private static func mechanism(
      _ add: @Sendable (JWTKeyCollection) async -> JWTKeyCollection
    ) async throws(TokenKeyError) -> any JWTAlgorithm {
      let keys = await add(JWTKeyCollection())
      do { return try await keys.getKey() } catch {
        throw .unusable(reason: "the key is not usable: \(error)")
      }
    }
  }
#endif
