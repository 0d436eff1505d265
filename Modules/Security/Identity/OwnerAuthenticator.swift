package import TernCore

/// Accepts the token `owner` as an administrator. For development only.
///
/// The token is no secret, so it counts only on this machine; emulators of the Firebase Realtime
/// Database take it, and the clients that are made for those send it.
public struct OwnerAuthenticator: CredentialCacheCounting {
  private let others: any Authenticator

  /// - Parameter others: Judges all other credentials. Default: none is accepted.
  public init(others: any Authenticator = NoAuthenticator()) {
    self.others = others
  }

  public func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    guard credential.token == "owner", credential.isLocal else {
      return try others.authenticate(credential, now: now)
    }
    guard let override = credential.override else { return Authentication(.administrator) }
    return Authentication(try Identity(speakingFor: override))
  }

  /// The lookups of the other authenticator.
  public var credentialCache: (hits: Int, misses: Int) {
    (others as? any CredentialCacheCounting)?.credentialCache ?? (0, 0)
  }

  public func revalidate(_ accepted: Authentication, now: Int64) -> AuthenticationError? {
    // An identity from the token `owner` has neither an expiry nor a signature.
    accepted.voucher == nil && accepted.expires == nil
      ? nil : others.revalidate(accepted, now: now)
  }
}

extension Identity {
  /// Returns the identity that an administrator impersonates: anonymous, or an object that rules
  /// see as `auth`.
  package init(speakingFor user: JSONValue) throws(AuthenticationError) {
    if user == .null {
      self = .anonymous
      return
    }
    guard case .object = user else {
      throw .invalid(reason: "The user to speak for is neither an object nor null.")
    }
    self = .impersonated(user)
  }
}
