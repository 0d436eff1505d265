import TernCore
import TernDocumentEngine
import TernDocumentWire
package import TernSync
package import TernTransport

/// The documents of one client at work: a ``DocumentMachine`` and the hands that carry out what it
/// decides.
///
/// Built like ``TreeSession``: everything that happens is told to the machine in the order it
/// happened, and its effects are carried out before the next thing is told.
package actor DocumentSession {
  var machine: DocumentMachine
  private let ambient: Ambient
  private let transport: any Transport
  private let queue: DocumentQueueLane
  nonisolated let inbox: DocumentInbox

  private var link: (number: Int, link: any Link)?
  private var timers: [DocumentTimer: (generation: UInt64, task: Task<Void, Never>)] = [:]
  private var lastTimer: UInt64 = 0
  private var isDraining = false

  var listeners: [DocumentListenerID: DocumentHearer] = [:]
  var readers: [DocumentListenerID: @Sendable (DocumentGetResult) -> Void] = [:]
  var promises: [UInt64: DocumentWritePromise] = [:]
  var waiters: [DocumentWaitID: @Sendable (Bool) -> Void] = [:]
  var stepListeners: [DocumentListenerID: @Sendable () -> Void] = [:]
  var callers: [DocumentCallID: @Sendable (Result<[DocumentResponse], DocumentStatus>) -> Void] =
    [:]
  var discards: [UInt64: @Sendable (QueueResult) -> Void] = [:]
  var queueObservers: [UInt64: Mailbox<DocumentQueueStatus, Never>] = [:]
  var lastObserver: UInt64 = 0
  var queueHasChanged = false
  var isClosed = false

  package init(
    machine: DocumentMachine, queue: WriteQueue, place: DiskLane<DocumentQueueJob>.Place,
    transport: any Transport, ambient: Ambient, waiting: WaitingLimits
  ) {
    inbox = DocumentInbox(limitBytes: waiting.inboxBytes)
    self.machine = machine
    self.transport = transport
    self.ambient = ambient
    self.queue = DocumentQueueLane(queue, place: place)
  }

  /// Takes a call into the session's order without waiting for it.
  package nonisolated func submit(
    _ call: @escaping @Sendable (isolated DocumentSession) -> Void
  ) {
    post(.call(call))
  }

  nonisolated func post(_ input: DocumentSessionInput) {
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

  private func take(_ input: DocumentSessionInput) {
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
    var jobs: [DocumentQueueJob] = []
    while true {
      let effects = machine.takeEffects()
      if effects.isEmpty { break }
      for effect in effects {
        switch effect {
        case .send(let frame):
          hasSent = true
          link?.link.send(frame)
        case .change(let change, let ticket):
          jobs.append(DocumentQueueJob(ticket: ticket, change: change, session: self))
        default: carryOut(effect)
        }
      }
    }
    if hasSent { link?.link.flush() }
    // What an answered write led to is kept before the write leaves the queue.
    machine.storeCache()
    queue.submit(jobs)
    tellQueueObservers()
  }

  private func carryOut(_ effect: DocumentClientEffect) {
    switch effect {
    case .openLink(let number): open(number)
    case .closeLink(let number): close(number)
    case .send, .change: break
    case .startTimer(let timer, let delay): start(timer, delay)
    case .stopTimer(let timer): timers.removeValue(forKey: timer)?.task.cancel()
    case .snapshot(let id, let snapshot): listeners[id]?.heard(snapshot)
    case .failed(let id, let status):
      listeners.removeValue(forKey: id)?.ended(.refused(status))
    case .answered(let id, let result): readers.removeValue(forKey: id)?(result)
    case .stored(let batch): promises[batch]?.stored.resolve(.success(()))
    case .notStored(let batch, let error):
      promises.removeValue(forKey: batch)?.ended(.queue(error))
    case .discarded(let row, let result): discards.removeValue(forKey: row)?(result)
    case .queueChanged: queueHasChanged = true
    case .settled(let batch, let status):
      promises.removeValue(forKey: batch)?.ended(status.map { .refused($0) })
    case .writesSettled(let id, let isCancelled): waiters.removeValue(forKey: id)?(isCancelled)
    case .inSync(let id): stepListeners[id]?()
    case .called(let id, let result): callers.removeValue(forKey: id)?(result)
    }
  }
}

// MARK: - Links and timers

extension DocumentSession {
  private func open(_ number: Int) {
    let transport = transport
    Task { [self] in
      do {
        try await transport.connect { link in
          self.post(.linkOpened(number, link))
          return DocumentLinkHandler(session: self, link: link, number: number)
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

  private func start(_ timer: DocumentTimer, _ delay: Duration) {
    timers.removeValue(forKey: timer)?.task.cancel()
    lastTimer += 1
    let generation = lastTimer
    let clock = ambient.clock
    let task = Task { [weak self] in
      do { try await clock.sleep(for: delay) } catch { return }
      self?.post(.timer(timer, generation))
    }
    timers[timer] = (generation, task)
  }

  private func fired(_ timer: DocumentTimer, _ generation: UInt64) {
    guard timers[timer]?.generation == generation else { return }
    timers[timer] = nil
    machine.timerFired(timer)
  }
}

/// Takes a link's news into the session's order.
private final class DocumentLinkHandler: LinkHandler {
  private let session: DocumentSession
  private let link: any Link
  private let number: Int

  init(session: DocumentSession, link: any Link, number: Int) {
    self.session = session
    self.link = link
    self.number = number
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    if session.inbox.add(frames, from: link, number) { session.look() }
  }

  func linkDidClose(_ reason: LinkClosure) { session.post(.linkClosed(number)) }
}
