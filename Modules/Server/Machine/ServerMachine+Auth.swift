import TernCore
import TernSecurity
import TernStorage
import TernTreeWire

extension ServerMachine {
  /// Takes a credential, and with it another identity.
  func authenticate(
    _ credential: TreeCredential, _ call: ServerCall, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let shown = Credential(
      credential.kind == .user ? .user : .service, token: credential.token,
      override: credential.override, isLocal: call.session.isLocal)
    do throws(AuthenticationError) {
      let accepted = try recognize(shown, batch)
      call.session.identity = credential.isUnauthenticated ? .anonymous : accepted.identity
      call.session.accepted = AcceptedCredential(accepted, batch)
      let answer = Self.response(to: call.session.identity, until: accepted.expires)
      respond(answer, to: call, &batch)
    } catch {
      switch error {
      case .invalid(let reason):
        respond(.init(.invalidToken, detail: reason), to: call, &batch)
      case .expired(let reason):
        respond(.init(.expiredToken, detail: reason), to: call, &batch)
      }
      return
    }
    try judgeAgain(call.session, &batch)
  }

  /// Makes the session nobody's again.
  func signOut(_ call: ServerCall, _ batch: inout ServerBatch) throws(StorageError) {
    call.session.identity = .anonymous
    call.session.accepted = nil
    respond(.init(.ok), to: call, &batch)
    try judgeAgain(call.session, &batch)
  }

  /// Ends what goes on by credentials that no longer count: they expired or were revoked.
  ///
  /// A session ends with a word about it, and not its listens: its client comes back with another
  /// credential and goes on.
  mutating func endCredentials(_ batch: inout ServerBatch) throws(StorageError) {
    for session in sessions.values.sorted(by: { $0.slot < $1.slot }) {
      for call in session.documents?.calls.values.sorted(by: { $0.number < $1.number }) ?? [] {
        guard let error = objection(to: call.accepted, batch) else { continue }
        finish(call, DocumentStatus(.unauthenticated, error.text), &batch)
      }
      guard let error = objection(to: session.accepted, batch) else { continue }
      let status: TreeStatus =
        switch error {
        case .invalid: .invalidToken
        case .expired: .expiredToken
        }
      send(.authRevoked(status, detail: error.text), to: session, &batch)
      try expel(session, .credentialEnded(error.text), &batch)
    }
  }

  private static func response(
    to identity: Identity, until expires: Int64?
  ) -> TreeResponse {
    let auth = identity.auth ?? .object([.init("admin", .bool(true))])
    var members = [JSONValue.Member("auth", auth)]
    if let expires { members.append(.init("expires", .integer(expires))) }
    return TreeResponse(.ok, payload: JSONValue.object(members).bytes)
  }
}
