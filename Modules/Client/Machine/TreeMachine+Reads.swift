package import TernCore
package import TernQuery
import TernSync
import TernTreeReplica
import TernTreeWire

// One-time reads: what listeners keep complete, else the server, else the cache.

extension TreeMachine {
  /// Reads a query's result once. Source: realtime reference, section 4.7.
  package mutating func read(at path: TreePath, query: TreeQuery) -> OperationID {
    use()
    let id = nextOperationID()
    if path.isInfo {
      let node = info.value(at: path, query: query)
      answer(id, ReadAnswer(node: node, isFromCache: false, hasPendingWrites: false))
    } else if let node = known(at: path, query: query) {
      answer(id, node, at: path, isFromCache: !isReady)
    } else if reads.count >= limits.waiting.reads {
      emit(.read(id, .failure(.tooManyWaiting(limit: limits.waiting.reads))))
    } else {
      reads[id] = PendingRead(path: path, query: query)
      if isReady { sendRead(id) } else { waitForConnection(id) }
    }
    return id
  }

  /// Returns the data of listeners: while the server is available, only data that it keeps up to
  /// date.
  private func known(at path: TreePath, query: TreeQuery) -> TreeNode? {
    isReady
      ? replica.currentValue(at: path, query: query) : replica.value(at: path, query: query)
  }

  mutating func sendRead(_ id: OperationID) {
    guard let read = reads[id] else { return }
    reads[id]?.isSent = true
    emit(.stopTimer(.read(id)))
    _ = send(.get(read.path, read.query), about: .read(id))
  }

  /// Gives a read some time to find a connection, unless none is going to come.
  mutating func waitForConnection(_ id: OperationID) {
    reads[id]?.isSent = false
    if connection.interruptions.isEmpty {
      emit(.startTimer(.read(id), limits.readPatience))
    } else {
      readOutOfPatience(id)
    }
  }

  mutating func readOutOfPatience(_ id: OperationID) {
    guard let read = reads[id], !read.isSent else { return }
    reads[id] = nil
    if let node = replica.cachedValue(at: read.path, query: read.query) {
      answer(id, node, at: read.path, isFromCache: true)
    } else {
      emit(.read(id, .failure(.offline)))
    }
  }

  mutating func readAnswered(_ id: OperationID, _ result: Result<TreeNode, Rejection>) {
    guard let read = reads.removeValue(forKey: id) else { return }
    switch result {
    case .success(let node):
      let whole = replica.applyRead(node, at: read.path, query: read.query)
      answer(id, whole, at: read.path, isFromCache: false)
    case .failure(let rejection):
      emit(.read(id, .failure(.rejected(rejection))))
    }
  }

  private mutating func answer(
    _ id: OperationID, _ node: TreeNode, at path: TreePath, isFromCache: Bool
  ) {
    answer(
      id,
      ReadAnswer(
        node: node, isFromCache: isFromCache, hasPendingWrites: replica.overlay.touches(path)))
  }

  private mutating func answer(_ id: OperationID, _ answer: ReadAnswer) {
    emit(.read(id, .success(answer)))
  }
}
