import Synchronization
import TernCore
public import TernSecurity

/// Takes signed tokens of users, and of administrators who may speak for one.
///
/// A token that was found genuine is remembered, so that a client which shows it with every request
/// costs one signature; whether it still counts is looked at each time.
///
/// Keys and revocations can be replaced while the server runs; both take effect for connections
/// that signed in before, because ``revalidate(_:now:)`` looks at the current ones. The lock is
/// held for lookups only: signatures are verified outside of it.
public final class TokenAuthenticator: CredentialCacheCounting {
  /// The most tokens that are remembered; then all are forgotten.
  public static let mostRemembered = 4_096

  /// The state under the lock.
  private struct State {
    var keys: TokenKeys
    var revocations = Revocations()
    /// Genuine tokens, with what they say.
    var genuine: [ExactText: Authentication] = [:]
    /// The number of tokens verified by their signature.
    var judged = 0
    /// The number of tokens found in ``genuine``.
    var remembered = 0
  }

  private let checks: TokenChecks
  private let state: Mutex<State>

  /// Judges by these keys and checks.
  public init(_ keys: TokenKeys, checks: TokenChecks = TokenChecks()) {
    self.checks = checks
    state = Mutex(State(keys: keys))
  }

  /// Takes other keys; tokens of keys that are not among them no longer count, connected or not.
  public func use(_ keys: TokenKeys) {
    state.withLock { state in
      state.keys = keys
      state.genuine = [:]
    }
  }

  /// Takes another list of who was revoked, in place of the one before.
  public func use(_ revocations: Revocations) {
    state.withLock { $0.revocations = revocations }
  }

  /// The number of tokens verified by their signature, and not found in the cache.
  package var judgedTokens: Int { state.withLock { $0.judged } }

  public var credentialCache: (hits: Int, misses: Int) {
    state.withLock { ($0.remembered, $0.judged) }
  }

  /// Accepts a credential whose token is genuine and counts now.
  ///
  /// An administrator may present the identity of a user to act for; for other identities that is
  /// an error, even with a valid token.
  ///
  /// - Parameter now: Milliseconds since 1970.
  public func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    var accepted = try genuine(credential.token, now: now)
    if let error = revalidate(accepted, now: now) { throw error }
    guard let override = credential.override else { return accepted }
    guard accepted.identity == .administrator else {
      throw .invalid(reason: "Only an administrator may act for another user.")
    }
    accepted.identity = try Identity(speakingFor: override)
    return accepted
  }

  /// Checks again whether an accepted credential counts; the server calls it during a connection.
  ///
  /// - Returns: The reason the credential no longer counts: it has expired, its key was removed, or
  ///   it was revoked. `nil` while it counts.
  public func revalidate(_ accepted: Authentication, now: Int64) -> AuthenticationError? {
    if let ends = accepted.ends, now >= ends * 1_000 {
      return .expired(reason: "The token has expired.")
    }
    return state.withLock { state in
      if let mark = accepted.voucher, !state.keys.keys.contains(where: { $0.mark == mark }) {
        return .invalid(reason: "The key of the token is no longer trusted.")
      }
      return state.revocations.revokes(accepted)
        ? .invalid(reason: "The token was revoked.") : nil
    }
  }

  /// Returns the content of a genuine token, from the cache or by verifying it.
  ///
  /// Two calls with one new token may both verify it, which costs time and nothing else. Tokens
  /// that fail are not remembered: an attacker could fill the cache with them.
  private func genuine(
    _ token: String, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    let key = ExactText(token)
    let known = state.withLock { state in
      let known = state.genuine[key]
      if known != nil { state.remembered += 1 }
      return known
    }
    if let known { return known }
    let keys = state.withLock { state in
      state.judged += 1
      return state.keys
    }
    let accepted = try judge(token, keys, now: now)
    state.withLock { state in
      // Forgetting everything is simpler than an order of use, and costs one signature for each
      // client still connected.
      if state.genuine.count >= Self.mostRemembered { state.genuine = [:] }
      state.genuine[key] = accepted
    }
    return accepted
  }

  /// Verifies a token from scratch: form, signature, user, then origin and times.
  private func judge(
    _ text: String, _ keys: TokenKeys, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    do throws(TokenError) {
      let token = try SignedToken(text)
      let key = keys.candidates(token.algorithm, name: token.keyName)
        .first { $0.verifies(token.signature, of: token.content) }
      guard let key else { throw TokenError("no key here has signed it") }
      // Only now is anything in it believed.
      let identity = try TokenUser.identity(token.claims)
      let times = try checks.judge(token.claims, now: now)
      return Authentication(
        identity, expires: times.expires, graceSeconds: checks.clockSkewSeconds,
        issued: times.issued, voucher: key.mark)
    } catch {
      let sentence = "The token is not valid: \(error.text)."
      throw error.isExpired ? .expired(reason: sentence) : .invalid(reason: sentence)
    }
  }
}
