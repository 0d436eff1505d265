import TernCore
import TernQuery
package import TernSync
import TernTransactions
package import TernTransport
import TernTreeEngine

/// One client at work: a ``ClientMachine`` and the hands that carry out what it decides.
///
/// Everything that happens is told to the machine in the order it happened, and its effects are
/// carried out before the next thing is told. Calls from outside take their place in that order
/// when they are made: see ``submit(_:)``.
package actor TreeSession {
  var machine: ClientMachine
  private let ambient: Ambient
  private let report: @Sendable (ClientNotice) -> Void
  private let transport: any Transport
  private let queue: QueueLane
  nonisolated let inbox: SessionInbox

  private var link: (number: Int, link: any Link)?
  private var timers: [ClientTimer: (generation: UInt64, task: Task<Void, Never>)] = [:]
  private var lastTimer: UInt64 = 0
  private var isDraining = false
  private var queueJobs: [QueueJob] = []
  private var isQueueScheduled = false

  var listeners: [ListenerID: Listener] = [:]
  var promises: [WriteID: WritePromise] = [:]
  var readers: [OperationID: @Sendable (Result<ReadAnswer, ReadError>) -> Void] = [:]
  var transactionEnds: [OperationID: @Sendable (TransactionOutcome) -> Void] = [:]
  var disconnectAnswers: [OperationID: @Sendable (Result<Void, DisconnectError>) -> Void] = [:]
  var queueAnswers: [OperationID: @Sendable (QueueResult) -> Void] = [:]
  var observers = SessionObservers()
  var declarations: [String: DeclaredUpdate] = [:]
  var isClosed = false

  package init(
    machine: ClientMachine, queue: WriteQueue, place: DiskLane<QueueJob>.Place,
    transport: any Transport, ambient: Ambient,
    report: @escaping @Sendable (ClientNotice) -> Void = { _ in }
  ) {
    inbox = SessionInbox(limits: machine.limits.waiting)
    self.machine = machine
    self.transport = transport
    self.ambient = ambient
    self.report = report
    self.queue = QueueLane(queue, place: place)
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

  nonisolated func post(_ input: SessionInput) {
    if inbox.add(input) { look() }
  }

  nonisolated func look() {
    Task { await self.drain() }
  }

  /// Tells the machine everything that waits, in order.
  func drain() {
    guard !isDraining else { return }
    isDraining = true
    for input in inbox.takeAll() { take(input) }
    isDraining = false
  }

  private func take(_ input: SessionInput) {
    switch input {
    case .linkOpened(let number, let link): opened(link, number)
    case .linkClosed(let number): closed(number)
    case .frames(let frames, let number): machine.received(frames, on: number)
    case .timer(let timer, let generation): fired(timer, generation)
    case .queueAnswers(let answers):
      for (ticket, result) in answers { machine.queueAnswered(ticket, result) }
    case .call(let call): call(self)
    }
    carryOut()
  }
}

// MARK: - Effects

extension TreeSession {
  /// Carries out what the machine owes, then lets the frames go in one write.
  func carryOut() {
    var hasSent = false
    while true {
      let effects = machine.takeEffects()
      if effects.isEmpty { break }
      for effect in effects {
        if case .send = effect { hasSent = true }
        if case .change(let change, let ticket) = effect {
          queueJobs.append(QueueJob(ticket: ticket, change: change, session: self))
        } else {
          carryOut(effect)
        }
      }
    }
    if hasSent { link?.link.flush() }
    machine.storeCache()
    submitQueueJobs()
    refreshObservers()
  }

  /// Hands waiting changes to the queue: at once when that blocks, else after the listeners had
  /// their turn, so that waking the disk's thread does not hold up what people see.
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

  private func carryOut(_ effect: ClientEffect) {
    switch effect {
    case .openLink(let number): open(number)
    case .closeLink(let number): close(number)
    case .send(let frame): link?.link.send(frame)
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
    case .queueAnswered(let id, let result): queueAnswers.removeValue(forKey: id)?(result)
    case .queueChanged: observers.queueHasChanged = true
    case .noticed(let notice): report(notice)
    case .connectionChanged(let state): for box in observers.connections.values { box.post(state) }
    }
  }
}

// MARK: - Links and timers

extension TreeSession {
  private func open(_ number: Int) {
    let transport = transport
    Task { [self] in
      do {
        try await transport.connect { link in
          self.post(.linkOpened(number, link))
          return SessionLinkHandler(session: self, link: link, number: number)
        }
      } catch {
        post(.linkClosed(number))
      }
    }
  }

  private func opened(_ link: any Link, _ number: Int) {
    guard machine.isCurrentLink(number) else { return link.close() }
    self.link = (number, link)
    machine.connectionEvent(.linkOpened(number))
  }

  private func close(_ number: Int) {
    guard link?.number == number else { return }
    link?.link.flush()
    link?.link.close()
    link = nil
  }

  private func closed(_ number: Int) {
    if link?.number == number { link = nil }
    machine.connectionEvent(.linkClosed(number))
  }

  private func start(_ timer: ClientTimer, _ delay: Duration) {
    stop(timer)
    lastTimer += 1
    let generation = lastTimer
    let clock = ambient.clock
    let task = Task { [weak self] in
      do { try await clock.sleep(for: delay) } catch { return }
      self?.post(.timer(timer, generation))
    }
    timers[timer] = (generation, task)
  }

  private func stop(_ timer: ClientTimer) {
    timers.removeValue(forKey: timer)?.task.cancel()
  }

  private func fired(_ timer: ClientTimer, _ generation: UInt64) {
    guard timers[timer]?.generation == generation else { return }
    timers[timer] = nil
    machine.timerFired(timer)
  }
}

/// Takes a link's news into the session's order.
private final class SessionLinkHandler: LinkHandler {
  private let session: TreeSession
  private let link: any Link
  private let number: Int

  init(session: TreeSession, link: any Link, number: Int) {
    self.session = session
    self.link = link
    self.number = number
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    if session.inbox.add(frames, from: link, number) { session.look() }
  }

  func linkDidClose(_ reason: LinkClosure) { session.post(.linkClosed(number)) }
}
