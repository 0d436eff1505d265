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

  /// Reads, and drops what is damaged until that goes well; `nil` when it does not. What is stored
  /// can be read while the store takes nothing new.
  private mutating func repairing<R>(
    _ read: (borrowing TreeCache) throws(StorageError) -> R
  ) -> R? {
    for _ in 0..<Self.repairLimit {
      do throws(StorageError) {
        try storeForReading()
        return try read(self)
      } catch .corruptRecord(let key) {
        guard drop(key) else { return nil }
      } catch {
        failure = failure ?? error
        return nil
      }
    }
    startAnew()
    return nil
  }

  /// Stores what was gathered, so that it can be read; only damage is thrown.
  mutating func storeForReading() throws(StorageError) {
    do throws(StorageError) {
      try storeChanges()
    } catch {
      if case .corruptRecord = error { throw error }
      failure = failure ?? error
    }
  }

  private func readKnown(at path: TreePath) throws(StorageError) -> TreeNode? {
    let isCovered = tracked.coveringDefault(path) != nil
    let filtered = isCovered ? [] : tracked.filtered(above: path)
    let keys = keys
    return try store.read { snapshot throws(StorageError) in
      if !isCovered, !(try keys.isInWindow(filtered, in: snapshot)) { return nil }
      return try keys.rows.node(at: path, in: snapshot)
    }
  }

  /// Reads the stored data of a query, or of a default query above that was answered later.
  private func read(_ query: TreeQuery, at path: TreePath) throws(StorageError) -> ServerCache {
    let keys = keys
    let own = find(query, at: path)
    // Of two answers the later one is the fresher; a default query refreshes no windows.
    let covering = tracked.coveringDefault(path)
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
      try keys.children(inWindow: query.id, in: snapshot)
    }
  }
}

// MARK: Damage

extension TreeCache {
  /// Drops a damaged record, and lets go of everything that cannot be answered without it, in one
  /// transaction.
  ///
  /// - Returns: `false` when the store does not take that.
  @discardableResult
  mutating func drop(_ key: [UInt8]) -> Bool {
    let rows = keys.rows
    var damage: [KeyRange] = []
    let before = exchange(&changes, with: [])
    if let path = keys.path(ofRow: key) {
      let top = tracked.highestChild(around: path)
      damage = markDamaged(top)
      damage.append(rows.range(of: top))
    } else {
      // A row of a window: the window is not known any more.
      changeAll(below: .root) { query in
        query.isComplete = query.isComplete && query.query.isDefault
        query.needsRewrite = query.needsRewrite || !query.query.isDefault
      }
    }
    let records = changes
    // What was gathered before may name again what is lost.
    changes = before + records
    let keys = keys
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        try transaction.remove(key)
        for range in damage { try transaction.remove(in: range) }
        for case .track(let query) in records {
          try transaction.put(query.record, for: keys.query(query.id))
        }
      }
      return true
    } catch {
      failure = failure ?? error
      giveUpChanges()
      return false
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

  /// Marks the queries that have lost their rows at `path`; returns the rows of windows with it.
  private mutating func markDamaged(_ path: TreePath) -> [KeyRange] {
    var concerned: [TrackedQuery] = []
    var windows: [(range: KeyRange, change: CacheChange)] = []
    let place = tracked.walk(to: path) { depth, queries in
      guard depth < path.count else { return }
      concerned += queries
      let child = path.keys[depth]
      for query in queries where !query.query.isDefault {
        let change = CacheChange.changeWindow(query.id, query.path, added: [], removed: [child])
        windows.append((KeyRange(only: keys.window(query.id, child)), change))
      }
    }
    place?.visit { _, queries in
      concerned += queries
      for query in queries where !query.query.isDefault {
        let change = CacheChange.replaceWindow(query.id, query.path, keys: [])
        windows.append((keys.window(query.id), change))
      }
    }
    for var query in concerned {
      query.isComplete = false
      query.needsRewrite = true
      replace(query)
      changes.append(.track(query))
    }
    changes += windows.map(\.change)
    return windows.map(\.range)
  }
}
