import TernSecurity

// Who asks too much is told so, and nothing else happens: a write is not recorded, so that its
// client can send it again.
extension ServerMachine {
  /// Counts a request of a session; answers what it is told when it asks too much.
  mutating func count(
    _ session: Session, _ namespace: String, _ batch: borrowing ServerBatch
  ) -> RateExcess? {
    if rates.isIdle { return nil }
    return rates.count(
      address: session.address, user: session.identity.userID, in: namespace,
      at: batch.uptime)
  }

  /// Counts a request without a session; not one that the server makes in somebody's name.
  mutating func count(
    _ request: DirectRequest, by identity: Identity, _ batch: borrowing ServerBatch
  ) -> RateExcess? {
    if rates.isIdle { return nil }
    switch request.operation {
    case .review, .mayWrite: return nil
    default: break
    }
    return rates.count(
      address: request.address, user: identity.userID, in: request.namespace,
      at: batch.uptime)
  }
}
