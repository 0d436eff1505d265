/// The life of one client's connection: when to open a link, when to wait, when to give one up.
///
/// A state machine without clock, socket or randomness: every ``Event`` is answered with the
/// ``Action``s owed to the outside, in order. Links are named by a number that grows with every
/// attempt, so that news about an abandoned link is recognised and ignored.
package struct Connection: Sendable {
  /// A reason for a client not to be connected; it connects when no reason is left.
  package enum Interruption: Hashable, Sendable {
    /// The database has not been used yet.
    case unused
    /// The application asked to be offline.
    case requested
    /// The server told this client to go away and not come back.
    case serverShutdown
    /// The database was closed.
    case closed
  }

  /// A timer the connection asks for; starting one replaces the running one of its name.
  package enum Timer: Hashable, Sendable, CaseIterable {
    /// Waits before the next attempt.
    case retry
    /// Gives up an attempt whose handshake does not come.
    case handshake
    /// Runs while a connection is too young to be called good.
    case probation
    /// Looks for signs of life on an established connection.
    case heartbeat
  }

  package enum Event: Sendable {
    case interrupt(Interruption)
    case resume(Interruption)
    /// The link was established; the greeting of the other side is still to come.
    case linkOpened(Int)
    /// The link could not be established, or is gone. `byServer` is true when the server ended it
    /// in order, false when it broke.
    case linkClosed(Int, byServer: Bool = false)
    /// The server greeted.
    case greeted(Int)
    /// At least one frame arrived.
    case received(Int)
    /// At least one frame was sent.
    case sent
    /// The server asked this client to connect anew, at once.
    case redirected
    /// The server breaks the protocol, or cannot serve now: try again later.
    case failed
    case timerFired(Timer)
  }

  package enum Action: Equatable, Sendable {
    /// Open a link to an address, numbered from 0 in the order of the configuration.
    case openLink(Int, address: Int = 0)
    /// Close the link, and expect no further news of it.
    case closeLink(Int)
    case startTimer(Timer, Duration)
    case stopTimer(Timer)
    case sendPing
    case goOnline
    case goOffline
  }

  /// The patience of a connection.
  package struct Limits: Sendable {
    /// Longest wait from opening a link to the server's greeting.
    package var handshake: Duration = .seconds(30)
    /// A connection that lasted this long was good: the next attempt after it is immediate.
    package var probation: Duration = .seconds(30)
    /// Distance between two looks for signs of life; a ping is sent when there was none since
    /// the last look, and a link silent for two looks after a ping is given up.
    package var heartbeat: Duration = .seconds(20)
    package var backoff = Backoff.Limits()

    package init() {}
  }

  package enum Phase: Equatable, Sendable {
    case idle
    case waiting
    case opening(Int)
    case greeting(Int)
    case online(Int)
  }

  package private(set) var phase = Phase.idle
  package private(set) var interruptions: Set<Interruption> = [.unused]
  private let limits: Limits
  private var backoff: Backoff
  private var rotation: AddressRotation
  private var lastLink = 0
  /// True when the link in use has outlived its probation.
  private var isProven = false
  private var vitals = Vitals()

  /// The traffic on the link since the last heartbeat.
  private struct Vitals {
    var heard = true
    var spoke = true
    var silentBeats = 0
  }

  /// A connection that was not used yet.
  ///
  /// - Parameter addressCount: The number of addresses to connect to, 1 or more.
  package init(limits: Limits = Limits(), addressCount: Int = 1) {
    self.limits = limits
    backoff = Backoff(limits: limits.backoff)
    rotation = AddressRotation(count: addressCount)
  }

  package var isOnline: Bool {
    if case .online = phase { true } else { false }
  }

  /// Returns true when `link` is the one in use.
  package func isCurrent(_ link: Int) -> Bool {
    switch phase {
    case .opening(let current), .greeting(let current), .online(let current): current == link
    case .idle, .waiting: false
    }
  }
}

extension Connection {
  /// Folds in one event and returns the effects the caller owes, in order.
  ///
  /// - Parameter unit: Draws a random number in `0..<1`; asked only when a delay is chosen.
  package mutating func handle(_ event: Event, unit: () -> Double) -> [Action] {
    switch event {
    case .interrupt(let reason): interrupt(reason)
    case .resume(let reason): resume(reason)
    case .linkOpened(let link): linkOpened(link)
    case .linkClosed(let link, let byServer): isCurrent(link) ? lostLink(byServer, unit) : []
    case .greeted(let link): greeted(link)
    case .received(let link): received(link)
    case .sent: noteSent()
    case .redirected: redirect(unit)
    case .failed: fail(unit)
    case .timerFired(let timer): fired(timer, unit)
    }
  }

