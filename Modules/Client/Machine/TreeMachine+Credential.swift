import TernCore
import TernSync
import TernTreeWire

// Who this client says it is. While the server has not accepted what is shown, nothing is asked of
// it that rules decide about: writes would be refused for good, and listeners would end. They wait
// in the queue, and go on with the next credential. Source: realtime reference, section 6.7.

/// The state of a client's credential on this connection.
struct CredentialState: Sendable {
  /// The token; `nil` shows none.
  var token: String?
  /// True when the server has accepted it on this connection.
  var isAccepted = false
  /// The token that the server rejected last. It is not sent again: it would be rejected again.
  var refused: String?

  /// True while everything waits until the server knows the client's identity.
  var holdsBack: Bool { token != nil && !isAccepted }
}

/// The server's verdict on a credential.
package enum CredentialVerdict: Hashable, Sendable {
  /// It counts, until that second since 1970 if there is one.
  case accepted(String, expires: Int64?)
  /// It does not count, or no longer; another one is needed.
  case refused(String, reason: String)
}

extension TreeMachine {
  /// True when requests that rules decide about can be sent.
  var isReady: Bool { connection.isOnline && !credential.holdsBack }

  /// Shows a credential from now on, or none.
  package mutating func setCredential(_ token: String?) {
    credential.token = token
    credential.isAccepted = false
    credential.refused = nil
    guard connection.isOnline else { return }
    if token != nil { return showCredential() }
    _ = send(.unauth, about: .unattended)
    askForEverything()
  }

  /// Begins a connection: what needs no identity at once, the rest when it is known.
  mutating func showCredential() {
    guard let token = credential.token, token != credential.refused else { return }
    _ = send(.auth(TreeCredential(.user, token: token)), about: .credential(token))
  }

  /// The server has answered what was shown.
  mutating func credentialAnswered(_ token: String, _ response: TreeResponse) {
    // The answer about an older one says nothing about this one.
    guard token == credential.token else { return }
    guard response.status == .ok else {
      return refuseCredential(because: response.detail)
    }
    credential.isAccepted = true
    let expires = (try? response.value())?["expires"]?.integer
    emit(.credential(.accepted(token, expires: expires)))
    askForEverything()
  }

  /// The server says that what it had accepted no longer counts; it closes the connection.
  mutating func credentialEnded(_ reason: String) {
    // Without an answer about the one that is shown now, it is the one before it that has ended.
    if credential.isAccepted { refuseCredential(because: reason) }
    connectionEvent(.redirected)
  }

  private mutating func refuseCredential(because reason: String) {
    guard let token = credential.token else { return }
    credential.isAccepted = false
    credential.refused = token
    emit(.credential(.refused(token, reason: reason)))
  }

  /// Asks for everything that has waited for the connection or for the identity.
  ///
  /// Listens come before the writes, so that a view is up to date before a write leaves its
  /// overlay; the outcomes of writes whose answer was lost come before the writes after them.
  mutating func askForEverything() {
    sendWaitingListens()
    if !hasAskedForOutcomes {
      hasAskedForOutcomes = true
      askForOutcomes()
    }
    // More of them may have come since, with their user or with what they do.
    askForTransactionOutcomes()
    sendReady()
    sendPresences()
    for id in reads.keys.sorted() where reads[id]?.isSent == false { sendRead(id) }
  }
}
