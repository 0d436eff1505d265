import TernCore
package import TernSync
import TernTreeReplica
import TernTreeWire

// The connection: opened by the first use, restored in a fixed order, survived when lost.

extension TreeMachine {
  /// Something happened to the link, or to a timer.
  package mutating func connectionEvent(_ event: Connection.Event) {
    let before = connectionState
    let actions = exchange.channel.connection.handle(event, exchange.channel.ambient)
    if exchange.channel.connection.isOpening(event) { greet() }
    for action in actions {
      switch exchange.channel.connection.perform(action) {
      case .pingDue: exchange.channel.send(.ping)
      case .online: wentOnline()
      case .offline: wentOffline()
      case nil: break
      }
    }
    exchange.channel.connection.reportState(since: before)
  }

  /// A timer ran out.
  package mutating func timerFired(_ timer: TreeTimer) {
    switch timer {
    case .connection(let timer): connectionEvent(.timerFired(timer))
    case .read(let id): reads.outOfPatience(id, &exchange)
    case .rest(let id): transactions.rested(id, &exchange)
    case .outbox:
      guard exchange.outbox.resume() else { return }
      presence.sendDepartures(&exchange.channel)
      exchange.sendReady()
      presence.send(&exchange.channel)
    case .listens: exchange.views.resume(&exchange.channel)
    }
  }

  /// The state of the connection for applications.
  package var connectionState: ConnectionState { exchange.channel.connection.state }

  /// Returns true when events of this link are still wanted.
  package func isCurrentLink(_ number: Int) -> Bool {
    exchange.channel.connection.isCurrent(number)
  }

  /// Closes the connection and stays without one.
  package mutating func goOffline() { connectionEvent(.interrupt(.requested)) }

  /// Allows a connection again and tries at once, also after the server has refused further ones.
  package mutating func goOnline() {
    connectionEvent(.resume(.serverShutdown))
    connectionEvent(.resume(.requested))
    use()
  }

  /// Ends the connection for good.
  package mutating func close() { connectionEvent(.interrupt(.closed)) }

  /// The first use of the database is what opens the connection.
  mutating func use() {
    if exchange.channel.connection.isUnused { connectionEvent(.resume(.unused)) }
  }

  /// Opens a session over a link that has just come, or was asked about.
  mutating func greet() { exchange.channel.greet(as: exchange.writes.client) }

  /// The server greeted: it is told who is asking, then what is wanted.
  private mutating func wentOnline() {
    exchange.channel.showCredential()
    if exchange.channel.isReady { sendAllWaiting() }
    exchange.views.setInfo(connected: true, &exchange.channel)
  }

  /// The link is gone: nothing on its way will be answered.
  private mutating func wentOffline() {
    exchange.disconnected()
    exchange.views.setInfo(connected: false, &exchange.channel)
    presence.disconnected()
    exchange.views.replica.disconnect()
    presence.applyDisconnectPlan(&transactions, &exchange)
    reads.disconnected(&exchange)
  }

  /// Shows a credential from now on, or none.
  package mutating func setCredential(_ token: String?) {
    exchange.channel.setCredential(token)
  }

  /// Requests everything that has waited for the connection or for the identity.
  ///
  /// Listens come before the writes, so that a view is up to date before a write leaves its
  /// overlay; the outcomes of writes whose answer was lost come before the writes after them.
  mutating func sendAllWaiting() {
    exchange.views.sendWaiting(&exchange.channel)
    exchange.writes.askForOutcomes(&exchange.channel)
    // More of them may have come since, with their user or with what they do.
    transactions.askForOutcomes(&exchange)
    presence.sendDepartures(&exchange.channel)
    exchange.sendReady()
    presence.send(&exchange.channel)
    reads.sendWaiting(&exchange)
  }
}
