public import TernCore
public import TernStorage
import TernSync

/// Somebody who is signed in on this device, as their token says.
public struct AuthUser: Hashable, Sendable {
  /// The id of the user; `auth.uid` in rules.
  public let uid: String
  /// What the token says about them, as far as this device can read it.
  public let claims: JSONValue
  /// When the token ends, in seconds since 1970; `nil` when it does not say.
  public let expires: Int64?

  /// Reads a token without believing it: the server decides whether it counts.
  ///
  /// - Throws: ``AuthError/malformedToken`` when it is none, or names no user.
  init(token: String) throws(AuthError) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64.decode(String(parts[1])),
      let claims = try? JSONValue(parsing: bytes),
      let uid = (claims["uid"] ?? claims["user_id"] ?? claims["sub"])?.text, !uid.isEmpty
    else { throw .malformedToken }
    self.uid = uid
    self.claims = claims
    expires =
      switch claims["exp"] {
      case .integer(let seconds): seconds
      case .double(let seconds): Int64(exactly: seconds.rounded(.down))
      case .some, nil: nil
      }
  }
}

extension QueueUser {
  /// Whom a credential names; nobody for none, and for one that names no user.
  init(showing credential: String?) {
    let user = credential.flatMap { try? AuthUser(token: $0) }
    self.init(user?.uid ?? "")
  }

  /// Who is signed in; nobody where that is not known yet.
  init(signedInTo auth: ClientAuth?) { self.init(auth?.currentUser?.uid ?? "") }
}

/// Who is signed in, and whether the server knows.
public enum AuthState: Hashable, Sendable {
  /// Nobody is signed in.
  case signedOut
  /// Somebody is; the server has accepted the token, or has not seen it yet.
  case signedIn(AuthUser)
  /// Somebody is, but their token has expired or is refused. Writes and listens wait until
  /// ``ClientAuth/signIn(token:)`` brings another one.
  case tokenNeeded(AuthUser, reason: String)

  /// Who is signed in; `nil` for nobody.
  public var user: AuthUser? {
    switch self {
    case .signedOut: nil
    case .signedIn(let user), .tokenNeeded(let user, _): user
    }
  }
}

/// Why somebody could not be signed in or out; nothing has changed.
public enum AuthError: Error, Hashable, Sendable {
  /// The text is no token, or names no user. Get another one.
  case malformedToken
  /// It could not be remembered on this device, or be read.
  case notStored(StorageError)
}
