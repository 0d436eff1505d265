import TernCore
public import TernSecurity

/// Takes a user's token without looking who has signed it, as emulators of the Firebase Realtime
/// Database do for tests with mock users. For development only.
///
/// Such a token can be forged by any program, so it counts on this machine alone. Its expiry is
/// ignored: tokens of stock clients say that they expired in 1970. Source: realtime reference,
/// section 11.7.
public struct MockUserAuthenticator: Authenticator {
  /// There is nothing to choose.
  public init() {}

  /// - Throws: ``TernSecurity/AuthenticationError/invalid(reason:)`` for a credential from another
  ///   machine, one that speaks for another user, one that claims to be an administrator, and for
  ///   text that is no token. The signature part may be empty.
  public func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    guard credential.isLocal else {
      throw .invalid(reason: "Unsigned tokens count on the server's machine only.")
    }
    guard credential.override == nil else {
      throw .invalid(reason: "Only an administrator may act for another user.")
    }
    do throws(TokenError) {
      let claims = try Self.claims(credential.token)
      guard claims[TokenUser.powerClaim] == nil else {
        throw TokenError("a mock user is no administrator")
      }
      return Authentication(try TokenUser.identity(claims))
    } catch {
      throw .invalid(reason: "Could not parse auth token: \(error.text).")
    }
  }

  /// Returns `nil`: an accepted credential counts for good.
  public func revalidate(_ accepted: Authentication, now: Int64) -> AuthenticationError? { nil }

  /// Returns the payload. Duplicate members are tolerated here, unlike in signed tokens: the claims
  /// are not trusted in any case.
  private static func claims(_ token: String) throws(TokenError) -> JSONValue {
    guard token.utf8.count <= SignedToken.most else {
      throw TokenError("it is longer than \(SignedToken.most) bytes")
    }
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw TokenError("it does not have three parts") }
    _ = try object(parts[0], "header")
    return try object(parts[1], "payload")
  }

  /// Some who make mock users write base64 in its other alphabet, and pad it.
  private static func object(
    _ part: some Sequence<UInt8>, _ name: String
  ) throws(TokenError) -> JSONValue {
    let text = part.filter { $0 != UInt8(ascii: "=") }.map { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: byte
      }
    }
    guard let bytes = Base64URL.decode(text),
      case .object(let members) = try? JSONValue(parsing: bytes)
    else { throw TokenError("its \(name) is no JSON object in base64url") }
    return .object(members)
  }
}
