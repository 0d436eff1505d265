import TernCore
import TernLedger
import TernSecurity
import TernStorage
import TernTreeWire

/// Maps credentials to identities, and knows which of them were revoked at run time.
///
/// Revocations are stored beside the data, in force before the answer, and count for all databases:
/// tokens are the server's, not a database's.
///
/// The authenticator knows keys and signatures; this type adds the revocations that administrators
/// make while the server runs.
struct CredentialChecker {
  let authenticator: any Authenticator
  /// Tokens revoked at run time, in addition to those that the authenticator revokes.
  var revocations = Revocations()

  init(_ authenticator: any Authenticator) { self.authenticator = authenticator }

  /// Authenticates a credential that was not revoked.
  func recognize(
    _ credential: Credential, _ batch: borrowing ServerBatch
  ) throws(AuthenticationError) -> Authentication {
    let accepted = try authenticator.authenticate(credential, now: batch.now)
    if revocations.revokes(accepted) { throw Self.revoked }
    return accepted
  }

  /// Returns the reason why an accepted credential no longer counts; `nil` while it does.
  ///
  /// Called for all sessions with each tick and after each revocation, so it verifies no signature
  /// again.
  func revalidate(
    _ accepted: AcceptedCredential?, _ batch: borrowing ServerBatch
  ) -> AuthenticationError? {
    guard let accepted else { return nil }
    if revocations.revokes(accepted.authentication) { return Self.revoked }
    return accepted.revalidate(by: authenticator, batch)
  }

  /// Returns true when the credential behind an onDisconnect operation was revoked, or its key is
  /// gone. One that only expired still carries the operations left by it.
  ///
  /// Expiry does not count: the operation was left while the credential was valid, and its session
  /// may have lasted longer.
  func isRevoked(_ owner: SessionOwner, _ batch: borrowing ServerBatch) -> Bool {
    guard var credential = owner.credential else {
      // Rows of older servers name no credential: of their users any revocation counts.
      guard case .user(let id, _) = owner.requester.identity else { return false }
      return revocations.names(id)
    }
    if revocations.revokes(credential) { return true }
    credential.expires = nil
    if case .invalid = authenticator.revalidate(credential, now: batch.now) { return true }
    return false
  }

  private static let revoked = AuthenticationError.invalid(reason: "The token was revoked.")

  /// Takes up the revocations of runs before.
  mutating func restore(
    from snapshot: borrowing LedgerSnapshot
  ) throws(StorageError) {
    var cursor = snapshot.cursor(over: KeyRange(prefix: StoreLayout.revocations))
    while try cursor.next() {
      let user = [UInt8](copying: cursor.key).dropFirst(StoreLayout.revocations.count)
      let moment = [UInt8](copying: cursor.value).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      revocations.revoke(
        String(decoding: user, as: UTF8.self), before: Int64(bitPattern: moment))
    }
  }

  /// Gives a session the identity of a credential, if that counts.
  ///
  /// A credential that the client sends with `noauth` is accepted, and leaves the session
  /// anonymous.
  ///
  /// - Returns: The answer to the client.
  func authenticate(
    _ credential: TreeCredential, _ session: Session, _ batch: borrowing ServerBatch
  ) -> TreeResponse {
    let shown = Credential(
      credential.kind == .user ? .user : .service, token: credential.token,
      override: credential.override, isLocal: session.isLocal)
    do throws(AuthenticationError) {
      let accepted = try recognize(shown, batch)
      session.identity = credential.isUnauthenticated ? .anonymous : accepted.identity
      session.accepted = AcceptedCredential(accepted, batch)
      return Self.response(to: session.identity, until: accepted.expires)
    } catch {
      switch error {
      case .invalid(let reason): return .init(.invalidToken, detail: reason)
      case .expired(let reason): return .init(.expiredToken, detail: reason)
      }
    }
  }

  /// Returns the answer to an accepted credential.
  ///
  /// The payload is `{"auth": …, "expires": …}`, as Firebase's clients read it; `expires` is in
  /// seconds since 1970.
  private static func response(
    to identity: Identity, until expires: Int64?
  ) -> TreeResponse {
    let auth = identity.auth ?? .object([.init("admin", .bool(true))])
    var members = [JSONValue.Member("auth", auth)]
    if let expires { members.append(.init("expires", .integer(expires))) }
    return TreeResponse(.ok, payload: JSONValue.object(members).bytes)
  }
}
