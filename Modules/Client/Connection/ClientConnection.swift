import TernSync

/// A machine's connection to its server, and the effects that the machine requests, in order.
struct ClientConnection<Effect: ClientEffect>: Sendable {
  /// A step of the connection that is the machine's to follow.
  enum Step {
    case pingDue
    case online
    case offline
  }

  private var connection: Connection
  private var effects: [Effect] = []

  /// - Parameter addressCount: The number of addresses of the server, 1 or more.
  init(_ limits: Connection.Limits = Connection.Limits(), addressCount: Int) {
    connection = Connection(limits: limits, addressCount: addressCount)
  }

  /// The state for applications.
  var state: ConnectionState { ConnectionState(connection.phase) }

  var isOnline: Bool { connection.isOnline }

  /// True until the first use of the database, which is what opens the connection.
  var isUnused: Bool { connection.interruptions.contains(.unused) }

  /// True while there is a connection, or an attempt is going to be made.
  var isWanted: Bool { connection.interruptions.isEmpty }

  /// Returns true when a link is the one in use.
  func isCurrent(_ link: Int) -> Bool { connection.isCurrent(link) }

  /// Returns true when a link is open and the server has not greeted.
  func isGreeting(_ link: Int) -> Bool { connection.phase == .greeting(link) }

  /// Returns true when an event is the opening of the link in use, over which a session begins.
  func isOpening(_ event: Connection.Event) -> Bool {
    if case .linkOpened(let link) = event { isCurrent(link) } else { false }
  }

  /// Returns true when an event, before it is handled, is the end of an attempt to connect.
  ///
  /// A link that was left may report its end while the next one is being opened.
  func isFailedAttempt(_ event: Connection.Event) -> Bool {
    if case .linkClosed(let link, _) = event { isCurrent(link) && !isOnline } else { false }
  }
}

// MARK: - Effects

extension ClientConnection {
  /// True when effects wait to be performed.
  var hasEffects: Bool { !effects.isEmpty }

  mutating func emit(_ effect: Effect) { effects.append(effect) }

  /// Returns the effects since the last call.
  mutating func drainEffects() -> [Effect] {
    var taken: [Effect] = []
    swap(&taken, &effects)
    return taken
  }

  /// Sends a frame over the current link.
  mutating func send(_ frame: [UInt8]) {
    emit(.send(frame))
    _ = connection.handle(.sent) { 0 }
  }
}

// MARK: - Events

extension ClientConnection {
  /// Folds in an event.
  ///
  /// - Returns: The actions that follow; each is to be performed in order: ``perform(_:)``.
  mutating func handle(
    _ event: Connection.Event, _ ambient: RuntimeEnvironment
  ) -> [Connection.Action] {
    connection.handle(event, unit: ambient.randomUnit)
  }

  /// Requests the effect of an action.
  ///
  /// - Returns: The step that it is for the machine; `nil` for none.
  mutating func perform(_ action: Connection.Action) -> Step? {
    switch action {
    case .openLink(let link, let address): emit(.openLink(link, address: address))
    case .closeLink(let link): emit(.closeLink(link))
    case .startTimer(let timer, let delay): emit(.startTimer(.connection(timer), delay))
    case .stopTimer(let timer): emit(.stopTimer(.connection(timer)))
    case .sendPing: return .pingDue
    case .goOnline: return .online
    case .goOffline: return .offline
    }
    return nil
  }

  /// Reports the state, if it is another one than before.
  mutating func reportState(since before: ConnectionState) {
    if state != before { emit(.connectionChanged(state)) }
  }
}
