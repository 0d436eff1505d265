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
    guard isOverLimit, inactiveCount > 0, callsUntilRetry == 0 else { return }
    do throws(StorageError) {
      // A full store has space again behind an eviction.
      try storeForReading()
    } catch .corruptRecord(let key) {
      drop(key)
      return
    } catch {
      return
    }
    for query in tracked.inactive.sorted(by: { $0.lastUse < $1.lastUse }) {
      guard isOverLimit, evict(query) else { return }
    }
  }

  private var isOverLimit: Bool {
    byteCount > limitBytes || inactiveCount > Self.inactiveQueryLimit
  }

  /// Forgets one query; `false` when that failed and the rest must wait.
  private mutating func evict(_ query: TrackedQuery) -> Bool {
    // The query is known until its record has gone: else its data could go alone.
    var cache = self
    cache.forget(query)
    cache.changes.removeAll { $0.query == query.id }
    if query.query.isDefault, query.isComplete {
      // What was whole as a part of this query is whole on its own.
      cache.changeAll(below: query.path) {
        $0.isComplete = $0.isComplete || ($0.query.isDefault && !$0.needsRewrite)
      }
    }
    do throws(StorageError) {
      try cache.remove(query)
      self = cache
      return true
    } catch .corruptRecord(let key) {
      drop(key)
    } catch {
      failure = failure ?? error
    }
    return false
  }

  private mutating func remove(_ query: TrackedQuery) throws(StorageError) {
    let keys = keys
    let writer = CacheWriter(keys: keys, tracked: tracked)
    byteCount = try writer.write(changes, byteCount, to: store) {
      writer, size, transaction throws(StorageError) in
      let window = try keys.children(inWindow: query.id, in: transaction)
      try transaction.remove(keys.query(query.id))
      try transaction.remove(in: keys.window(query.id))
      if query.query.isDefault {
        try writer.removeUnneeded(query.path, &size, &transaction)
      }
      for child in window {
        try writer.removeUnneeded(query.path.appending(child), &size, &transaction)
      }
    }
    changes = []
  }
}
