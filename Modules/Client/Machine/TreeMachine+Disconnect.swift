package import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

// Deferred writes: held by the server, carried out when this connection ends.

extension TreeMachine {
  /// Asks the server to carry out a write when the connection ends.
  package mutating func onDisconnect(_ write: TreeWrite) -> OperationID {
    request(DisconnectRequest(user: user, verb: .write(write)))
  }

  /// Takes back the deferred writes at a path and below it.
  package mutating func cancelOnDisconnect(_ path: TreePath) -> OperationID {
    request(DisconnectRequest(user: user, verb: .cancel(path)))
  }

  private mutating func request(_ request: DisconnectRequest) -> OperationID {
    use()
    let id = nextOperationID()
    guard disconnectRequests.count < limits.waiting.deferredWrites else {
      emit(.disconnectAnswered(id, .tooManyWaiting(limit: limits.waiting.deferredWrites)))
      return id
    }
    disconnectRequests[id] = request
    outbox.append(.disconnect(id))
    sendReady()
    return id
  }

  mutating func disconnectAnswered(_ id: OperationID, rejection: Rejection?) {
    outbox.answered(.disconnect(id))
    guard let request = disconnectRequests.removeValue(forKey: id) else { return }
    if rejection == nil {
      switch request.verb {
      case .write(let write): disconnectPlan.add(write)
      case .cancel(let path): disconnectPlan.cancel(path)
      }
    }
    emit(.disconnectAnswered(id, rejection.map { .rejected($0) }))
  }

  /// Shows at once what the server is going to do, now that the connection is gone.
  mutating func applyDisconnectPlan() {
    for entry in disconnectPlan.takeAll() {
      let existing = replica.transactionInput(at: entry.path) ?? .empty
      let node = entry.node.resolvingServerValues(existing: existing, now: serverNow)
      let write = TreeWrite.set(entry.path, node)
      abortTransactions(touchedBy: write)
      perform(replica.applyServer(.overwrite(entry.path, node)))
      rerunTransactions(touchedBy: write)
    }
  }
}

extension DisconnectRequest {
  var message: TreeRequest {
    switch verb {
    case .write(.set(let path, let node)): .onDisconnectSet(path, node)
    case .write(.merge(let path, let merge)): .onDisconnectMerge(path, merge)
    case .cancel(let path): .onDisconnectCancel(path)
    }
  }
}
