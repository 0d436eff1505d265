import TernCore
import TernQuery
package import TernStorage
import TernTreeRows

extension TreeCache {
  package mutating func commit() throws(StorageError) {
    for _ in 0..<Self.repairLimit {
      do throws(StorageError) {
        if !(try storeChanges()) { return }
        if let failure {
          self.failure = nil
          throw failure
        }
        return
      } catch .corruptRecord(let key) {
        guard !drop(key), let failure else { continue }
        self.failure = nil
        throw failure
      }
    }
    startAnew()
  }

  /// Stores what was gathered, in one transaction. When the store takes nothing, the gathered data
  /// is given up, so that it neither fills the memory nor is tried again and again.
  ///
  /// - Returns: `false` when the store is not asked, because it has failed a moment ago.
  @discardableResult
  mutating func storeChanges() throws(StorageError) -> Bool {
    if changes.isEmpty { return true }
    if callsUntilRetry > 0 {
      callsUntilRetry -= 1
      giveUpChanges()
      return false
    }
    do throws(StorageError) {
      let writer = CacheWriter(keys: keys, tracked: tracked)
      byteCount = try writer.write(changes, byteCount, to: store)
      changes = []
      callsPerRetry = 0
      return true
    } catch {
      if case .corruptRecord = error { throw error }
      giveUpChanges()
      callsUntilRetry = callsPerRetry
      callsPerRetry = min(2 * callsPerRetry + 1, Self.longestRetry)
      throw error
    }
  }

  /// Gives up the gathered data that cannot be stored.
  ///
  /// The store stays as of the last commit. Queries whose data is lost stop being complete, and the
  /// next commit says so: what is gathered afterwards is one or two records for each of them.
  mutating func giveUpChanges() {
    var unsaved: Set<UInt64> = []
    var emptied: Set<UInt64> = []
    for change in exchange(&changes, with: []) {
      switch change {
      case .overwrite(let path, _): loseData(at: path, &unsaved, &emptied)
      case .replaceWindow(let id, let path, _), .changeWindow(let id, let path, _, _):
        unsaved.insert(id)
        emptied.insert(id)
        for query in tracked[path] ?? [] where query.id == id { replace(query.withoutData) }
      case .track(let query): unsaved.insert(query.id)
      }
    }
    var records: [CacheChange] = []
    tracked.visit { path, queries in
      for query in queries where unsaved.contains(query.id) {
        records.append(.track(query))
        // A window names children whose data is whole.
        if emptied.contains(query.id) {
          records.append(.replaceWindow(query.id, path, keys: []))
        }
      }
    }
    changes = records
  }

  /// Notes that rows at `path` are older than those around them.
  private mutating func loseData(
    at path: TreePath, _ unsaved: inout Set<UInt64>, _ emptied: inout Set<UInt64>
  ) {
    var concerned: [TrackedQuery] = []
    let place = tracked.walk(to: path) { depth, queries in
      if depth < path.count { concerned += queries }
    }
    place?.visit { _, queries in concerned += queries }
    for query in concerned {
      unsaved.insert(query.id)
      if !query.query.isDefault { emptied.insert(query.id) }
      replace(query.withoutData)
    }
  }
}

/// Turns gathered changes into rows.
///
/// It sees the tracked queries as they are after all gathered changes, and decides by them which
/// data is still needed.
struct CacheWriter {
  let keys: CacheKeys
  let tracked: PathTrie<[TrackedQuery]>

  /// Stores changes in one transaction.
  ///
  /// - Parameters:
  ///   - byteCount: The bytes of the data before.
  ///   - first: The steps that come before the changes.
  /// - Returns: The bytes of the data afterwards.
  func write(
    _ changes: [CacheChange], _ byteCount: Int, to store: any OrderedStore,
    behind first: (CacheWriter, inout Int, inout WriteTransaction) throws(StorageError) -> Void = {
      _, _, _ throws(StorageError) in
    }
  ) throws(StorageError) -> Int {
    var size = byteCount
    try store.write { transaction throws(StorageError) in
      try first(self, &size, &transaction)
      for change in changes { try apply(change, &size, &transaction) }
      try transaction.put(CacheKeys.head(byteCount: size), for: keys.head)
    }
    return size
  }

