package import TernCore
package import TernDocumentReplica
import TernDocumentWire
package import TernQuery
import TernStorage
import TernSync

/// The receiver of one listener's snapshots.
package struct DocumentEventHandler: Sendable {
  let heard: @Sendable (DocumentViewSnapshot) -> Void
  let ended: @Sendable (DocumentsError) -> Void

  /// - Parameters:
  ///   - heard: Called on the session for every snapshot, and must not wait.
  ///   - ended: Called once when the listener ends by itself.
  package init(
    heard: @escaping @Sendable (DocumentViewSnapshot) -> Void,
    ended: @escaping @Sendable (DocumentsError) -> Void
  ) {
    self.heard = heard
    self.ended = ended
  }
}

/// The receiver of the event that all listeners have the same state.
package struct DocumentStepHandler: Sendable {
  let heard: @Sendable () -> Void
  let ended: @Sendable () -> Void

  /// - Parameters:
  ///   - heard: Called on the session, and must not wait.
  ///   - ended: Called once when the documents are closed.
  package init(
    heard: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void = {}
  ) {
    self.heard = heard
    self.ended = ended
  }
}

/// The promises about one batch of writes.
package struct DocumentWritePromise: Sendable {
  /// That it is durable on this device, or why not.
  package let stored = Promise<Result<Void, DocumentsError>>()
  /// The server's verdict: `nil` when it accepted.
  package let end = Promise<DocumentsError?>()

  func ended(_ error: DocumentsError?) {
    switch error {
    case .queue, .invalid: stored.resolve(error.map { .failure($0) } ?? .success(()))
    default: stored.resolve(.success(()))
    }
    end.resolve(error)
  }
}

extension DocumentSession {
  /// Sends what was pending.
  func begin() {
    machine.start()
    carryOut()
  }

  /// Registers a listener; it hears what is known before this returns.
  package func listen(
    _ query: DocumentQuery, _ options: DocumentListenOptions, _ hearer: DocumentEventHandler
  ) -> DocumentListenerID? {
    drain()
    guard !isClosed else {
      hearer.ended(closure)
      return nil
    }
    let id = machine.listen(query, options: options)
    listeners[id] = hearer
    carryOut()
    return id
  }

  package func unlisten(_ id: DocumentListenerID) {
    drain()
    guard listeners.removeValue(forKey: id) != nil else { return }
    machine.unlisten(id)
    carryOut()
  }

  package func get(
    _ query: DocumentQuery, _ source: DocumentGetSource,
    _ answer: @escaping @Sendable (DocumentGetResult) -> Void
  ) {
    drain()
    guard !isClosed else {
      return answer(.failure(DocumentStatus(.failedPrecondition, "the documents are closed")))
    }
    readers[machine.get(query, from: source)] = answer
    carryOut()
  }

  package func listenInSync(_ hearer: DocumentStepHandler) -> DocumentListenerID? {
    drain()
    guard !isClosed else {
      hearer.ended()
      return nil
    }
    let id = machine.listenInSync()
    stepListeners[id] = hearer
    carryOut()
    return id
  }

  package func unlistenInSync(_ id: DocumentListenerID) {
    drain()
    stepListeners[id] = nil
    machine.replica.unlistenInSync(id)
  }

  /// Takes a batch of writes; listeners have heard it when this returns.
  ///
  /// - Parameter row: That of the rejected batch which is sent again.
  package func write(
    _ mutations: [DocumentMutation], insteadOf row: UInt64? = nil
  ) -> DocumentWritePromise {
    drain()
    let promise = DocumentWritePromise()
    guard !isClosed else {
      promise.stored.resolve(.failure(closure))
      promise.end.resolve(closure)
      return promise
    }
    promises[machine.write(mutations, insteadOf: row)] = promise
    carryOut()
    return promise
  }

  /// Returns true while the server has not answered a write of this user to a document.
  func hasPendingWrites(to key: DocumentKey) -> Bool {
    drain()
    return machine.replica.cache.hasPendingWrites(to: key)
  }

