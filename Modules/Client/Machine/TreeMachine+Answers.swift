import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

// The server's answers and pushes, each taken to where it belongs.

extension TreeMachine {
  mutating func answered(_ number: UInt64, _ response: TreeResponse) {
    guard let about = requests.removeValue(forKey: number) else { return }
    do throws(WireError) {
      try take(response, to: number, about)
      sendReady()
    } catch {
      connectionEvent(.failed)
    }
  }

  private mutating func take(
    _ response: TreeResponse, to number: UInt64, _ about: Request
  ) throws(WireError) {
    let status = response.status
    let rejection =
      status == .ok ? nil : Rejection(status: status.rawValue, detail: response.detail)
    switch about {
    case .listen(let request):
      let isUnindexed = status == .ok && response.warnings.contains(TreeResponse.noIndex)
      listenAnswered(number, request, rejection: rejection, isUnindexed: isUnindexed)
    case .unlisten(let request):
      replica.stopAnswered(request)
    case .write(let id):
      if saysNothing(status) { return restOutbox(.write(id), because: response.detail) }
      if status == .gap { return connectionEvent(.failed) }
      outboxBackoff.reset()
      decided(id, rejection: rejection)
    case .batch(let id):
      if saysNothing(status) { return restOutbox(.batch(id), because: response.detail) }
      outboxBackoff.reset()
      batchAnswered(id, status, detail: response.detail)
    case .read(let id):
      let result: Result<TreeNode, Rejection> =
        if let rejection { .failure(rejection) } else { .success(try response.node()) }
      readAnswered(id, result)
    case .disconnect(let id):
      disconnectAnswered(id, rejection: rejection)
    case .presence(let id):
      if saysNothing(status) { return restPresence(id, because: response.detail) }
      presenceAnswered(id, rejection: rejection)
    case .outcomes(let stream, let last):
      outcomesAnswered(try response.outcomes(), of: stream, through: last)
    case .transactionOutcomes(let id):
      transactionOutcomesAnswered(id, try response.outcomes())
    case .credential(let token):
      if saysNothing(status) { return connectionEvent(.failed) }
      credentialAnswered(token, response)
    case .unattended:
      break
    }
  }

  /// Returns true when a status is no verdict on the request, which is to be sent again.
  private func saysNothing(_ status: TreeStatus) -> Bool { status == .unavailable }

  /// Takes in a push; the listeners hear it, and transactions that depend on it run again.
  mutating func apply(_ change: ServerChange, tag: Int64?) {
    perform(replica.applyServer(change, tag: tag.map(Int.init)))
    rerunTransactions(at: change.path)
  }
}
