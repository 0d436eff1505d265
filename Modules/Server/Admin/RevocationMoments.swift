import TernCore
import TernSecurity
import TernSync

/// The moments of revocations that are to count from now on.
///
/// The nodes of a cluster, and the issuer of tokens, have clocks of their own. A token is revoked
/// whose time of issue is before the moment by the clock of the node that was asked, by that of the
/// node that decides, or that is in use at one of the two.
enum RevocationMoments {
  /// Returns a request in which each revocation from now on is preceded by one with the moment of
  /// this node. The later one of several moments counts.
  static func resolve(_ request: DirectRequest, at server: isolated TernServer) -> DirectRequest {
    guard case .revoke(let changes) = request.operation,
      changes.contains(where: { $0.moment == .now }), isOfAdministrator(request, at: server)
    else { return request }
    let users = changes.filter { $0.moment == .now }.map { ExactText($0.user) }
    let issued = newestIssues(of: Set(users), at: server)
    // Tokens that were issued in this very second are meant, too.
    let now = server.ambient.millisecondsSinceEpoch() / 1_000
    let all = changes.flatMap { change -> [RevocationChange] in
      guard change.moment == .now else { return [change] }
      let newest = max(now, issued[ExactText(change.user)] ?? now)
      return [RevocationChange(change.user, .before(newest + 1)), change]
    }
    guard all.count <= Revocations.most else { return request }
    var resolved = request
    resolved.operation = .revoke(all)
    return resolved
  }

  /// Returns true when an administrator asks. Other clients are refused where the request is
  /// decided, and must not cost a walk over all sessions before.
  private static func isOfAdministrator(
    _ request: DirectRequest, at server: isolated TernServer
  ) -> Bool {
    guard let credential = request.credential else { return false }
    let authenticator = server.batches.machine.admin.credentials.authenticator
    let now = server.ambient.millisecondsSinceEpoch()
    return (try? authenticator.authenticate(credential, now: now))?.identity == .administrator
  }

  /// Returns the newest times of issue, in seconds since 1970, of the tokens in use.
  ///
  /// - Parameter users: The users whose tokens are meant; `*` for all.
  private static func newestIssues(
    of users: Set<ExactText>, at server: isolated TernServer
  ) -> [ExactText: Int64] {
    var newest: [ExactText: Int64] = [:]
    for session in server.batches.machine.sessions.all {
      let calls = (session.documents?.calls ?? [:]).values
      for accepted in [session.accepted] + calls.map(\.accepted) {
        guard let token = accepted?.authentication, let issued = token.issued else { continue }
        var named = [ExactText(Revocations.everybody)]
        if case .user(let id, _) = token.holder { named.append(ExactText(id)) }
        for user in named where users.contains(user) {
          newest[user] = max(issued, newest[user] ?? issued)
        }
      }
    }
    return newest
  }
}
