import TernCore
import TernQuery
import TernSync
import TernTransactions
import TernTransport
import TernTreeReplica

/// One client at work: a ``TreeMachine`` and the hands that carry out what it decides.
///
/// Everything that happens is told to the machine in the order it happened, and its effects are
/// carried out before the next thing is told. Calls from outside take their place in that order
/// when they are made: see ``submit(_:)``.
package actor TreeSession: LinkedSession, CallableSession {
  var machine: TreeMachine
  let report: @Sendable (ClientNotice) -> Void
  let queue: WriteQueueWorker
  var wires: SessionWires<TreeTimer>
  nonisolated let clock: any Clock<Duration>
  nonisolated let inbox: SessionInbox<TreeSession, TreeTimer>

  private var queueJobs: [QueueJob] = []
  private var isQueueScheduled = false

  var listeners: [ListenerID: Listener] = [:]
  var promises: [WriteID: WritePromise] = [:]
  var readers: [OperationID: @Sendable (Result<ReadAnswer, ReadError>) -> Void] = [:]
  var transactionEnds: [OperationID: @Sendable (TransactionOutcome) -> Void] = [:]
  var disconnectAnswers: [OperationID: @Sendable (Result<Void, DisconnectError>) -> Void] = [:]
  var queueAnswers: [OperationID: @Sendable (QueueResult) -> Void] = [:]
  var observers = SessionObservers<TreeQueueStatus>()
  var snapshots: [ListenerID: SnapshotObserver] = [:]
  var values = ValueObservers()
  var presenceEnds: [OperationID: @Sendable (DisconnectError) -> Void] = [:]
  var declarations: [String: DeclaredUpdate] = [:]
  /// Hears what the server makes of the credential.
  var credentialJudged: @Sendable (CredentialVerdict) -> Void = { _ in }
  var isClosed = false

  init(
    machine: TreeMachine, queues: WriteQueueRegistry, place: SerialWorkQueue<QueueJob>.Place,
    transport: any Transport, ambient: RuntimeEnvironment,
    report: @escaping @Sendable (ClientNotice) -> Void = { _ in }
  ) {
    inbox = SessionInbox(limits: machine.limits.waiting)
    self.machine = machine
    clock = ambient.clock
    wires = SessionWires(transport: transport, clock: clock)
    self.report = report
    self.queue = WriteQueueWorker(queues, place: place)
  }

  deinit {
    wires.abandon()
    for promise in promises.values { promise.end.resolve(.closed) }
  }

  /// Waits until every change of the queue that was owed so far is on the disk.
  package func queueSettled() async {
    drain()
    sendQueueJobs()
    await queue.settled()
  }

  /// Takes a call into the session's order without waiting for it.
  package nonisolated func submit(_ call: @escaping @Sendable (isolated TreeSession) -> Void) {
    post(.call(call))
  }

  /// Takes a call of an application into the session's order without waiting for it.
  ///
  /// - Throws: When ``WaitingLimits/calls`` wait already; then the call is not made.
  package nonisolated func submitCall(
    _ call: @escaping @Sendable (isolated TreeSession) -> Void
  ) throws(SessionBusy) {
    if try inbox.addCall(call) { look() }
  }
}

// MARK: - Effects

extension TreeSession {
  /// Carries out what the machine owes, then lets the frames go in one write.
  func carryOut() {
    var hasSent = false
    while true {
      let effects = machine.drainEffects()
      if effects.isEmpty { break }
      for effect in effects {
        if case .send = effect { hasSent = true }
        if case .change(let change, let ticket, let user) = effect {
          queueJobs.append(QueueJob(ticket: ticket, change: change, user: user, owner: self))
        } else {
          carryOut(effect)
        }
      }
    }
    if hasSent { wires.link?.link.flush() }
    if !isClosed, let failure = machine.storeCache() { report(.cacheUnusable(.tree, failure)) }
    tellValues()
    submitQueueJobs()
    observers.tellQueue { machine.queueStatus }
    tellSnapshots()
  }

  /// Hands waiting changes to the queue: at once when that blocks, else after the listeners had
  /// their turn, so that waking the disk's thread does not delay their events.
  private func submitQueueJobs() {
    guard !queueJobs.isEmpty else { return }
    if queue.place == .caller {
      sendQueueJobs()
    } else if !isQueueScheduled {
      isQueueScheduled = true
      Task { self.sendQueueJobs() }
    }
  }

  private func sendQueueJobs() {
    isQueueScheduled = false
    var jobs: [QueueJob] = []
    swap(&jobs, &queueJobs)
    queue.submit(jobs)
  }

  private func carryOut(_ effect: TreeClientEffect) {
    switch effect {
    case .openLink(let number, let address): open(number, to: address)
    case .closeLink(let number): close(number)
    case .send(let frame): wires.link?.link.send(frame)
    case .startTimer(let timer, let delay): start(timer, delay)
    case .stopTimer(let timer): stop(timer)
    case .change: break
    case .deliver(let events, let tree): deliver(events, tree)
    case .cancelled(let ids, let error): for id in ids { cancel(id, error) }
    case .stored(let id): promises[id]?.stored.resolve(.success(()))
    case .notStored(let id, let error): promises.removeValue(forKey: id)?.notStored(error)
    case .settled(let id, let end): promises.removeValue(forKey: id)?.settled(end)
    case .read(let id, let result): readers.removeValue(forKey: id)?(result)
    case .transactionEnded(let id, let outcome): transactionEnds.removeValue(forKey: id)?(outcome)
    case .disconnectAnswered(let id, let error):
      disconnectAnswers.removeValue(forKey: id)?(error.map { .failure($0) } ?? .success(()))
    case .presenceEnded(let id, let error): presenceEnds.removeValue(forKey: id)?(error)
    case .queueAnswered(let id, let result): queueAnswers.removeValue(forKey: id)?(result)
    case .queueChanged: observers.queueHasChanged = true
    case .pendingChanged(let paths): values.writesChanged(at: paths)
    case .noticed(let notice): report(notice)
    case .credential(let verdict): credentialJudged(verdict)
    case .connectionChanged(let state): observers.tell(state)
    }
  }
}