  private mutating func interrupt(_ reason: Interruption) -> [Action] {
    interruptions.insert(reason)
    beginAnew()
    let actions: [Action] =
      switch phase {
      case .idle: []
      case .waiting: [.stopTimer(.retry)]
      case .opening(let link), .greeting(let link), .online(let link):
        close(link)
      }
    phase = .idle
    return actions
  }

  private mutating func resume(_ reason: Interruption) -> [Action] {
    interruptions.remove(reason)
    guard interruptions.isEmpty else { return [] }
    switch phase {
    case .idle:
      beginAnew()
      return attempt(after: backoff.next(unit: 0))
    case .waiting:
      beginAnew()
      return [.stopTimer(.retry)] + attempt(after: backoff.next(unit: 0))
    case .opening, .greeting, .online:
      return []
    }
  }

  private mutating func linkOpened(_ link: Int) -> [Action] {
    guard phase == .opening(link) else { return [] }
    phase = .greeting(link)
    return []
  }

  private mutating func greeted(_ link: Int) -> [Action] {
    guard phase == .greeting(link) || phase == .opening(link) else { return [] }
    phase = .online(link)
    vitals = Vitals()
    return [
      .stopTimer(.handshake), .startTimer(.probation, limits.probation),
      .startTimer(.heartbeat, limits.heartbeat), .goOnline,
    ]
  }

  private mutating func received(_ link: Int) -> [Action] {
    guard isCurrent(link) else { return [] }
    vitals.heard = true
    return []
  }

  private mutating func noteSent() -> [Action] {
    vitals.spoke = true
    return []
  }

  private mutating func redirect(_ unit: () -> Double) -> [Action] {
    switch phase {
    case .idle, .waiting: return []
    case .opening(let link), .greeting(let link):
      // Sent on before it was let in, it may come to the same endpoint again.
      return close(link) + moveOn(unit)
    case .online(let link):
      beginAnew()
      return close(link) + attempt(after: backoff.next(unit: unit()))
    }
  }

  private mutating func fail(_ unit: () -> Double) -> [Action] {
    switch phase {
    case .idle, .waiting: return []
    case .opening(let link), .greeting(let link), .online(let link):
      return close(link) + moveOn(unit)
    }
  }
}

extension Connection {
  private mutating func fired(_ timer: Timer, _ unit: () -> Double) -> [Action] {
    switch (timer, phase) {
    case (.retry, .waiting):
      return open()
    case (.handshake, .opening(let link)), (.handshake, .greeting(let link)):
      return close(link) + moveOn(unit)
    case (.probation, .online):
      isProven = true
      beginAnew()
      return []
    case (.heartbeat, .online(let link)):
      return beat(link, unit)
    case (.retry, _), (.handshake, _), (.probation, _), (.heartbeat, _):
      return []
    }
  }

  private mutating func beat(_ link: Int, _ unit: () -> Double) -> [Action] {
    vitals.silentBeats = vitals.heard ? 0 : vitals.silentBeats + 1
    if vitals.silentBeats > 2 {
      return close(link) + moveOn(unit)
    }
    let needsPing = !vitals.heard || !vitals.spoke
    vitals.heard = false
    vitals.spoke = false
    let again = Action.startTimer(.heartbeat, limits.heartbeat)
    return needsPing ? [.sendPing, again] : [again]
  }

  private mutating func lostLink(_ byServer: Bool, _ unit: () -> Double) -> [Action] {
    // A good link that broke says more about the network than about the server at its address.
    let returns = isProven && !byServer
    return stopped() + (returns ? attempt(after: backoff.next(unit: unit())) : moveOn(unit))
  }

  /// Goes to the next address: at once while one was not tried in this round, else after a pause.
  private mutating func moveOn(_ unit: () -> Double) -> [Action] {
    rotation.moveOn() ? open() : attempt(after: backoff.next(unit: unit()))
  }

  /// Forgets past failures: the next attempt is immediate, and each address may be tried again.
  private mutating func beginAnew() {
    backoff.reset()
    rotation.beginRound()
  }

  /// Starts an attempt now, or waits for one.
  private mutating func attempt(after delay: Duration) -> [Action] {
    guard delay > .zero else { return open() }
    phase = .waiting
    return [.startTimer(.retry, delay)]
  }

  private mutating func open() -> [Action] {
    lastLink += 1
    isProven = false
    phase = .opening(lastLink)
    let opening = Action.openLink(lastLink, address: rotation.current)
    return [opening, .startTimer(.handshake, limits.handshake)]
  }

  private mutating func close(_ link: Int) -> [Action] {
    [.closeLink(link)] + stopped()
  }

  /// Returns the actions that follow when the current link ends, for any reason.
  private mutating func stopped() -> [Action] {
    guard isOnline else { return [.stopTimer(.handshake)] }
    return [.stopTimer(.probation), .stopTimer(.heartbeat), .goOffline]
  }
}
