public import TernCore

/// What a client shows to say who it is.
public struct Credential: Hashable, Sendable {
  /// How the token is to be read.
  public enum Kind: Hashable, Sendable {
    /// A signed token about a user.
    case user
    /// An opaque token of a service.
    case service
  }

  public var kind: Kind
  /// What proves it.
  public var token: String
  /// What rules are to see as the user instead; only for those who may ask for it.
  public var override: JSONValue?
  /// Whether it was shown on this machine, by a program or a page of this machine.
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
  /// Who it is.
  public var identity: Identity
  /// When it ends, in seconds since 1970; `nil` when it does not.
  public var expires: Int64?

  /// Somebody, for good or until `expires`.
  public init(_ identity: Identity, expires: Int64? = nil) {
    self.identity = identity
    self.expires = expires
  }
}

/// Why a credential was not accepted.
public enum AuthenticationError: Error, Hashable, Sendable {
  /// It is not genuine, or not for this server. Get another one.
  case invalid(reason: String)
  /// It was genuine once. Refresh it.
  case expired(reason: String)
}

/// Tells from a credential who is asking.
public protocol Authenticator: Sendable {
  /// Judges a credential at `now`, in milliseconds since 1970. Must not block.
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication
}

/// Accepts no credential: everybody stays anonymous.
public struct NoAuthenticator: Authenticator {
  /// There is nothing to choose.
  public init() {}

  public func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    throw .invalid(reason: "This server accepts no credentials.")
  }
}
