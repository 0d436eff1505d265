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
      let accepted = try authenticator.authenticate(shown, now: batch.now)
      call.session.identity = credential.isUnauthenticated ? .anonymous : accepted.identity
      respond(Self.response(to: accepted), to: call, &batch)
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
    respond(.init(.ok), to: call, &batch)
    try judgeAgain(call.session, &batch)
  }

  private static func response(to accepted: Authentication) -> TreeResponse {
    var members: [JSONValue.Member] = []
    switch accepted.identity {
    case .anonymous: members.append(.init("auth", .null))
    case .user(let id, let claims):
      members.append(
        .init("auth", .object([.init("uid", .string(id)), .init("token", claims)])))
    case .administrator:
      members.append(.init("auth", .object([.init("admin", .bool(true))])))
    }
    if let expires = accepted.expires { members.append(.init("expires", .integer(expires))) }
    return TreeResponse(.ok, payload: JSONValue.object(members).bytes)
  }
}
