package import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

/// A client's announcement that it is here.
package struct PresencePlan: Sendable {
  /// The location that exists while the client has a connection.
  package let path: TreePath
  /// The value there.
  package let node: TreeNode
  /// The location that gets the time at which the connection ended; `nil` for none.
  package let lastSeen: TreePath?

  /// Names the locations and the value.
  package init(path: TreePath, node: TreeNode, lastSeen: TreePath?) {
    self.path = path
    self.node = node
    self.lastSeen = lastSeen
  }

  /// The operations that the server carries out when the connection ends.
  fileprivate var operations: [TreeWrite] {
    [.set(path, .empty)] + (lastSeen.map { [.set($0, .timestamp)] } ?? [])
  }
}

/// The end of this client's connection as the server knows it: announcements, and the onDisconnect
/// operations that the server holds.
///
/// On every connection the onDisconnect operations come first, and the announcement only when the
/// server holds them. Nothing of it is queued on disk, so that no announcement can be sent over a
/// connection that has no onDisconnect operations.
struct TreePresence: Sendable {
  /// An announcement and its progress on the current connection.
  private struct Announcement: Sendable {
    enum Phase: Sendable, Equatable {
      /// Nothing was sent on this connection.
      case idle
      /// The server has not confirmed this many onDisconnect operations.
      case registering(unconfirmed: Int)
      /// The announcement is sent, or accepted.
      case announced
    }

    let plan: PresencePlan
    var phase = Phase.idle
  }

  /// A step of taking an announcement back.
  private struct Departure: Sendable {
    enum Step: Sendable {
      case put(TreeNode)
      case cancel
    }

    let path: TreePath
    let step: Step
    /// True when the user of the announcement has gone since.
    var isFormerUsers = false

    var isPut: Bool { if case .put = step { true } else { false } }
  }

  private var announcements: [OperationID: Announcement] = [:]
  /// The steps that the server has not taken, in the order of their ids.
  private var departures: [OperationID: Departure] = [:]
  /// Those of them that the server could not take now.
  private var postponed: Set<OperationID> = []
  private var disconnectPlan = DisconnectPlan()

  /// Announces this client, now and on every later connection.
  mutating func announce(_ plan: PresencePlan, _ channel: inout TreeChannel) -> OperationID {
    let id = channel.nextOperationID()
    announcements[id] = Announcement(plan: plan)
    // What is announced again is not taken back by what was to be taken back before.
    let paths = [plan.path] + (plan.lastSeen.map { [$0] } ?? [])
    for (id, departure) in departures where paths.contains(departure.path) { forget(id) }
    send(&channel)
    return id
  }

  /// Takes an announcement back.
  mutating func leave(_ id: OperationID, _ channel: inout TreeChannel) {
    guard let state = announcements.removeValue(forKey: id), channel.isReady,
      state.phase != .idle
    else { return }
    let isAnnounced = state.phase == .announced
    // The announcement goes before its onDisconnect operations do.
    if isAnnounced { depart(from: state.plan.path, .put(.empty), &channel) }
    for operation in state.plan.operations {
      guard case .set(let path, let node) = operation else { continue }
      if isAnnounced, path != state.plan.path { depart(from: path, .put(node), &channel) }
      depart(from: path, .cancel, &channel)
      disconnectPlan.cancel(path)
    }
  }

  private mutating func depart(
    from path: TreePath, _ step: Departure.Step, _ channel: inout TreeChannel
  ) {
    let id = channel.nextOperationID()
    let departure = Departure(path: path, step: step)
    departures[id] = departure
    send(departure, id, &channel)
  }

  private func send(_ departure: Departure, _ id: OperationID, _ channel: inout TreeChannel) {
    switch departure.step {
    case .put(let node): put(departure.path, node, about: .departure(id), &channel)
    case .cancel: channel.send(.onDisconnectCancel(departure.path), about: .departure(id))
    }
  }

  /// The consequence of an answer to a step of taking an announcement back.
  enum DepartureAnswer {
    case none
    /// The step is sent again after a rest.
    case rest
    /// The step cannot be sent again, as its user has gone. At the end of the connection the server
    /// carries out what it still holds.
    case leave
  }

