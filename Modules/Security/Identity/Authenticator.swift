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
  /// Who has shown it; another than ``identity`` for an administrator who speaks for somebody.
  public let holder: Identity
  /// When it ends, in seconds since 1970, as the credential says; `nil` when it does not.
  public var expires: Int64?
  /// How many seconds later it is taken to have ended: clocks differ.
  public var graceSeconds: Int64
  /// When it was made, in seconds since 1970; `nil` when it does not say.
  public var issued: Int64?
  /// What vouched for it, in a form that only its authenticator understands.
  public var voucher: UInt64?

  /// Somebody, for good or until `expires`.
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

  /// When it no longer counts, in seconds since 1970; `nil` when it always does.
  public var ends: Int64? { expires.map { $0 + graceSeconds } }
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

  /// Why something that was accepted no longer counts at `now`, in milliseconds since 1970; `nil`
  /// while it does. Asked again and again about everybody who is connected, so it has to be fast.
  func objection(to accepted: Authentication, now: Int64) -> AuthenticationError?
}

extension Authenticator {
  /// Objects to what has expired.
  public func objection(to accepted: Authentication, now: Int64) -> AuthenticationError? {
    guard let ends = accepted.ends, now >= ends * 1_000 else { return nil }
    return .expired(reason: "The token has expired.")
  }
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
