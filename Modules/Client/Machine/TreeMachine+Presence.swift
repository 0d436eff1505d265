package import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

// Presence: on every connection the onDisconnect operations first, and the announcement only when
// the server holds them. Nothing of it is queued on disk, so that no announcement can be sent over
// a connection that has no onDisconnect operations.

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

/// An announcement and its progress on the current connection.
struct PresenceState: Sendable {
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

extension TreeMachine {
  /// Announces this client, now and on every later connection.
  package mutating func announce(_ plan: PresencePlan) -> OperationID {
    use()
    let id = nextOperationID()
    presences[id] = PresenceState(plan: plan)
    sendPresences()
    return id
  }

  /// Takes an announcement back.
  package mutating func leave(_ id: OperationID) {
    guard let state = presences.removeValue(forKey: id), isReady, state.phase != .idle else {
      return
    }
    // The announcement goes before its onDisconnect operations do.
    if state.phase == .announced { put(.set(state.plan.path, .empty), about: .unattended) }
    for operation in state.plan.operations {
      guard case .set(let path, let node) = operation else { continue }
      if state.phase == .announced, path != state.plan.path {
        put(.set(path, node), about: .unattended)
      }
      _ = send(.onDisconnectCancel(path), about: .unattended)
      disconnectPlan.cancel(path)
    }
  }

  /// Ends all announcements, before another user's credential is shown.
  mutating func endPresences(because error: DisconnectError) {
    for id in presences.keys.sorted() {
      leave(id)
      emit(.presenceEnded(id, error))
    }
  }

  /// Registers the onDisconnect operations of the announcements that have none on this connection.
  mutating func sendPresences() {
    guard isReady else { return }
    for (id, state) in presences.sorted(by: { $0.key < $1.key }) where state.phase == .idle {
      let operations = state.plan.operations
      presences[id]?.phase = .registering(unconfirmed: operations.count)
      for operation in operations {
        guard case .set(let path, let node) = operation else { continue }
        _ = send(.onDisconnectSet(path, node), about: .presence(id))
        disconnectPlan.add(operation)
      }
    }
  }

  /// The server answered an onDisconnect operation or the announcement itself.
  mutating func presenceAnswered(_ id: OperationID, rejection: Rejection?) {
    guard let state = presences[id] else { return }
    if let rejection {
      leave(id)
      return emit(.presenceEnded(id, .rejected(rejection)))
    }
    guard case .registering(let unconfirmed) = state.phase else { return }
    presences[id]?.phase = .registering(unconfirmed: unconfirmed - 1)
    guard unconfirmed == 1 else { return }
    presences[id]?.phase = .announced
    put(.set(state.plan.path, state.plan.node), about: .presence(id))
  }

  /// The connection is lost, and with it what the server was told.
  mutating func presencesDisconnected() {
    for id in presences.keys { presences[id]?.phase = .idle }
  }

  private mutating func put(_ write: TreeWrite, about: Request) {
    guard case .set(let path, let node) = write else { return }
    _ = send(.put(path, node, expectedHash: nil, WriteHeader()), about: about)
  }
}