  /// The server answered a step of taking an announcement back.
  ///
  /// - Parameter isPostponed: True when the server could not take it now.
  mutating func departed(_ id: OperationID, isPostponed: Bool) -> DepartureAnswer {
    guard isPostponed, let departure = departures[id] else {
      forget(id)
      return .none
    }
    if departure.isFormerUsers {
      forget(id)
      return .leave
    }
    postponed.insert(id)
    return .rest
  }

  private mutating func forget(_ id: OperationID) {
    departures[id] = nil
    postponed.remove(id)
  }

  /// Sends the steps again that the server could not take.
  mutating func sendDepartures(_ channel: inout TreeChannel) {
    guard channel.isReady else { return }
    for id in exchange(&postponed, with: []).sorted() {
      if let departure = departures[id] { send(departure, id, &channel) }
    }
  }

  /// Ends all announcements, before another user's credential is shown.
  mutating func endAll(because error: DisconnectError, _ channel: inout TreeChannel) {
    for id in announcements.keys.sorted() {
      leave(id, &channel)
      channel.emit(.presenceEnded(id, error))
    }
    // What is postponed must not be sent as another user.
    for id in postponed { departures[id] = nil }
    postponed = []
    for id in departures.keys { departures[id]?.isFormerUsers = true }
  }

  /// Registers the onDisconnect operations of the announcements that have none on this connection.
  mutating func send(_ channel: inout TreeChannel) {
    guard channel.isReady else { return }
    let idle = announcements.filter { $0.value.phase == .idle }
    for (id, state) in idle.sorted(by: { $0.key < $1.key }) {
      let operations = state.plan.operations
      announcements[id]?.phase = .registering(unconfirmed: operations.count)
      for operation in operations {
        guard case .set(let path, let node) = operation else { continue }
        channel.send(.onDisconnectSet(path, node), about: .presence(id))
        disconnectPlan.add(operation)
      }
    }
  }

  /// The server answered an onDisconnect operation or the announcement itself.
  mutating func answered(
    _ id: OperationID, rejection: Rejection?, _ channel: inout TreeChannel
  ) {
    guard let state = announcements[id] else { return }
    if let rejection {
      leave(id, &channel)
      return channel.emit(.presenceEnded(id, .rejected(rejection)))
    }
    guard case .registering(let unconfirmed) = state.phase else { return }
    announcements[id]?.phase = .registering(unconfirmed: unconfirmed - 1)
    guard unconfirmed == 1 else { return }
    announcements[id]?.phase = .announced
    put(state.plan.path, state.plan.node, about: .presence(id), &channel)
  }

  /// The server takes nothing now: the announcement begins anew after a rest.
  mutating func rest(_ id: OperationID) { announcements[id]?.phase = .idle }

  /// The connection is lost, and with it what the server was told.
  mutating func disconnected() {
    // The operations that the server held take an announcement back, unless they were cancelled
    // before its end was taken.
    departures = departures.filter { $0.value.isPut && !$0.value.isFormerUsers }
    postponed = Set(departures.keys)
    for id in announcements.keys { announcements[id]?.phase = .idle }
  }

  private func put(
    _ path: TreePath, _ node: TreeNode, about: TreeRequestSubject, _ channel: inout TreeChannel
  ) {
    channel.send(.put(path, node, expectedHash: nil, WriteHeader()), about: about)
  }
}

// MARK: - onDisconnect operations

extension TreePresence {
  /// The server has confirmed an onDisconnect operation.
  mutating func registered(_ request: DisconnectRequest) {
    switch request.verb {
    case .write(let write): disconnectPlan.add(write)
    case .cancel(let path): disconnectPlan.cancel(path)
    }
  }

  /// Shows at once what the server is going to do, now that the connection is gone.
  mutating func applyDisconnectPlan(
    _ transactions: inout TreeTransactions, _ exchange: inout TreeExchange
  ) {
    for entry in disconnectPlan.takeAll() {
      let existing = exchange.views.replica.transactionInput(at: entry.path) ?? .empty
      let node = entry.node.resolvingServerValues(
        existing: existing, now: exchange.channel.serverNow)
      let write = TreeWrite.set(entry.path, node)
      transactions.abort(touchedBy: write, &exchange)
      exchange.perform(exchange.views.replica.applyServer(.overwrite(entry.path, node)))
      transactions.rerun(touchedBy: write, &exchange)
    }
  }
}
