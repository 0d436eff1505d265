import TernCore

/// Takes whoever shows the token `owner` for an administrator. For development only.
///
/// The token is no secret, so it counts only on this machine; emulators of the Firebase Realtime
/// Database take it, and the clients that are made for those send it.
public struct OwnerAuthenticator: Authenticator {
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
    switch credential.override {
    case nil: return Authentication(.administrator)
    case .null: return Authentication(.anonymous)
    case .some(let user):
      guard let id = user["uid"]?.text else {
        throw .invalid(reason: "The user to speak for has no uid.")
      }
      return Authentication(.user(id: id, claims: user["token"] ?? .object([])))
    }
  }
}
