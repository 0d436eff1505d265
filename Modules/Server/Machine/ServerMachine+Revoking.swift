import TernCore
import TernLedger
import TernSecurity
import TernStorage

// Revocations that the server was told of over the wire. They are stored beside the data, in force
// before the answer, and count for all databases: tokens are the server's, not a database's.
extension ServerMachine {
  /// Tells from a credential who somebody is, if neither the authenticator nor a revocation objects.
  func recognize(
    _ credential: Credential, _ batch: borrowing ServerBatch
  ) throws(AuthenticationError) -> Authentication {
    let accepted = try authenticator.authenticate(credential, now: batch.now)
    if revocations.revokes(accepted) { throw Self.revoked }
    return accepted
  }

  /// Why what was accepted no longer counts; `nil` while it does.
  func objection(
    to accepted: AcceptedCredential?, _ batch: borrowing ServerBatch
  ) -> AuthenticationError? {
    guard let accepted else { return nil }
    if revocations.revokes(accepted.authentication) { return Self.revoked }
    return accepted.objection(of: authenticator, batch)
  }

  /// Whether the credential by which a deferred operation was left was revoked, or its key is gone.
  /// One that only expired still carries what was left by it.
  func isRevoked(_ owner: SessionOwner, _ batch: borrowing ServerBatch) -> Bool {
    guard var credential = owner.credential else {
      // Rows of older servers name no credential: of their users any revocation counts.
      guard case .user(let id, _) = owner.requester.identity else { return false }
      return revocations.names(id)
    }
    if revocations.revokes(credential) { return true }
    credential.expires = nil
    if case .invalid = authenticator.objection(to: credential, now: batch.now) { return true }
    return false
  }

  private static let revoked = AuthenticationError.invalid(reason: "The token was revoked.")

  /// Takes up the revocations of runs before.
  mutating func restoreRevocations(
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

  /// Notes what an administrator asks for, and ends what goes on by tokens that it ends.
  mutating func revoke(
    _ changes: [RevocationChange], _ batch: inout ServerBatch
  ) throws(StorageError) -> DirectAnswer {
    var next = revocations
    // What was issued in this very second is meant, too.
    let now = batch.now / 1_000 + 1
    for change in changes {
      switch change.moment {
      case .now: next.revoke(change.user, before: now)
      case .before(let moment): next.revoke(change.user, before: moment)
      case .never: next.pardon(change.user)
      }
    }
    guard next.moments.count <= Revocations.most else {
      return .refused(.invalid("There are revocations for \(Revocations.most) users already."))
    }
    let mutations = changes.map { change -> Mutation in
      let key = StoreLayout.revocations + change.user.utf8
      guard let moment = next.moments[ExactText(change.user)] else {
        return Mutation.remove(KeyRange(only: key))
      }
      let bits = UInt64(bitPattern: moment)
      let value = (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
      return .put(key: key, value: value)
    }
    do throws(StorageError) { try mutations.checkLimits() } catch {
      return .refused(.invalid(Self.excessText(error)))
    }
    batch.changes.apply(mutations)
    batch.add(Commit(mutations: mutations, record: []))
    revocations = next
    try endCredentials(&batch)
    return .done
  }
}
