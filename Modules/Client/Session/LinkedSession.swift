import TernSync
import TernTransport

/// The decisions a ``LinkedSession`` carries out.
protocol SessionMachine: Sendable {
  associatedtype Timer: Hashable, Sendable
  /// The pending and the rejected writes of the queue.
  associatedtype Status: Sendable

  var connectionState: ConnectionState { get }
  var queueStatus: Status { get }
  /// Returns true when events of this link are still wanted.
  func isCurrentLink(_ number: Int) -> Bool
  mutating func connectionEvent(_ event: Connection.Event)
  mutating func received(_ frames: [[UInt8]], on link: Int)
  mutating func timerFired(_ timer: Timer)
  mutating func queueAnswered(_ ticket: UInt64, _ result: QueueResult)
}

extension TreeMachine: SessionMachine {}
extension DocumentMachine: SessionMachine {}

/// An actor around a machine: everything that happens is told to the machine in the order it
/// happened, and its effects are carried out before the next thing is told.
protocol LinkedSession: Actor, QueueOwner {
  associatedtype Machine: SessionMachine
  var machine: Machine { get set }
  var wires: SessionWires<Machine.Timer> { get set }
  var observers: SessionObservers<Machine.Status> { get set }
  nonisolated var inbox: SessionInbox<Self, Machine.Timer> { get }
  /// Tells a developer what happens.
  nonisolated var report: @Sendable (ClientNotice) -> Void { get }
  /// Carries out what the machine owes.
  func carryOut()
}

/// A session that takes calls of those who do not wait for it, in their order.
package protocol CallableSession: Actor {
  /// Takes a call into the session's order.
  ///
  /// - Throws: ``SessionBusy`` when too many calls wait.
  nonisolated func submitCall(
    _ call: @escaping @Sendable (isolated Self) -> Void
  ) throws(SessionBusy)

  /// Takes a call into the session's order, however many wait: for calls that end something, or
  /// must not be lost.
  nonisolated func submit(_ call: @escaping @Sendable (isolated Self) -> Void)
}

/// The connection of a session with the outside: its link, and its timers.
struct SessionWires<Timer: Hashable & Sendable>: Sendable {
  fileprivate let transport: any Transport
  fileprivate let clock: any Clock<Duration>
  fileprivate(set) var link: (number: Int, link: any Link)?
  /// The address of the last attempt to connect.
  fileprivate var address = 0
  /// The reason the last attempt at an address failed; none after a success.
  fileprivate var failures: [Int: TransportError] = [:]
  /// The frame over a limit that was reported last.
  fileprivate var reportedFrame: LinkClosure?
  fileprivate var timers: [Timer: (generation: UInt64, task: Task<Void, Never>)] = [:]
  fileprivate var lastTimer: UInt64 = 0
  fileprivate var isDraining = false

  init(transport: any Transport, clock: any Clock<Duration>) {
    self.transport = transport
    self.clock = clock
  }
}

extension SessionWires {
  /// Ends the link and the timers of a session that was released.
  func abandon() {
    link?.link.flush()
    link?.link.close()
    for timer in timers.values { timer.task.cancel() }
  }
}

extension LinkedSession {
  nonisolated func post(_ input: SessionInput<Self, Machine.Timer>) {
    if inbox.add(input) { look() }
  }

  nonisolated func look() {
    Task { await self.drain() }
  }

  nonisolated func queueAnswered(_ answers: [(ticket: UInt64, result: QueueResult)]) {
    post(.queueAnswers(answers))
  }

  /// Tells the machine everything that waits, in order.
  func drain() {
    guard !wires.isDraining else { return }
    wires.isDraining = true
    for input in inbox.takeAll() { take(input) }
    wires.isDraining = false
  }

  private func take(_ input: SessionInput<Self, Machine.Timer>) {
    switch input {
    case .linkOpened(let number, let link): opened(link, number)
    case .linkFailed(let number, let error): failed(number, error)
    case .linkClosed(let number, let reason): ended(number, reason)
    case .frames(let frames, let number): machine.received(frames, on: number)
    case .timer(let timer, let generation): fired(timer, generation)
    case .queueAnswers(let answers):
      for (ticket, result) in answers { machine.queueAnswered(ticket, result) }
    case .call(let call): call(self)
    }
    carryOut()
  }
}

// MARK: - Links

extension LinkedSession {
  /// Opens a link to an address, and reports about it under a number.
  func open(_ number: Int, to address: Int) {
    let transport = wires.transport
    wires.address = address
    Task { [self] in
      do throws(TransportError) {
        try await transport.connect(to: address) { link in
          self.post(.linkOpened(number, link))
          return SessionLinkHandler(session: self, link: link, number: number)
        }
      } catch {
        post(.linkFailed(number, error))
      }
    }
  }

  private func opened(_ link: any Link, _ number: Int) {
    guard machine.isCurrentLink(number) else { return link.close() }
    wires.link = (number, link)
    wires.failures[wires.address] = nil
    machine.connectionEvent(.linkOpened(number))
  }

  /// An attempt to open a link failed; the same reason is told once for each address.
  private func failed(_ number: Int, _ error: TransportError) {
    if machine.isCurrentLink(number), wires.failures[wires.address] != error {
      wires.failures[wires.address] = error
      report(.notConnected(error))
    }
    closed(number, byServer: false)
  }

  /// Closes the link; no news of it is wanted.
  func close(_ number: Int) {
    guard wires.link?.number == number else { return }
    wires.link?.link.flush()
    wires.link?.link.close()
    wires.link = nil
  }

  /// A link has ended; a frame over its limit is reported, once for each, as it ends the next link
  /// as well.
  private func ended(_ number: Int, _ reason: LinkClosure) {
    if case .frameTooLarge(let bytes, let limit) = reason, wires.reportedFrame != reason {
      wires.reportedFrame = reason
      report(.frameTooLarge(bytes: bytes, limitBytes: limit))
    }
    closed(number, byServer: reason == .closedByPeer)
  }

  private func closed(_ number: Int, byServer: Bool) {
    if wires.link?.number == number { wires.link = nil }
    machine.connectionEvent(.linkClosed(number, byServer: byServer))
  }
}

// MARK: - Timers

extension LinkedSession {
  func start(_ timer: Machine.Timer, _ delay: Duration) {
    stop(timer)
    wires.lastTimer += 1
    let generation = wires.lastTimer
    let clock = wires.clock
    let task = Task { [weak self] in
      do { try await clock.sleep(for: delay) } catch { return }
      self?.post(.timer(timer, generation))
    }
    wires.timers[timer] = (generation, task)
  }

  func stop(_ timer: Machine.Timer) {
    wires.timers.removeValue(forKey: timer)?.task.cancel()
  }

  private func fired(_ timer: Machine.Timer, _ generation: UInt64) {
    guard wires.timers[timer]?.generation == generation else { return }
    wires.timers[timer] = nil
    machine.timerFired(timer)
  }
}

/// Takes a link's news into the session's order.
///
/// It does not hold the session: a link alone keeps nothing alive.
private final class SessionLinkHandler<Session: LinkedSession>: LinkHandler {
  private let session: @Sendable () -> Session?
  private let link: any Link
  private let number: Int

  init(session: Session, link: any Link, number: Int) {
    self.session = { [weak session] in session }
    self.link = link
    self.number = number
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    guard let session = session() else { return link.close() }
    if session.inbox.add(frames, from: link, number) { session.look() }
  }

  func linkDidClose(_ reason: LinkClosure) {
    session()?.post(.linkClosed(number, reason))
  }
}
