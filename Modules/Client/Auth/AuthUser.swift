public import TernCore
public import TernStorage
import TernSync

/// A user who is signed in on this device, as their token says.
public struct AuthUser: Hashable, Sendable {
  /// The id of the user; `auth.uid` in rules.
  public let uid: String
  /// The claims of the token, as far as this device can read it.
  public let claims: JSONValue
  /// The expiry of the token, in seconds since 1970; `nil` when it has none, or one that no date
  /// has.
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
    let seconds: Int64? =
      switch claims["exp"] {
      case .integer(let seconds): seconds
      case .double(let seconds): Int64(exactly: seconds.rounded(.down))
      case .some, nil: nil
      }
    expires = seconds.flatMap { Self.dates.contains($0) ? $0 : nil }
  }

  /// The seconds since 1970 up to the end of the year 9999.
  private static let dates: ClosedRange<Int64> = 0...253_402_300_799
}

extension AuthUser {
  /// Reads the token of a user who signs in, and needs a queue for their writes.
  ///
  /// - Throws: What ``init(token:)`` throws, ``AuthError/userTooLong(bytes:limitBytes:)``.
  init(signingInWith token: String) throws(AuthError) {
    self = try AuthUser(token: token)
    let bytes = uid.utf8.count
    guard bytes <= QueueLimits.userBytes else {
      throw .userTooLong(bytes: bytes, limitBytes: QueueLimits.userBytes)
    }
  }
}

extension QueueUser {
  /// Creates the user that a credential names; empty for no credential, and for one that names no
  /// user.
  init(showing credential: String?) {
    let user = credential.flatMap { try? AuthUser(token: $0) }
    self.init(user?.uid ?? "")
  }

  /// Creates the signed-in user; empty while that is not known yet.
  init(signedInTo auth: ClientAuth?) { self.init(auth?.currentUser?.uid ?? "") }
}

/// The signed-in user, and the server's view of the token.
public enum AuthState: Hashable, Sendable {
  /// No user is signed in.
  case signedOut
  /// A user is signed in; the server has accepted the token, or has not seen it yet.
  case signedIn(AuthUser)
  /// A user is signed in, but their token has expired or was rejected. Writes and listens wait
  /// until ``ClientAuth/signIn(token:)`` brings another one.
  case tokenNeeded(AuthUser, reason: String)

  /// The signed-in user; `nil` for none.
  public var user: AuthUser? {
    switch self {
    case .signedOut: nil
    case .signedIn(let user), .tokenNeeded(let user, _): user
    }
  }
}

/// The reason a sign-in or sign-out failed; nothing has changed.
public enum AuthError: Error, Hashable, Sendable {
  /// The text is no token, or names no user. Get another one.
  case malformedToken
  /// The user's id is longer than writes can be queued under: `QueueLimits.userBytes`.
  case userTooLong(bytes: Int, limitBytes: Int)
  /// It could not be remembered on this device, or be read.
  case notStored(StorageError)
}
