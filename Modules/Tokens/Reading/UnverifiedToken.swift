public import TernCore
public import TernSecurity

/// A decoded token without any verification: for tools that display tokens.
public struct UnverifiedToken: Sendable {
  /// The algorithm that its header names.
  public let algorithm: TokenAlgorithm
  /// The key that its header names, `kid`.
  public let keyName: String?
  /// Its claims, a JSON object.
  public let claims: JSONValue

  /// Takes a token apart.
  ///
  /// - Throws: ``TernSecurity/AuthenticationError/invalid(reason:)`` for a text that is no token.
  public init(_ text: String) throws(AuthenticationError) {
    do throws(TokenError) {
      let token = try SignedToken(text)
      (algorithm, keyName, claims) = (token.algorithm, token.keyName, token.claims)
    } catch {
      throw .invalid(reason: "The token is not valid: \(error.text).")
    }
  }
}
