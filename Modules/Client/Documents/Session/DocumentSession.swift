import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernSync
import TernTransport

/// The documents of one client at work: a ``DocumentMachine`` and the hands that carry out what it
/// decides.
///
/// The sister of ``TreeSession``.
package actor DocumentSession: LinkedSession, CallableSession {
  var machine: DocumentMachine
  let queue: WriteQueueWorker
  var wires: SessionWires<DocumentTimer>
  nonisolated let clock: any Clock<Duration>
  nonisolated let inbox: SessionInbox<DocumentSession, DocumentTimer>

  var listeners: [DocumentListenerID: DocumentEventHandler] = [:]
  var readers: [DocumentListenerID: @Sendable (DocumentGetResult) -> Void] = [:]
  var promises: [UInt64: DocumentWritePromise] = [:]
  var waiters: [DocumentWaitID: @Sendable (Bool) -> Void] = [:]
  var stepListeners: [DocumentListenerID: DocumentStepHandler] = [:]
  var callers: [DocumentCallID: @Sendable (Result<[DocumentResponse], DocumentStatus>) -> Void] =
    [:]
  /// By row, in the order in which it was asked for.
  var discards: [UInt64: [@Sendable (QueueResult) -> Void]] = [:]
  var observers = SessionObservers<DocumentQueueStatus>()
  /// Hears what the server makes of the credential.
  var credentialJudged: @Sendable (CredentialVerdict) -> Void = { _ in }
  let report: @Sendable (ClientNotice) -> Void
  package var isClosed = false
  /// The error of every call once the session is closed.
  nonisolated let closure: DocumentsError

  /// - Parameter isOpened: Whether there is a database of documents; without, the session is
  ///   closed from the start, and says so.
  init(
    machine: DocumentMachine, queues: WriteQueueRegistry, place: SerialWorkQueue<QueueJob>.Place,
    transport: any Transport, ambient: RuntimeEnvironment, waiting: WaitingLimits,
    report: @escaping @Sendable (ClientNotice) -> Void = { _ in }, isOpened: Bool = true
  ) {
    closure = isOpened ? .closed : .notOpened
    isClosed = !isOpened
    self.report = report
    inbox = SessionInbox(limits: waiting)
    self.machine = machine
    clock = ambient.clock
    wires = SessionWires(transport: transport, clock: clock)
    self.queue = WriteQueueWorker(queues, place: place)
    if !isOpened { observers.finish() }
  }

  deinit {
    wires.abandon()
    for promise in promises.values { promise.end.resolve(.closed) }
  }

  /// Takes a call into the session's order without waiting for it.
  package nonisolated func submit(
    _ call: @escaping @Sendable (isolated DocumentSession) -> Void
  ) {
    post(.call(call))
  }

  package nonisolated func submitCall(
    _ call: @escaping @Sendable (isolated DocumentSession) -> Void
  ) throws(SessionBusy) {
    if try inbox.addCall(call) { look() }
  }

  /// Waits until every change of the queue that was owed so far is on the disk.
  func queueSettled() async {
    drain()
    await queue.settled()
  }
}

// MARK: - Effects

extension DocumentSession {
  /// Carries out what the machine owes, then lets the frames go in one write.
  func carryOut() {
    var hasSent = false
    var jobs: [QueueJob] = []
    while true {
      let effects = machine.drainEffects()
      if effects.isEmpty { break }
      for effect in effects {
        switch effect {
        case .send(let frame):
          hasSent = true
          wires.link?.link.send(frame)
        case .change(let change, let ticket, let user):
          jobs.append(QueueJob(ticket: ticket, change: change, user: user, owner: self))
        default: carryOut(effect)
        }
      }
    }
    if hasSent { wires.link?.link.flush() }
    // What an answered write led to is kept before the write leaves the queue.
    if !isClosed, let failure = machine.storeCache() {
      report(.cacheUnusable(.documents, failure))
    }
    queue.submit(jobs)
    observers.tellQueue { machine.queueStatus }
    if machine.owesSomething { carryOut() }
  }

  private func carryOut(_ effect: DocumentClientEffect) {
    switch effect {
    case .openLink(let number, let address): open(number, to: address)
    case .closeLink(let number): close(number)
    case .send, .change: break
    case .findOthers: findOthers()
    case .startTimer(let timer, let delay): start(timer, delay)
    case .stopTimer(let timer): stop(timer)
    case .connectionChanged(let state): observers.tell(state)
    case .snapshot(let id, let snapshot): listeners[id]?.heard(snapshot)
    case .failed(let id, let status):
      listeners.removeValue(forKey: id)?.ended(.refused(status))
    case .answered(let id, let result): readers.removeValue(forKey: id)?(result)
    case .stored(let batch): promises[batch]?.stored.resolve(.success(()))
    case .invalid(let batch, let error):
      promises.removeValue(forKey: batch)?.ended(.invalid(error))
    case .notStored(let batch, let error):
      promises.removeValue(forKey: batch)?.ended(.queue(error))
    case .discarded(let row, let result): discarded(row, result)
    case .queueChanged: observers.queueHasChanged = true
    case .settled(let batch, let status):
      promises.removeValue(forKey: batch)?.ended(status.map { .refused($0) })
    case .writesSettled(let id, let isCancelled): waiters.removeValue(forKey: id)?(isCancelled)
    case .inSync(let id): stepListeners[id]?.heard()
    case .credential(let verdict): credentialJudged(verdict)
    case .serverSays(let text): report(.serverSays(text))
    case .called(let id, let result): callers.removeValue(forKey: id)?(result)
    }
  }
}
