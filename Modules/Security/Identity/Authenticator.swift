public import TernCore

/// The proof of identity that a client presents.
public struct Credential: Hashable, Sendable {
  /// The form of the token.
  public enum Kind: Hashable, Sendable {
    /// A signed token about a user.
    case user
    /// An opaque token of a service.
    case service
  }

  /// The form of the token.
  public var kind: Kind
  /// The token that proves the identity.
  public var token: String
  /// The claims that rules see as the user instead; only for administrators.
  public var override: JSONValue?
  /// True when it was presented on this machine, by a program or a page of this machine.
  public var isLocal: Bool

  /// A credential as a client shows it.
  public init(
    _ kind: Kind, token: String, override: JSONValue? = nil, isLocal: Bool = false
  ) {
    self.kind = kind
    self.token = token
    self.override = override
    self.isLocal = isLocal
  }
}

/// A credential that was accepted.
public struct Authentication: Hashable, Sendable {
  /// The identity that the credential proves.
  public var identity: Identity
  /// The identity that presented it; it differs from ``identity`` for an administrator who
  /// impersonates a user.
  public let holder: Identity
  /// The expiry, in seconds since 1970, as the credential says; `nil` for none.
  public var expires: Int64?
  /// The tolerance of the expiry in seconds: clocks differ.
  public var graceSeconds: Int64
  /// The time of issue, in seconds since 1970; `nil` when the credential has none.
  public var issued: Int64?
  /// The key or signature behind the credential, in a form that only its authenticator understands.
  public var voucher: UInt64?

  /// Creates an identity that is valid for good or until `expires`.
  public init(
    _ identity: Identity, expires: Int64? = nil, graceSeconds: Int64 = 0, issued: Int64? = nil,
    voucher: UInt64? = nil
  ) {
    self.identity = identity
    holder = identity
    self.expires = expires
    self.graceSeconds = graceSeconds
    self.issued = issued
    self.voucher = voucher
  }

  /// The time at which it stops to count, in seconds since 1970; `nil` for never.
  public var ends: Int64? { expires.map { $0 + graceSeconds } }
}

/// The reason a credential was not accepted.
public enum AuthenticationError: Error, Hashable, Sendable {
  /// It is not genuine, or not for this server. Get another one.
  case invalid(reason: String)
  /// It was genuine once. Refresh it.
  case expired(reason: String)
}

/// The source of identities: maps a credential to the identity that it proves.
public protocol Authenticator: Sendable {
  /// Judges a credential at `now`, in milliseconds since 1970. Must not block.
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication

  /// Returns the reason an accepted credential no longer counts at `now`, in milliseconds since
  /// 1970; `nil` while it does. Called again and again for every connection, so it has to be fast.
  func revalidate(_ accepted: Authentication, now: Int64) -> AuthenticationError?
}

extension Authenticator {
  /// Returns an error for a credential that has expired.
  public func revalidate(_ accepted: Authentication, now: Int64) -> AuthenticationError? {
    guard let ends = accepted.ends, now >= ends * 1_000 else { return nil }
    return .expired(reason: "The token has expired.")
  }
}

/// An authenticator that remembers credentials that it has found genuine.
public protocol CredentialCacheCounting: Authenticator {
  /// The lookups of credentials since the start: those that were remembered, and the others.
  var credentialCache: (hits: Int, misses: Int) { get }
}

/// Accepts no credential: every client stays anonymous.
public struct NoAuthenticator: Authenticator {
  /// There is nothing to choose.
  public init() {}

  public func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    throw .invalid(reason: "This server accepts no credentials.")
  }
}
