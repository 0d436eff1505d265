import TernCore
import TernQuery
import TernStorage

extension TreeCache {
  /// Evicts the least recently used queries and their data until the cache is within its limits.
  /// O(1) while it is.
  ///
  /// Queries with listeners stay, as does data that another tracked query needs, so the cache may
  /// stay above its limit. Source: realtime reference, section 6.6.
  ///
  /// Gathered changes are stored first, because eviction decides by rows. Each query goes in a
  /// transaction of its own.
  package mutating func evict() {
    guard isOverLimit, inactiveCount > 0 else { return }
    do throws(StorageError) {
      try commitChanges()
    } catch .corruptRecord(let key) {
      return drop(key)
    } catch {
      failure = failure ?? error
      return
    }
    for query in inactive.sorted(by: { $0.lastUse < $1.lastUse }) {
      guard isOverLimit, evict(query) else { return }
    }
  }

  private var isOverLimit: Bool {
    byteCount > limitBytes || inactiveCount > Self.inactiveQueryLimit
  }

  private var inactive: [TrackedQuery] {
    var inactive: [TrackedQuery] = []
    tracked.visit { _, queries in inactive += queries.filter { !$0.isActive } }
    return inactive
  }

  /// Forgets one query; `false` when that failed and the rest must wait.
  ///
  /// Default queries below an evicted one inherit its completeness: their data are still stored,
  /// and nothing else says that they are whole.
  private mutating func evict(_ query: TrackedQuery) -> Bool {
    forget(query)
    if query.query.isDefault, query.isComplete {
      // What was whole as a part of this query is whole on its own.
      changeAll(below: query.path) {
        $0.isComplete = $0.isComplete || ($0.query.isDefault && !$0.needsRewrite)
      }
    }
    do throws(StorageError) {
      try remove(query)
      return true
    } catch .corruptRecord(let key) {
      drop(key)
    } catch {
      failure = failure ?? error
    }
    return false
  }

  private mutating func remove(_ query: TrackedQuery) throws(StorageError) {
    let writer = CacheWriter(keys: keys, tracked: tracked)
    var size = byteCount
    try store.write { transaction throws(StorageError) in
      let window = try TreeCache.window(of: query.id, keys, in: transaction)
      try transaction.remove(keys.query(query.id))
      try transaction.remove(in: keys.window(query.id))
      if query.query.isDefault {
        try writer.removeUnneeded(query.path, &size, &transaction)
      }
      for child in window {
        try writer.removeUnneeded(query.path.appending(child), &size, &transaction)
      }
      var sized = self
      sized.byteCount = size
      try transaction.put(sized.head, for: keys.head)
    }
    byteCount = size
  }
}
