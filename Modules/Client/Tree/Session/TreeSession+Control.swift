package import TernCore
import TernStorage
package import TernSync
import TernTransactions

extension TreeSession {
  /// Carries out what restoring the queue owes.
  func begin() { carryOut() }

  /// Ends the connection and stays without one until ``goOnline()``.
  package func goOffline() {
    drain()
    machine.goOffline()
    carryOut()
  }

  /// Allows a connection again, and tries at once.
  package func goOnline() {
    drain()
    guard !isClosed else { return }
    machine.goOnline()
    carryOut()
  }

  /// Shows a credential from the first connection on, and hears what the server makes of it.
  func begin(
    showing credential: String?, judged: @escaping @Sendable (CredentialVerdict) -> Void
  ) {
    credentialJudged = judged
    if let credential { setCredential(credential) }
  }

  /// Sets the credential that proves this client's identity to the server; `nil` shows none. That
  /// of another user brings their writes with it.
  package func setCredential(_ credential: String?) {
    drain()
    guard !isClosed else { return }
    let user = QueueUser(showing: credential)
    guard user != machine.user else {
      machine.setCredential(credential)
      return carryOut()
    }
    let opened = queue.opened(for: user)
    if case .success(let contents) = opened, !contents.setAside.isEmpty {
      report(.writesSetAside(user: user.id, contents.setAside))
    }
    let (lost, failure) = machine.switchUser(to: user, showing: credential, opened)
    if let failure {
      queue.refuse(user, because: failure)
      report(.queueUnusable(user: user.id, failure))
    }
    if !lost.isEmpty { report(.transactionsLost(user: user.id, at: lost.map(\.path))) }
    for (name, update) in declarations { _ = machine.declare(name, update) }
    carryOut()
  }

  /// Opens the connection if nothing has used the database yet.
  func use() {
    drain()
    guard !isClosed else { return }
    machine.use()
    carryOut()
  }

  /// Gives up every pending write and transaction.
  package func purge(_ answer: @escaping @Sendable (QueueResult) -> Void) {
    drain()
    guard !isClosed else { return answer(.failed(.storage(.closed))) }
    queueAnswers[machine.purge()] = answer
    carryOut()
  }

  /// Sends a rejected write again, as it was or changed.
  package func retry(row: UInt64, with edited: TreeWrite?) -> WritePromise {
    drain()
    let promise = WritePromise()
    if isClosed {
      promise.closed()
    } else if let id = machine.retry(row: row, with: edited) {
      promises[id] = promise
      carryOut()
    } else {
      promise.notStored(.noSuchWrite(id: row))
    }
    return promise
  }

  /// Gives a rejected write up.
  package func discard(row: UInt64, _ answer: @escaping @Sendable (QueueResult) -> Void) {
    drain()
    guard !isClosed else { return answer(.failed(.storage(.closed))) }
    queueAnswers[machine.discard(row: row)] = answer
    carryOut()
  }

  /// Ends the session: listeners and waiting calls are told, pending writes stay in the queue.
  package func close() {
    drain()
    guard !isClosed else { return }
    machine.close()
    carryOut()
    isClosed = true
    for id in listeners.keys { cancel(id, .closed) }
    // What became of a change of the queue is still told: its answer comes from the disk.
    for promise in promises.values { promise.end.resolve(.closed) }
    for reader in readers.values { reader(.failure(.closed)) }
    readers.removeAll()
    for ended in transactionEnds.values { ended(.failed(.cancelled)) }
    transactionEnds.removeAll()
    for answer in disconnectAnswers.values { answer(.failure(.closed)) }
    disconnectAnswers.removeAll()
    for ended in presenceEnds.values { ended(.closed) }
    presenceEnds.removeAll()
    observers.finish()
  }
}
