import TernCore
import TernQuery
package import TernStorage
import TernTreeRows

extension TreeCache {
  package mutating func commit() throws(StorageError) {
    for _ in 0..<Self.repairLimit {
      do throws(StorageError) {
        try commitChanges()
        if let failure {
          self.failure = nil
          throw failure
        }
        return
      } catch .corruptRecord(let key) {
        drop(key)
      }
    }
    startAnew()
  }

  /// Stores what was gathered, in one transaction; it stays gathered when that fails.
  ///
  /// The size of the data is part of the head, which is stored in the same transaction, so that it
  /// always agrees with the rows.
  mutating func commitChanges() throws(StorageError) {
    if changes.isEmpty { return }
    var size = byteCount
    let writer = CacheWriter(keys: keys, tracked: tracked)
    let changes = changes
    try store.write { transaction throws(StorageError) in
      for change in changes { try writer.apply(change, &size, &transaction) }
      var sized = self
      sized.byteCount = size
      try transaction.put(sized.head, for: keys.head)
    }
    byteCount = size
    self.changes = []
  }
}

/// Turns gathered changes into rows.
///
/// It sees the tracked queries as they are after all gathered changes, and decides by them which
/// data is still needed.
struct CacheWriter {
  let keys: CacheKeys
  let tracked: PathTrie<[TrackedQuery]>

  /// Stores one change.
  ///
  /// - Parameter size: The bytes of the data's keys and values.
  /// - Throws: ``StorageError/corruptRecord(key:)`` for a damaged row on the way; the transaction
  ///   then changes nothing.
  func apply(
    _ change: TreeCache.Change, _ size: inout Int, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    switch change {
    case .overwrite(let path, let node):
      try overwrite(path, node, &size, &transaction)
    case .replaceWindow(let id, let path, let children):
      let old = try TreeCache.window(of: id, keys, in: transaction)
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
      children.formUnion(try TreeCache.window(of: query.id, keys, in: view))
    }
    for child in children { kept.append(keys.rows.range(of: path.appending(child))) }
    for (key, below) in place.children where !children.contains(key) {
      try collectNeeded(below, path.appending(key), &kept, in: view)
    }
  }
}