  package func waitForPendingWrites(_ done: @escaping @Sendable (_ isCancelled: Bool) -> Void) {
    drain()
    guard !isClosed else { return done(true) }
    waiters[machine.waitForPendingWrites()] = done
    carryOut()
  }

  /// Calls the server once. A cancelled task stops waiting at once, with
  /// `DocumentStatus.cancelledWait`; what was sent by then goes on.
  ///
  /// - Parameter user: The user who must be signed in for that; `nil` for any user.
  func call(
    _ body: DocumentRequest.Body, as user: QueueUser? = nil
  ) async -> Result<[DocumentResponse], DocumentStatus> {
    drain()
    if let user, user != machine.user {
      return .failure(.otherUser)
    }
    let promise = Promise<Result<[DocumentResponse], DocumentStatus>>()
    guard !isClosed else {
      return .failure(DocumentStatus(.failedPrecondition, "the documents are closed"))
    }
    callers[machine.call(body)] = { promise.resolve($0) }
    carryOut()
    return await promise.value(ifCancelled: .failure(.cancelledWait))
  }

  package func setNetwork(isEnabled: Bool) {
    drain()
    guard !isClosed else { return }
    machine.setNetwork(isEnabled: isEnabled)
    carryOut()
  }

  /// Shows a credential from the first connection on, and hears what the server makes of it.
  func begin(
    showing credential: String?, judged: @escaping @Sendable (CredentialVerdict) -> Void
  ) {
    credentialJudged = judged
    if let credential { setCredential(credential) }
  }

  /// Shows another credential, or none; one of another user brings their writes with it.
  func setCredential(_ credential: String?) {
    drain()
    guard !isClosed else { return }
    let user = QueueUser(showing: credential)
    guard user != machine.user else {
      machine.setCredential(credential)
      return carryOut()
    }
    let opened = queue.opened(for: user)
    reportSetAside(opened, of: user)
    if let failure = machine.switchUser(to: user, showing: credential, opened) {
      queue.refuse(user, because: failure)
      report(.documentQueueUnusable(user: user.id, failure))
    }
    carryOut()
  }

  /// The user of this device; writes belong to the one who is signed in when they are made.
  var user: QueueUser { machine.user }

  /// Looks into the queues of those who used this device before.
  func findOthers() {
    let others = queue.openOthers()
    for (user, opened) in others { reportSetAside(opened, of: user) }
    for (user, failure) in machine.restore(others: others) {
      queue.refuse(user, because: failure)
      report(.documentQueueUnusable(user: user.id, failure))
    }
  }

  private func reportSetAside(_ opened: Result<OpenedQueue, QueueError>?, of user: QueueUser) {
    guard case .success(let contents) = opened, !contents.setAside.isEmpty else { return }
    report(.documentWritesSetAside(user: user.id, contents.setAside))
  }

  /// Lends the replica, for what is answered at once.
  package func withReplica<R: Sendable>(
    _ body: @Sendable (inout DocumentReplica) throws -> R
  ) rethrows -> R {
    drain()
    defer { carryOut() }
    return try body(&machine.replica)
  }

  package func load(_ bundle: DocumentBundle) {
    drain()
    machine.load(bundle)
    carryOut()
  }

  /// Ends the session: listeners and waiting calls are told, pending writes stay in the queue.
  func close() {
    drain()
    guard !isClosed else { return }
    machine.close()
    carryOut()
    isClosed = true
    for listener in listeners.values { listener.ended(.closed) }
    listeners = [:]
    let status = DocumentStatus(.cancelled, "the documents were closed")
    for reader in readers.values { reader(.failure(status)) }
    readers = [:]
    // That a write is durable is still told: its answer comes from the disk.
    for promise in promises.values { promise.end.resolve(.closed) }
    for waiter in waiters.values { waiter(true) }
    waiters = [:]
    for caller in callers.values { caller(.failure(status)) }
    callers = [:]
    for listener in stepListeners.values { listener.ended() }
    stepListeners = [:]
    observers.finish()
  }
}
