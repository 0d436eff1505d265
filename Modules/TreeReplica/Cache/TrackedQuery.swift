import TernCore
import TernQuery
import TernSync
import TernTreeRows

/// A query whose data the cache holds, or held when it was last used.
///
/// Source: Docs/Formats/tree-cache.md, section 3.
struct TrackedQuery: Sendable {
  /// Names the query's rows in the store.
  let id: UInt64
  let path: TreePath
  /// Normalised: one that loads all data is the default query.
  let query: TreeQuery
  /// The time of its last use, in steps of the cache's own count.
  var lastUse: UInt64
  /// Until when its data was up to date, in the same steps.
  var lastAnswer: UInt64 = 0
  /// `true` once the server has confirmed its whole result.
  var isComplete = false
  /// `true` while the query has a listener.
  var isActive = false
  /// `true` once the server has answered the current listen, so that pushes keep the data up to
  /// date.
  var isAnswered = false
  /// `true` if its rows may differ from its listeners' data in memory, because some were lost or
  /// came from another source. Not stored: after a restart the rows are the only data.
  var needsRewrite = false

  /// The stored form.
  ///
  /// A byte of flags (1 complete, 2 active, 4 answered), last use and last answer in 8 bytes each,
  /// the path as a row key behind its count, then the query's text unless it is the default query.
  var record: [UInt8] {
    var bytes: [UInt8] = [
      (isComplete ? 1 : 0) | (isActive ? 2 : 0) | (isAnswered ? 4 : 0)
    ]
    bytes.append(integer: lastUse)
    bytes.append(integer: lastAnswer)
    var key: [UInt8] = []
    RowKey.append(path, to: &key)
    bytes.append(counted: key)
    if !query.isDefault { bytes.append(text: query.id) }
    return bytes
  }
}

extension TrackedQuery {
  /// Records that the last listener has stopped.
  mutating func deactivate(now: UInt64) {
    if isAnswered { lastAnswer = now }
    isAnswered = false
    isActive = false
  }

  /// The query when some of its data was lost; one with listeners has to be stored again.
  var withoutData: TrackedQuery {
    var query = self
    query.isComplete = false
    query.needsRewrite = isActive || needsRewrite
    return query
  }

  /// Reads a stored record; `nil` when it is none.
  init?(id: UInt64, record: [UInt8]) {
    var reader = RecordReader(record)
    guard let flags = reader.byte(), flags < 8, let lastUse: UInt64 = reader.integer(),
      let lastAnswer: UInt64 = reader.integer(), lastUse < .max, lastAnswer < .max,
      let key = reader.counted(), let path = TreePath(rowKey: key)
    else { return nil }
    var query = TreeQuery.all
    if !reader.isAtEnd {
      guard let text = reader.text(), let wire = try? JSONValue(parsing: text),
        let parsed = try? TreeQuery(wire: wire)
      else { return nil }
      query = parsed
    }
    self.init(
      id: id, path: path, query: query, lastUse: lastUse, lastAnswer: lastAnswer,
      isComplete: flags & 1 != 0,
      isActive: flags & 2 != 0, isAnswered: flags & 4 != 0)
  }
}

extension TreePath {
  /// Reads the path that a row's key, without the prefix of its tree, stands for.
  init?(rowKey: [UInt8]) {
    var keys: [TreeKey] = []
    var offset = 0
    while offset < rowKey.count {
      guard let key = RowKey.segment(of: rowKey.span, at: &offset) else { return nil }
      keys.append(key)
    }
    self.init(unchecked: keys)
  }
}

extension PathTrie<[TrackedQuery]> {
  /// Those without a listener.
  var inactive: [TrackedQuery] {
    var inactive: [TrackedQuery] = []
    visit { _, queries in inactive += queries.filter { !$0.isActive } }
    return inactive
  }

  /// The filtered queries above `path`, each with its child on the way there.
  func filtered(above path: TreePath) -> [(id: UInt64, child: TreeKey)] {
    var filtered: [(id: UInt64, child: TreeKey)] = []
    walk(to: path) { depth, queries in
      guard depth < path.count else { return }
      for query in queries where !query.query.isDefault {
        filtered.append((query.id, path.keys[depth]))
      }
    }
    return filtered
  }

  /// The complete default query at `path` or above that was answered last.
  func coveringDefault(_ path: TreePath) -> TrackedQuery? {
    var latest: TrackedQuery?
    walk(to: path) { _, queries in
      for query in queries where query.query.isDefault && query.isComplete {
        if query.lastAnswer >= latest?.lastAnswer ?? 0 { latest = query }
      }
    }
    return latest
  }

  /// The child of the highest filtered query on the way to `path`: it is whole or not at all.
  func highestChild(around path: TreePath) -> TreePath {
    var count = path.namesPriority ? path.count - 1 : path.count
    walk(to: path) { depth, queries in
      if depth < count, queries.contains(where: { !$0.query.isDefault }) { count = depth + 1 }
    }
    return TreePath(unchecked: Array(path.keys.prefix(count)))
  }
}
