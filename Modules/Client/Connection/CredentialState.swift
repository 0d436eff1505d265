/// The state of a client's credential on this connection.
struct CredentialState: Sendable {
  /// The token; `nil` shows none.
  private(set) var token: String?
  /// True when the server has accepted it on this connection.
  private(set) var isAccepted = false
  /// The token that the server rejected last. It is not sent again: it would be rejected again.
  private var refused: String?

  /// True while the server has not accepted the token.
  var awaitsVerdict: Bool { token != nil && !isAccepted }

  /// True while the server's last verdict is that this token does not count.
  var isRefused: Bool { token != nil && token == refused }

  /// Replaces the token; `nil` shows none.
  mutating func set(_ token: String?) {
    self.token = token
    isAccepted = false
    refused = nil
  }

  /// The server accepts the token.
  mutating func accept() { isAccepted = true }

  /// The server does not accept the token, or no longer.
  ///
  /// - Returns: The token; `nil` when none is shown.
  mutating func refuse() -> String? {
    guard let token else { return nil }
    isAccepted = false
    refused = token
    return token
  }

  /// The connection is lost, and with it the server's consent.
  mutating func disconnected() { isAccepted = false }
}

/// The server's verdict on a credential.
package enum CredentialVerdict: Hashable, Sendable {
  /// It counts, until that second since 1970 if there is one.
  case accepted(String, expires: Int64?)
  /// It does not count, or no longer; another one is needed.
  case refused(String, reason: String)
}
