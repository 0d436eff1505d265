import TernCore
import TernQuery

/// One query with listeners.
struct ListenedQuery: Sendable {
  let id: Int
  var view: DocumentView
  /// In order of registration.
  var listeners: [DocumentListenerID] = []
  /// `true` if a new listener's first snapshot has cached results.
  var hasCachedResults: Bool
  /// The number of listeners that need the server.
  var serverListeners = 0

  /// Returns the documents among `changed` that could belong to the result, in the same order.
  func relevant(of changed: [Document]) -> [Document] {
    changed.allSatisfy { view.concerns($0.key) }
      ? changed : changed.filter { view.concerns($0.key) }
  }
}

/// The queries with listeners, and the targets that serve them.
struct QueryTable: Sendable {
  /// The queries, by ascending id.
  var all: [ListenedQuery] = []
  private var ids: [DocumentQuery: Int] = [:]
  /// The queries of each target that is allocated.
  private var targets: [Int32: [Int]] = [:]

  /// Returns the position of the query with an id; the ids ascend.
  func index(of id: Int) -> Int? {
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < all.count && all[low].id == id ? low : nil
  }

  /// Returns the position of a query.
  func index(of query: DocumentQuery) -> Int? { ids[query].flatMap(index(of:)) }

  /// The ids of the queries that a target serves, in order of their first listeners.
  func ids(of target: Int32) -> [Int] { targets[target] ?? [] }

  /// Returns the position of the first query that a target serves.
  func index(servedBy target: Int32) -> Int? { targets[target]?.first.flatMap(index(of:)) }

  /// Returns `true` if a target serves a query.
  func isServing(_ target: Int32) -> Bool { targets[target] != nil }

  /// Returns `true` if a listener of a target needs the server.
  func needsServer(_ target: Int32) -> Bool {
    ids(of: target).contains { id in index(of: id).map { all[$0].serverListeners > 0 } ?? false }
  }

  /// Adds a query, whose id is larger than all earlier ones.
  mutating func append(_ query: ListenedQuery) {
    all.append(query)
    ids[query.view.query] = query.id
    targets[query.view.target, default: []].append(query.id)
  }

  /// Removes the query at a position.
  mutating func remove(at index: Int) {
    let query = all.remove(at: index)
    ids[query.view.query] = nil
    let target = query.view.target
    targets[target]?.removeAll { $0 == query.id }
    if targets[target]?.isEmpty == true { targets[target] = nil }
  }

  /// Notes that the server is no longer asked for a target.
  ///
  /// - Returns: The snapshots of its queries that change thereby.
  mutating func leaveServer(_ target: Int32) -> [(query: Int, snapshot: DocumentViewSnapshot)] {
    ids(of: target).compactMap { id in
      guard let index = index(of: id), let snapshot = all[index].view.leaveServer().snapshot
      else { return nil }
      return (id, snapshot)
    }
  }

  /// Notes that the server cannot be reached.
  ///
  /// - Returns: The snapshots that change thereby.
  mutating func goOffline() -> [(query: Int, snapshot: DocumentViewSnapshot)] {
    all.indices.compactMap { index in
      all[index].view.goOffline().snapshot.map { (all[index].id, $0) }
    }
  }

  /// Makes documents the server's result of a target's queries.
  mutating func adopt(_ keys: Set<DocumentKey>, of target: Int32) {
    for index in ids(of: target).compactMap(index(of:)) { all[index].view.adopt(keys) }
  }
}
