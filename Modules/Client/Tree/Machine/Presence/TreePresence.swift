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

  /// The operations that the server carries out when the connection ends, each a set.
  fileprivate var operations: [TreeMerge.Entry] {
    [TreeMerge.Entry(path: path, node: .empty)]
      + (lastSeen.map { [TreeMerge.Entry(path: $0, node: .timestamp)] } ?? [])
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
    /// True when the server may hold onDisconnect operations of it on this connection.
    var isRegistered = false
    /// True when its value was sent on this connection.
    var isShown = false

    /// The value that the server writes at a path when the connection ends; `nil` for none.
    func operation(at path: TreePath) -> TreeNode? {
      plan.operations.last { $0.path == path }?.node
    }
  }

  /// A step of taking an announcement back.
  private struct Departure: Sendable {
    enum Step: Sendable {
      case put(TreeNode)
      case cancel
      /// Registers what the application or another announcement has left there.
      case restore(TreeNode)
    }

    let path: TreePath
    let step: Step
    /// True when the user of the announcement has gone since.
    var isFormerUsers = false

    var isPut: Bool { if case .put = step { true } else { false } }
    var isRestoration: Bool { if case .restore = step { true } else { false } }
  }

  private var announcements: [OperationID: Announcement] = [:]
  /// The steps that the server has not taken, in the order of their ids.
  private var departures: [OperationID: Departure] = [:]
  /// Those of them that the server could not take now.
  private var postponed: Set<OperationID> = []
  /// All onDisconnect operations of this connection.
  private var disconnectPlan = DisconnectPlan()
  /// Those of them that the application has registered.
  private var applicationPlan = DisconnectPlan()

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

  /// Takes an announcement back, and leaves what other announcements and the application have
  /// registered at its locations.
  mutating func leave(_ id: OperationID, _ channel: inout TreeChannel) {
    guard let state = announcements.removeValue(forKey: id), channel.connection.isOnline,
      state.isRegistered
    else { return }
    for (id, departure) in departures
    where departure.isRestoration && state.operation(at: departure.path) != nil { forget(id) }
    inherit(from: state)
    // The announcement goes before its onDisconnect operations do.
    if state.isShown { depart(from: state, &channel) }
    let remaining = remainingPlan
    for operation in state.plan.operations {
      if let node = remaining.node(at: operation.path) {
        if node != operation.node { restore(node, at: operation.path, &channel) }
        continue
      }
      disconnectPlan.cancel(operation.path)
      depart(from: operation.path, .cancel, &channel)
      // The server has forgotten what lies below, too.
      for entry in remaining.entries(below: operation.path) {
        restore(entry.node, at: entry.path, &channel)
      }
    }
    // What they had there went with the announcement.
    register(announcementsBelow(state.plan), &channel)
  }

  /// Lets the announcements of the same locations stand for what the server has of one that ends.
  private mutating func inherit(from state: Announcement) {
    for (id, other) in announcements {
      guard state.plan.operations.contains(where: { other.operation(at: $0.path) != nil }) else {
        continue
      }
      announcements[id]?.isRegistered = true
      if state.isShown, other.plan.path == state.plan.path { announcements[id]?.isShown = true }
    }
  }

  /// Removes the value of an announcement, and leaves its time, except where another announcement
  /// stands for the location.
  private mutating func depart(from state: Announcement, _ channel: inout TreeChannel) {
    let path = state.plan.path
    let heirs = announcements.filter { $0.value.plan.path == path }
    if heirs.isEmpty {
      depart(from: path, .put(.empty), &channel)
    } else if let latest = heirs.max(by: { $0.key < $1.key }),
      latest.value.phase == .announced, latest.value.plan.node != state.plan.node
    {
      register([latest.key], &channel)
    }
    guard let lastSeen = state.plan.lastSeen, lastSeen != path,
      !announcements.values.contains(where: { $0.operation(at: lastSeen) != nil })
    else { return }
    depart(from: lastSeen, .put(.timestamp), &channel)
  }

  /// The onDisconnect operations that the server is to hold now.
  private var remainingPlan: DisconnectPlan {
    var plan = applicationPlan
    for (_, state) in announcements.sorted(by: { $0.key < $1.key }) where state.isRegistered {
      for operation in state.plan.operations { plan.set(operation.node, at: operation.path) }
    }
    return plan
  }

  /// The announcements that have a location below those of an announcement, in order.
  private func announcementsBelow(_ plan: PresencePlan) -> [OperationID] {
    announcements.filter { _, other in
      other.isRegistered
        && other.plan.operations.contains { operation in
          plan.operations.contains {
            $0.path != operation.path && $0.path.contains(operation.path)
          }
        }
    }.keys.sorted()
  }

  private mutating func restore(
    _ node: TreeNode, at path: TreePath, _ channel: inout TreeChannel
  ) {
    disconnectPlan.set(node, at: path)
    depart(from: path, .restore(node), &channel)
  }

  /// Takes a step, or keeps it until the server knows who is asking.
  private mutating func depart(
    from path: TreePath, _ step: Departure.Step, _ channel: inout TreeChannel
  ) {
    let id = channel.nextOperationID()
    let departure = Departure(path: path, step: step)
    departures[id] = departure
    if channel.isReady { send(departure, id, &channel) } else { postponed.insert(id) }
  }

  private func send(_ departure: Departure, _ id: OperationID, _ channel: inout TreeChannel) {
    switch departure.step {
    case .put(let node): put(departure.path, node, about: .departure(id), &channel)
    case .cancel: channel.send(.onDisconnectCancel(departure.path), about: .departure(id))
    case .restore(let node):
      channel.send(.onDisconnectSet(departure.path, node), about: .departure(id))
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
  ///
  /// - Returns: Whether the server could not be told, so that the link must be left: at its end the
  ///   server carries out what it holds.
  mutating func endAll(because error: DisconnectError, _ channel: inout TreeChannel) -> Bool {
    for id in announcements.keys.sorted() {
      leave(id, &channel)
      channel.emit(.presenceEnded(id, error))
    }
    // What is postponed must not be sent as another user.
    let mustLeave = !postponed.isEmpty && channel.connection.isOnline
    for id in postponed { departures[id] = nil }
    postponed = []
    for id in departures.keys { departures[id]?.isFormerUsers = true }
    return mustLeave
  }

  /// Registers the onDisconnect operations of the announcements that have none on this connection.
  mutating func send(_ channel: inout TreeChannel) {
    guard channel.isReady else { return }
    register(announcements.filter { $0.value.phase == .idle }.keys.sorted(), &channel)
  }

  /// Registers the onDisconnect operations of announcements, which are made once the server has
  /// confirmed them; as soon as it knows who is asking.
  private mutating func register(_ ids: [OperationID], _ channel: inout TreeChannel) {
    for id in ids {
      guard let state = announcements[id] else { continue }
      guard channel.isReady else {
        announcements[id]?.phase = .idle
        continue
      }
      let operations = state.plan.operations
      // Earlier ones that are on their way are answered first.
      var unconfirmed = operations.count
      if case .registering(let earlier) = state.phase { unconfirmed += earlier }
      announcements[id]?.phase = .registering(unconfirmed: unconfirmed)
      announcements[id]?.isRegistered = true
      for operation in operations {
        channel.send(.onDisconnectSet(operation.path, operation.node), about: .presence(id))
        disconnectPlan.set(operation.node, at: operation.path)
      }
    }
  }

  /// The server answered an onDisconnect operation.
  mutating func answered(
    _ id: OperationID, rejection: Rejection?, _ channel: inout TreeChannel
  ) {
    guard let state = announcements[id] else { return }
    if let rejection { return end(id, because: rejection, &channel) }
    guard case .registering(let unconfirmed) = state.phase else { return }
    announcements[id]?.phase = .registering(unconfirmed: unconfirmed - 1)
    guard unconfirmed == 1 else { return }
    announcements[id]?.phase = .announced
    announcements[id]?.isShown = true
    put(state.plan.path, state.plan.node, about: .announcement(id), &channel)
  }

  /// The server answered the announcement itself.
  mutating func announced(
    _ id: OperationID, rejection: Rejection?, _ channel: inout TreeChannel
  ) {
    guard let rejection, announcements[id] != nil else { return }
    end(id, because: rejection, &channel)
  }

  private mutating func end(
    _ id: OperationID, because rejection: Rejection, _ channel: inout TreeChannel
  ) {
    leave(id, &channel)
    channel.emit(.presenceEnded(id, .rejected(rejection)))
  }

  /// The server takes nothing now: the announcement begins anew after a rest.
  mutating func rest(_ id: OperationID) { announcements[id]?.phase = .idle }

  /// The connection is lost, and with it what the server was told.
  mutating func disconnected() {
    // The operations that the server held take an announcement back, unless they were cancelled
    // before its end was taken.
    departures = departures.filter { $0.value.isPut && !$0.value.isFormerUsers }
    postponed = Set(departures.keys)
    for (id, state) in announcements { announcements[id] = Announcement(plan: state.plan) }
    applicationPlan = DisconnectPlan()
  }

  private func put(
    _ path: TreePath, _ node: TreeNode, about: TreeRequestSubject, _ channel: inout TreeChannel
  ) {
    channel.send(.put(path, node, expectedHash: nil, WriteHeader()), about: about)
  }
}

// MARK: - onDisconnect operations

extension TreePresence {
  /// The server has confirmed an onDisconnect operation of the application.
  mutating func registered(_ request: DisconnectRequest, _ channel: inout TreeChannel) {
    switch request.verb {
    case .write(let write):
      disconnectPlan.add(write)
      applicationPlan.add(write)
      // A cancellation that was sent behind it has taken it along.
      let steps = departures.values.filter { !$0.isPut }
      for entry in write.assignments
      where steps.contains(where: { $0.path.contains(entry.path) }) {
        restore(entry.node, at: entry.path, &channel)
      }
    case .cancel(let path):
      disconnectPlan.cancel(path)
      applicationPlan.cancel(path)
      for (id, departure) in departures
      where departure.isRestoration && path.contains(departure.path) { forget(id) }
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