  /// Stores one change.
  ///
  /// - Parameter size: The bytes of the data's keys and values.
  /// - Throws: ``StorageError/corruptRecord(key:)`` for a damaged row on the way; the transaction
  ///   then changes nothing.
  func apply(
    _ change: CacheChange, _ size: inout Int, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    switch change {
    case .overwrite(let path, let node):
      try overwrite(path, node, &size, &transaction)
    case .replaceWindow(let id, let path, let children):
      let old = try keys.children(inWindow: id, in: transaction)
      let new = Set(children)
      try changeWindow(
        id, path, added: children.filter { !old.contains($0) },
        removed: old.subtracting(new).sorted(), &size, &transaction)
    case .changeWindow(let id, let path, let added, let removed):
      try changeWindow(id, path, added: added, removed: removed, &size, &transaction)
    case .track(let query):
      try transaction.put(query.record, for: keys.query(query.id))
    }
  }

  private func overwrite(
    _ path: TreePath, _ node: TreeNode, _ size: inout Int, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    for mutation in try keys.rows.overwrite(path, with: node, in: transaction) {
      switch mutation {
      case .remove(let range):
        try remove(range, &size, &transaction)
      case .put(let key, let value):
        if let old = try transaction.get(key) { size -= key.count + old.count }
        size += key.count + value.count
        try transaction.put(value, for: key)
      }
    }
  }

  private func changeWindow(
    _ id: UInt64, _ path: TreePath, added: [TreeKey], removed: [TreeKey], _ size: inout Int,
    _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    for child in added { try transaction.put([], for: keys.window(id, child)) }
    for child in removed {
      try transaction.remove(keys.window(id, child))
      try removeUnneeded(path.appending(child), &size, &transaction)
    }
  }

  /// Removes the rows of a range, and counts them.
  ///
  /// Counting takes a pass over the rows, because the store does not say how much a removal frees.
  func remove(
    _ range: KeyRange, _ size: inout Int, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    var removed = 0
    var cursor = transaction.cursor(over: range)
    while try cursor.next() { removed += cursor.key.count + cursor.value.count }
    size -= removed
    try transaction.remove(in: range)
  }
}

// MARK: What other queries need

extension CacheWriter {
  /// Removes the data at `path` except what a tracked query still needs.
  ///
  /// The data of a child that left a window may belong to other queries too: to a default query at
  /// the path or above, to another window, or to queries below. The ranges of those are kept, and
  /// everything between them is removed.
  func removeUnneeded(
    _ path: TreePath, _ size: inout Int, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    if try isNeeded(path, in: transaction) { return }
    var kept: [KeyRange] = []
    try collectNeeded(tracked.subtrie(at: path), path, &kept, in: transaction)
    kept.sort { bytesPrecede($0.lower, $1.lower) }
    let whole = keys.rows.range(of: path)
    var lower = whole.lower
    for range in kept {
      try remove(KeyRange(from: lower, to: range.lower), &size, &transaction)
      guard let upper = range.upper else { return }
      lower = upper
    }
    try remove(KeyRange(from: lower, to: whole.upper), &size, &transaction)
  }

  /// Returns `true` if a query at `path` or above needs all data there.
  private func isNeeded(
    _ path: TreePath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Bool {
    var above: [(depth: Int, queries: [TrackedQuery])] = []
    tracked.walk(to: path) { depth, queries in above.append((depth, queries)) }
    for (depth, queries) in above {
      for query in queries {
        if query.query.isDefault { return true }
        guard depth < path.count else { continue }
        if try view.contains(keys.window(query.id, path.keys[depth])) { return true }
      }
    }
    return false
  }

  /// Collects what the queries at and below `path` need.
  ///
  /// - Parameter kept: Receives ranges of rows, which do not overlap, in no order.
  private func collectNeeded(
    _ place: PathTrie<[TrackedQuery]>?, _ path: TreePath, _ kept: inout [KeyRange],
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) {
    guard let place else { return }
    var children: Set<TreeKey> = []
    for query in place.value ?? [] {
      if query.query.isDefault { return kept.append(keys.rows.range(of: path)) }
      children.formUnion(try keys.children(inWindow: query.id, in: view))
    }
    for child in children { kept.append(keys.rows.range(of: path.appending(child))) }
    for (key, below) in place.children where !children.contains(key) {
      try collectNeeded(below, path.appending(key), &kept, in: view)
    }
  }
}
