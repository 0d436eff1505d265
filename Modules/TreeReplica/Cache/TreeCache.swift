package import TernCore
package import TernQuery
package import TernStorage
import TernSync

/// The server's data on this device, in any ordered store.
///
/// Rows hold what the server said, never what is pending. Beside them stands which queries they
/// answer: wholly, or child by child. Nothing is stored until ``commit()``; then all of it in one
/// transaction. A damaged record is dropped with everything that can no longer be answered without
/// it. Source: Docs/Formats/tree-cache.md; realtime reference, section 6.
///
/// Three kinds of rows exist: data, one row for each leaf; tracked queries, with what is known
/// about their completeness; and windows, the children that a filtered query showed. ``tracked``
/// mirrors the second kind in memory, and ``changes`` are the writes that wait for the next commit.
///
/// Errors of reads are kept in ``failure``, because listeners get what is known; the next commit
/// throws the first one.
package struct TreeCache: ReplicaCache {
  /// The default limit of stored data: 10 MiB.
  package static let defaultLimitBytes = 10 << 20
  /// The most tracked queries without a listener.
  package static let inactiveQueryLimit = 1000
  /// The most corrupt records dropped one by one before the cache is erased.
  static let repairLimit = 64
  /// The most commits and reads between two attempts to store something after failures.
  static let longestRetry = 63

  let store: any OrderedStore
  let keys: CacheKeys
  let limitBytes: Int
  var tracked = PathTrie<[TrackedQuery]>()
  var changes: [CacheChange] = []
  /// The bytes of the data's keys and values.
  package internal(set) var byteCount = 0
  /// The first error since the last commit that threw one; the next commit throws it.
  var failure: StorageError?
  /// The number of commits and reads that do not ask a store that has just failed.
  var callsUntilRetry = 0
  /// The same after the next failure.
  var callsPerRetry = 0
  /// The number of tracked queries without a listener.
  private(set) var inactiveCount = 0
  private var lastID: UInt64 = 0
  private var lastUse: UInt64 = 0

  /// Opens the cache in a store. Data of another format is dropped, because the server has it.
  ///
  /// - Parameters:
  ///   - prefix: The prefix of all keys, which nothing else in the store begins with.
  ///   - limitBytes: The limit of stored data, in bytes. Queries with listeners may exceed it.
  package init(
    store: any OrderedStore, prefix: [UInt8], limitBytes: Int = TreeCache.defaultLimitBytes
  ) throws(StorageError) {
    self.store = store
    self.limitBytes = limitBytes
    keys = CacheKeys(prefix: prefix)
    for _ in 0..<Self.repairLimit {
      do throws(StorageError) {
        try readHead()
        return
      } catch .corruptRecord(let key) {
        forgetTracked()
        try store.write { transaction throws(StorageError) in try transaction.remove(key) }
      }
    }
    try reset()
  }

  /// Reads the head and the tracked queries.
  private mutating func readHead() throws(StorageError) {
    let keys = keys
    let (head, rows) = try store.read { snapshot throws(StorageError) in
      (try snapshot.get(keys.head), try snapshot.scan(keys.queries))
    }
    guard let head, let count = CacheKeys.byteCount(inHead: head) else { return try reset() }
    byteCount = count
    var wereActive: [TrackedQuery] = []
    for row in rows {
      // A record that cannot be read stands for nothing; its data is fetched again.
      guard let id = keys.queryID(row.key), var query = TrackedQuery(id: id, record: row.value)
      else { throw .corruptRecord(key: row.key) }
      // Of two records of one query either may stand for data that went with the other.
      if find(query.query, at: query.path) != nil { return try reset() }
      lastID = max(lastID, id)
      lastUse = max(lastUse, query.lastUse, query.lastAnswer)
      if query.isActive { wereActive.append(query) }
      query.isActive = false
      replace(query)
    }
    lastUse += 1
    for var query in wereActive {
      query.deactivate(now: lastUse)
      query.lastUse = lastUse
      changes.append(.track(query))
      replace(query)
    }
  }

  /// Forgets everything.
  mutating func reset() throws(StorageError) {
    let keys = keys
    try store.write { transaction throws(StorageError) in try transaction.remove(in: keys.all) }
    var active: [TrackedQuery] = []
    tracked.visit { _, queries in active += queries.filter(\.isActive) }
    forgetTracked()
    byteCount = 0
    for var query in active {
      // What listeners hold in memory is not in the store any more.
      query.isComplete = false
      query.needsRewrite = true
      replace(query)
      changes.append(.track(query))
    }
  }

  private mutating func forgetTracked() {
    tracked = PathTrie()
    inactiveCount = 0
    changes = []
  }
}

// MARK: Which queries are tracked

