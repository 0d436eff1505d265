#if !Tokens
  /// A key in a program built without the package trait `Tokens`: reading one is an error.
  ///
  /// It has the members of the real type, so that the rest of the module compiles unchanged. No
  /// value of it ever exists.
  struct TokenKey: Sendable {
    let algorithm: TokenAlgorithm
    let name: String?
    let mark: UInt64
    let canSign: Bool

    private static let unbuilt = TokenKeyError.unusable(
      reason: "this program was built without the package trait Tokens")

    func verifies(_ signature: [UInt8], of content: [UInt8]) -> Bool { false }

    func sign(_ content: [UInt8]) throws(TokenKeyError) -> [UInt8] { throw Self.unbuilt }

    static func secret(
      _ bytes: [UInt8], name: String? = nil
    ) async throws(TokenKeyError) -> TokenKey {
      throw unbuilt
    }

    static func pem(_ text: String, name: String? = nil) async throws(TokenKeyError) -> TokenKey {
      throw unbuilt
    }

    static func rsa(
      modulus: String, exponent: String, name: String?
    ) async throws(TokenKeyError) -> TokenKey {
      throw unbuilt
    }

    static func ecdsa(
      x: String, y: String, name: String?
    ) async throws(TokenKeyError) -> TokenKey {
      throw unbuilt
    }
  }
#endif
