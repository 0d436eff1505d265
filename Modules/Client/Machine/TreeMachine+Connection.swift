import TernCore
package import TernSync
import TernTreeReplica
import TernTreeWire

// The connection: opened by the first use, restored in a fixed order, survived when lost.

extension TreeMachine {
  /// Something happened to the link, or to a timer.
  package mutating func connectionEvent(_ event: Connection.Event) {
    let before = connectionState
    let actions = connection.handle(event, unit: ambient.randomUnit)
    if case .linkOpened(let link) = event, connection.isCurrent(link) { greet() }
    for action in actions { perform(action) }
    if connectionState != before { emit(.connectionChanged(connectionState)) }
  }

  /// A timer ran out.
  package mutating func timerFired(_ timer: TreeTimer) {
    switch timer {
    case .connection(let timer): connectionEvent(.timerFired(timer))
    case .read(let id): readOutOfPatience(id)
    case .rest(let id): rested(id)
    case .outbox: resumeOutbox()
    }
  }

  /// The state of the connection for applications.
  package var connectionState: ConnectionState { ConnectionState(connection.phase) }

  /// Closes the connection and stays without one.
  package mutating func goOffline() { connectionEvent(.interrupt(.requested)) }

  /// Allows a connection again and tries at once.
  package mutating func goOnline() {
    connectionEvent(.resume(.requested))
    use()
  }

  /// The first use of the database is what opens the connection.
  mutating func use() {
    guard connection.interruptions.contains(.unused) else { return }
    connectionEvent(.resume(.unused))
  }

  private mutating func perform(_ action: Connection.Action) {
    switch action {
    case .openLink(let link): emit(.openLink(link))
    case .closeLink(let link): emit(.closeLink(link))
    case .startTimer(let timer, let delay): emit(.startTimer(.connection(timer), delay))
    case .stopTimer(let timer): emit(.stopTimer(.connection(timer)))
    case .sendPing: send(.ping)
    case .goOnline: wentOnline()
    case .goOffline: wentOffline()
    }
  }

  /// Opens a session over a link that has just come, or was asked about.
  mutating func greet() {
    announcedClient = book.client
    let opening = TreeOpening(
      namespace: namespace, stream: book.client, origin: origin == book.client ? nil : origin,
      lastSession: lastSession)
    openingSentAt = ambient.millisecondsSinceEpoch()
    send(.open(opening))
  }

  /// The server greeted: it is told who is asking, then what is wanted.
  private mutating func wentOnline() {
    showCredential()
    if isReady { askForEverything() }
    setInfo(connected: true)
  }

  /// The link is gone: nothing on its way will be answered.
  private mutating func wentOffline() {
    requests.removeAll()
    credential.isAccepted = false
    hasAskedForOutcomes = false
    listens.disconnected()
    stopsHeldBack.removeAll()
    outbox.disconnected()
    isOutboxResting = false
    announcedClient = nil
    lastAnswered = 0
    setInfo(connected: false)
    presencesDisconnected()
    replica.disconnect()
    applyDisconnectPlan()
    for id in reads.keys.sorted() { waitForConnection(id) }
  }
}