extension TreeCache {
  /// Marks a query as confirmed by the server.
  ///
  /// A complete default query makes all default queries below it complete as well. Filtered ones
  /// below keep their state: their windows were not told.
  package mutating func markComplete(_ query: TreeQuery, at path: TreePath) {
    if query.isDefault {
      if tracked.coveringDefault(path) != nil && find(query, at: path) == nil { return }
      // Filtered ones are answered by this query; what is in their windows was not said.
      changeAll(below: path) { below in
        if below.query.isDefault, !below.needsRewrite { below.isComplete = true }
      }
    }
    let now = lastUse + 1
    change(query, at: path) { query in
      guard !query.needsRewrite else { return }
      query.isComplete = true
      query.isAnswered = query.isActive
      query.lastAnswer = now
    }
  }

  package mutating func setActive(_ isActive: Bool, _ query: TreeQuery, at path: TreePath) {
    if !isActive, find(query, at: path) == nil { return }
    // A query that was never complete may have rows from an unknown source.
    let isUnknown = isActive && tracked.coveringDefault(path) == nil
    let now = lastUse + 1
    change(query, at: path) { query in
      // Two orders of all data are one query here; the second finds it active.
      if query.isActive == isActive { return }
      query.deactivate(now: now)
      query.isActive = isActive
      query.needsRewrite = query.needsRewrite || isUnknown && !query.isComplete
    }
  }

  func find(_ query: TreeQuery, at path: TreePath) -> TrackedQuery? {
    tracked[path]?.first { $0.query == query }
  }

  /// Edits a tracked query, which counts as a use; starts to track it if it is not tracked yet.
  @discardableResult
  mutating func change(
    _ query: TreeQuery, at path: TreePath, _ body: (inout TrackedQuery) -> Void
  ) -> TrackedQuery {
    lastUse += 1
    var changed =
      find(query, at: path)
      ?? TrackedQuery(id: nextID(), path: path, query: query, lastUse: lastUse)
    body(&changed)
    changed.lastUse = lastUse
    changes.append(.track(changed))
    replace(changed)
    return changed
  }

  /// Edits all tracked queries at and below `path`.
  mutating func changeAll(below path: TreePath, _ body: (inout TrackedQuery) -> Void) {
    var found: [TrackedQuery] = []
    tracked.subtrie(at: path)?.visit { _, queries in found += queries }
    for var query in found {
      let before = query.record
      body(&query)
      if query.record != before { changes.append(.track(query)) }
      replace(query)
    }
  }

  /// Puts a tracked query in the place of its older self.
  mutating func replace(_ query: TrackedQuery) {
    forget(query)
    if !query.isActive { inactiveCount += 1 }
    tracked.update(at: query.path) { $0.value = ($0.value ?? []) + [query] }
  }

  mutating func forget(_ query: TrackedQuery) {
    guard let old = find(query.query, at: query.path) else { return }
    if !old.isActive { inactiveCount -= 1 }
    tracked.update(at: query.path) { place in
      place.value?.removeAll { $0.id == query.id }
      if place.value?.isEmpty == true { place.value = nil }
    }
  }

  private mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }
}

// MARK: What is gathered

extension TreeCache {
  package mutating func overwrite(
    _ node: TreeNode, at path: TreePath, from source: CacheSource
  ) {
    changes.append(.overwrite(path, node))
    switch source {
    case .push where !path.namesPriority:
      changeAll(below: path) { query in
        if query.query.isDefault { query.needsRewrite = false }
      }
    case .push:
      break
    case .listen(let request):
      disturb(path) { $0.query != request.query || $0.path != request.path }
    case .nobody:
      disturb(path) { _ in true }
    }
  }

  /// Notes that rows at `path` changed without the listeners being told.
  private mutating func disturb(_ path: TreePath, _ concerns: (TrackedQuery) -> Bool) {
    var above: [TrackedQuery] = []
    tracked.walk(to: path) { depth, queries in
      if depth < path.count { above += queries }
    }
    for var query in above where query.isActive && !query.needsRewrite && concerns(query) {
      query.needsRewrite = true
      replace(query)
    }
    changeAll(below: path) { query in
      if query.isActive, concerns(query) { query.needsRewrite = true }
    }
  }

  package mutating func markDisturbed(_ path: TreePath) {
    disturb(path) { _ in true }
  }

  package func needsRewrite(_ query: TreeQuery, at path: TreePath) -> Bool {
    find(query, at: path)?.needsRewrite ?? false
  }

  package mutating func markRewritten(_ query: TreeQuery, at path: TreePath) {
    guard var tracked = find(query, at: path) else { return }
    tracked.needsRewrite = false
    replace(tracked)
  }

  package mutating func replaceWindow(of query: TreeQuery, at path: TreePath, keys: [TreeKey]) {
    let query = find(query, at: path) ?? change(query, at: path) { _ in }
    changes.append(.replaceWindow(query.id, path, keys: keys))
  }

  package mutating func changeWindow(
    of query: TreeQuery, at path: TreePath, added: [TreeKey], removed: [TreeKey]
  ) {
    let query = find(query, at: path) ?? change(query, at: path) { _ in }
    changes.append(.changeWindow(query.id, path, added: added, removed: removed))
  }
}
