import TernSecurity

/// A credential that was accepted on a link, and when.
struct AcceptedCredential {
  let authentication: Authentication
  /// Wall-clock time of the acceptance in milliseconds since 1970, and the machine's uptime then.
  private let now: Int64
  private let uptime: Int64

  init(_ authentication: Authentication, _ batch: borrowing ServerBatch) {
    self.authentication = authentication
    now = batch.now
    uptime = batch.uptime
  }

  /// Returns the reason why it no longer counts; `nil` while it does.
  ///
  /// The time is measured since the acceptance, on a clock that does not jump.
  func revalidate(
    by authenticator: any Authenticator, _ batch: borrowing ServerBatch
  ) -> AuthenticationError? {
    authenticator.revalidate(authentication, now: now + batch.uptime - uptime)
  }
}
