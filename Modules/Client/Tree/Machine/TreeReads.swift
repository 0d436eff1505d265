import TernCore
import TernQuery
import TernSync
import TernTreeReplica
import TernTreeWire

/// One-time reads: what listeners keep complete, else the server, else the cache.
/// Source: realtime reference, section 4.7.
struct TreeReads: Sendable {
  /// A read that waits for a connection or for its answer.
  private struct Read: Sendable {
    let path: TreePath
    let query: TreeQuery
    var isSent = false
  }

  private let limit: Int
  /// The time that a read waits for a connection before it reads the cache.
  private let patience: Duration
  private var waiting: [OperationID: Read] = [:]

  init(_ limits: TreeMachine.Limits) {
    limit = limits.waiting.reads
    patience = limits.readPatience
  }

  /// Reads a query's result once.
  mutating func read(
    at path: TreePath, query: TreeQuery, _ exchange: inout TreeExchange
  ) -> OperationID {
    let id = exchange.channel.nextOperationID()
    let isReady = exchange.channel.isReady
    if path.isInfo {
      let node = exchange.views.info.value(at: path, query: query)
      answer(
        id, ReadAnswer(node: node, isFromCache: false, pending: PendingPaths()), &exchange)
    } else if let node = known(at: path, query: query, &exchange) {
      answer(id, node, at: path, isFromCache: !isReady, &exchange)
    } else if waiting.count >= limit {
      exchange.channel.emit(.read(id, .failure(.tooManyWaiting(limit: limit))))
    } else {
      waiting[id] = Read(path: path, query: query)
      if isReady { send(id, &exchange) } else { waitForConnection(id, &exchange) }
    }
    return id
  }

  /// Returns the data of listeners: while the server is available, only data that it keeps up to
  /// date.
  private func known(
    at path: TreePath, query: TreeQuery, _ exchange: inout TreeExchange
  ) -> TreeNode? {
    exchange.channel.isReady
      ? exchange.views.replica.currentValue(at: path, query: query)
      : exchange.views.replica.value(at: path, query: query)
  }

  /// Requests the reads that have waited for the connection or for the identity.
  mutating func sendWaiting(_ exchange: inout TreeExchange) {
    for id in waiting.keys.sorted() where waiting[id]?.isSent == false { send(id, &exchange) }
  }

  private mutating func send(_ id: OperationID, _ exchange: inout TreeExchange) {
    guard let read = waiting[id] else { return }
    waiting[id]?.isSent = true
    exchange.channel.emit(.stopTimer(.read(id)))
    exchange.channel.send(.get(read.path, read.query), about: .read(id))
  }

  /// The connection is lost: all reads wait for the next one.
  mutating func disconnected(_ exchange: inout TreeExchange) {
    for id in waiting.keys.sorted() { waitForConnection(id, &exchange) }
  }

  /// Gives a read some time to find a connection, unless none is going to come.
  private mutating func waitForConnection(_ id: OperationID, _ exchange: inout TreeExchange) {
    waiting[id]?.isSent = false
    if exchange.channel.connection.isWanted {
      exchange.channel.emit(.startTimer(.read(id), patience))
    } else {
      outOfPatience(id, &exchange)
    }
  }

  /// A read has waited long enough for a connection: the cache answers.
  mutating func outOfPatience(_ id: OperationID, _ exchange: inout TreeExchange) {
    guard let read = waiting[id], !read.isSent else { return }
    waiting[id] = nil
    let cached = exchange.views.replica.cachedValue(at: read.path, query: read.query)
    if let node = cached {
      answer(id, node, at: read.path, isFromCache: true, &exchange)
    } else {
      exchange.channel.emit(.read(id, .failure(.offline)))
    }
  }

  /// The server answered a read.
  mutating func answered(
    _ id: OperationID, _ result: Result<TreeNode, Rejection>, _ exchange: inout TreeExchange
  ) {
    guard let read = waiting.removeValue(forKey: id) else { return }
    switch result {
    case .success(let node):
      let whole = exchange.views.replica.applyRead(node, at: read.path, query: read.query)
      answer(id, whole, at: read.path, isFromCache: false, &exchange)
    case .failure(let rejection):
      exchange.channel.emit(.read(id, .failure(.rejected(rejection))))
    }
  }

  private func answer(
    _ id: OperationID, _ node: TreeNode, at path: TreePath, isFromCache: Bool,
    _ exchange: inout TreeExchange
  ) {
    let pending = exchange.views.replica.overlay.pending.at(path)
    answer(id, ReadAnswer(node: node, isFromCache: isFromCache, pending: pending), &exchange)
  }

  private func answer(
    _ id: OperationID, _ answer: ReadAnswer, _ exchange: inout TreeExchange
  ) {
    exchange.channel.emit(.read(id, .success(answer)))
  }
}
