import TernCore
import TernSecurity

/// The claims that a genuine token must have to be accepted.
public struct TokenChecks: Hashable, Sendable {
  /// The issuers that are trusted; empty for any that has a key.
  public var issuers: Set<String>
  /// The audiences that are meant here, of which a token names one; empty takes any.
  public var audiences: Set<String>
  /// The tolerated difference between the clocks of issuer and server, 0...300 s.
  public var clockSkewSeconds: Int64

  /// The default tolerance for the difference between clocks.
  public static let standardClockSkewSeconds: Int64 = 30
  /// The most bytes of a user's id.
  public static let userIDBytes = Revocations.userBytes

  /// Checks of issuer and audience, if any are given.
  public init(
    issuers: Set<String> = [], audiences: Set<String> = [],
    clockSkewSeconds: Int64 = TokenChecks.standardClockSkewSeconds
  ) {
    precondition((0...300).contains(clockSkewSeconds), "clocks are at most 300 s apart")
    self.issuers = issuers
    self.audiences = audiences
    self.clockSkewSeconds = clockSkewSeconds
  }
}

extension TokenChecks {
  /// Judges the claims of a genuine token at `now`, in milliseconds since 1970.
  ///
  /// The order decides which error a client sees: a token from elsewhere is invalid, even if it has
  /// also expired.
  ///
  /// - Returns: The times, which the connection keeps to notice the expiry later.
  /// - Throws: ``TokenError/expired`` for an expired token, which the client may renew; another
  ///   error for one that never counts here, or not yet.
  func judge(_ claims: JSONValue, now: Int64) throws(TokenError) -> TokenTimes {
    try checkOrigin(claims)
    let times = try TokenTimes(claims)
    let seconds = now / 1_000
    if let begins = times.begins, begins > seconds + clockSkewSeconds {
      throw TokenError("it does not count yet")
    }
    if let issued = times.issued, issued > seconds + clockSkewSeconds {
      throw TokenError("it was issued in the future")
    }
    guard times.expires + clockSkewSeconds > seconds else { throw .expired }
    return times
  }

  /// Returns true when a list has this very name, compared by bytes.
  private static func names(_ name: String, in list: Set<String>) -> Bool {
    list.contains { $0.hasSameBytes(as: name) }
  }

  /// Checks `iss` and `aud` against the lists; an empty list checks nothing. `aud` may be one name
  /// or an array.
  private func checkOrigin(_ claims: JSONValue) throws(TokenError) {
    if !issuers.isEmpty {
      guard let issuer = claims["iss"]?.text, Self.names(issuer, in: issuers) else {
        throw TokenError("its issuer is not trusted here")
      }
    }
    if audiences.isEmpty { return }
    let named: [JSONValue] =
      switch claims["aud"] {
      case .array(let elements): elements
      case .some(let one): [one]
      case nil: []
      }
    guard named.contains(where: { $0.text.map { Self.names($0, in: audiences) } ?? false }) else {
      throw TokenError("it is meant for another audience")
    }
  }
}

/// The validity period of a token, in seconds since 1970.
///
/// `exp` is mandatory: a token that never expires could not be withdrawn otherwise than by a
/// revocation.
struct TokenTimes {
  let expires: Int64
  let issued: Int64?
  let begins: Int64?

  init(_ claims: JSONValue) throws(TokenError) {
    guard let end = claims["exp"] else { throw TokenError("it does not say when it expires") }
    expires = try Self.seconds(end, "exp")
    issued = try claims["iat"].map { value throws(TokenError) in try Self.seconds(value, "iat") }
    begins = try claims["nbf"].map { value throws(TokenError) in try Self.seconds(value, "nbf") }
  }

  /// Whole seconds, rounded down; fractions are allowed. Source: RFC 7519, section 2.
  private static func seconds(_ value: JSONValue, _ name: String) throws(TokenError) -> Int64 {
    let seconds: Int64? =
      switch value {
      case .integer(let value): value
      case .double(let value): Int64(exactly: value.rounded(.down))
      case .null, .bool, .string, .array, .object: nil
      }
    guard let seconds, (0...latest).contains(seconds) else {
      throw TokenError("its \(name) is not a time")
    }
    return seconds
  }

  /// The end of the year 9999.
  ///
  /// Larger numbers, such as milliseconds given by mistake, are rejected, and sums with the clock
  /// skew cannot overflow.
  private static let latest: Int64 = 253_402_300_799
}
