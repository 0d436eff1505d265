package import TernCore
package import TernQuery
import TernStorage
import TernTreeRows

extension TreeCache {
  /// Returns the stored data of a query.
  ///
  /// A complete query returns its whole result. Other queries return the children that a filtered
  /// query at the same location had in its window, or that had listeners of their own. Source:
  /// realtime reference, section 6.5.
  ///
  /// - Returns: `isComplete` only if the server has confirmed the whole result. Incomplete data are
  ///   marked as filtered, so that an absent child counts as unknown.
  package mutating func load(_ query: TreeQuery, at path: TreePath) -> ServerCache {
    repairing { cache throws(StorageError) in try cache.read(query, at: path) } ?? .unknown
  }

  package mutating func known(at path: TreePath) -> TreeNode? {
    repairing { cache throws(StorageError) in try cache.readKnown(at: path) } ?? nil
  }

  /// Reads, and drops what is damaged until that goes well; `nil` when it does not.
  private mutating func repairing<R>(
    _ read: (borrowing TreeCache) throws(StorageError) -> R
  ) -> R? {
    for _ in 0..<Self.repairLimit {
      do throws(StorageError) {
        try commitChanges()
        return try read(self)
      } catch .corruptRecord(let key) {
        drop(key)
      } catch {
        failure = failure ?? error
        return nil
      }
    }
    startAnew()
    return nil
  }

  /// Reads a node that a complete default query covers, or that a filtered query above shows.
  private func readKnown(at path: TreePath) throws(StorageError) -> TreeNode? {
    var isKnown = coveringDefault(path) != nil
    if !isKnown {
      var filtered: [(id: UInt64, child: TreeKey)] = []
      tracked.walk(to: path) { depth, queries in
        guard depth < path.count else { return }
        for query in queries where !query.query.isDefault {
          filtered.append((query.id, path.keys[depth]))
        }
      }
      isKnown = try isInWindow(filtered)
    }
    guard isKnown else { return nil }
    let keys = keys
    return try store.read { snapshot throws(StorageError) in
      try keys.rows.node(at: path, in: snapshot)
    }
  }

  /// Returns `true` if one of these children is in the window of its filtered query.
  private func isInWindow(
    _ children: [(id: UInt64, child: TreeKey)]
  ) throws(StorageError) -> Bool {
    let keys = keys
    return try store.read { snapshot throws(StorageError) in
      for (id, child) in children where try snapshot.contains(keys.window(id, child)) {
        return true
      }
      return false
    }
  }

  /// Reads the stored data of a query, or of a default query above that was answered later.
  private func read(_ query: TreeQuery, at path: TreePath) throws(StorageError) -> ServerCache {
    let keys = keys
    let own = find(query, at: path)
    // Of two answers the later one is the fresher; a default query refreshes no windows.
    let covering = coveringDefault(path)
    if let covering, own?.isComplete != true || covering.lastAnswer >= own?.lastAnswer ?? 0 {
      let node = try store.read { snapshot throws(StorageError) in
        try keys.rows.node(at: path, in: snapshot)
      }
      return ServerCache(node: node, isComplete: true, isFiltered: false)
    }
    let isComplete = own?.isComplete == true
    var node = TreeNode.empty
    let known = isComplete ? try window(of: own) : try knownChildren(of: path)
    try store.read { snapshot throws(StorageError) in
      for key in known {
        node.setChild(key, try keys.rows.node(at: path.appending(key), in: snapshot))
      }
    }
    return ServerCache(node: node, isComplete: isComplete, isFiltered: true)
  }

  /// The children of `path` whose data is whole, though not all children are known.
  private func knownChildren(of path: TreePath) throws(StorageError) -> Set<TreeKey> {
    var known: Set<TreeKey> = []
    for query in tracked[path] ?? [] where !query.query.isDefault {
      known.formUnion(try window(of: query))
    }
    for (key, place) in tracked.subtrie(at: path)?.children ?? [:] {
      if place.value?.contains(where: { $0.query.isDefault && $0.isComplete }) == true {
        known.insert(key)
      }
    }
    return known
  }

  private func window(of query: TrackedQuery?) throws(StorageError) -> Set<TreeKey> {
    guard let query else { return [] }
    let keys = keys
    return try store.read { snapshot throws(StorageError) in
      try Self.window(of: query.id, keys, in: snapshot)
    }
  }

  /// The children in the window of a filtered query.
  static func window(
    of id: UInt64, _ keys: CacheKeys, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Set<TreeKey> {
    var children: Set<TreeKey> = []
    for row in try view.scan(keys.window(id)) {
      guard let child = keys.windowChild(row.key) else { throw .corruptRecord(key: row.key) }
      children.insert(child)
    }
    return children
  }
}

// MARK: Damage

extension TreeCache {
  /// Drops a damaged record, and lets go of everything that cannot be answered without it.
  ///
  /// The rows below the nearest filtered query's child go together with the damaged one: the child
  /// is shown as a whole or not at all.
  mutating func drop(_ key: [UInt8]) {
    let rows = keys.rows
    var range = KeyRange(only: key)
    if let path = damagedPath(key) {
      let top = highestChild(around: path)
      range = rows.range(of: top)
      markDamaged(top)
    } else {
      // A row of a window: the window is not known any more.
      changeAll(below: .root) { query in
        query.isComplete = query.isComplete && query.query.isDefault
        query.needsRewrite = query.needsRewrite || !query.query.isDefault
      }
    }
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        try transaction.remove(key)
        try transaction.remove(in: range)
      }
    } catch {
      failure = failure ?? error
    }
  }

  /// Forgets everything, because too much is damaged to go piece by piece.
  mutating func startAnew() {
    do throws(StorageError) {
      try reset()
    } catch {
      failure = failure ?? error
    }
  }

  private func damagedPath(_ key: [UInt8]) -> TreePath? {
    guard key.starts(with: keys.rows.prefix) else { return nil }
    return TreePath(rowKey: Array(key.dropFirst(keys.rows.prefix.count)))
  }

  /// The child of the highest filtered query on the way to `path`: it is whole or not at all.
  private func highestChild(around path: TreePath) -> TreePath {
    var count = path.namesPriority ? path.count - 1 : path.count
    tracked.walk(to: path) { depth, queries in
      if depth < count, queries.contains(where: { !$0.query.isDefault }) { count = depth + 1 }
    }
    return TreePath(unchecked: Array(path.keys.prefix(count)))
  }

  /// Takes completeness from the queries above and below damage, and the child from filtered ones.
  private mutating func markDamaged(_ path: TreePath) {
    var above: [TrackedQuery] = []
    tracked.walk(to: path) { _, queries in above += queries }
    for var query in above {
      query.isComplete = false
      query.needsRewrite = true
      replace(query)
      changes.append(.track(query))
      if !query.query.isDefault, query.path.count < path.count {
        let child = path.keys[query.path.count]
        changes.append(.changeWindow(query.id, query.path, added: [], removed: [child]))
      }
    }
    changeAll(below: path) { query in
      query.isComplete = false
      query.needsRewrite = true
    }
  }
}
