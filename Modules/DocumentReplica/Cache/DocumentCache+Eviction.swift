import TernCore
import TernQuery
package import TernStorage
import TernSync

/// Limits for one run of eviction. Source: documents reference, section 5.12.
package struct DocumentEviction: Hashable, Sendable {
  /// The cache size from which documents are evicted; `nil` for the cache's own limit.
  package let thresholdBytes: Int?
  /// The share of targets and orphan documents that one pass may evict, in hundredths.
  package let percent: Int
  /// The most of them that one pass takes.
  package let limit: Int
  /// The most passes of one run while the cache is above the threshold.
  package let passes: Int

  package init(
    thresholdBytes: Int? = nil, percent: Int = 10, limit: Int = 1_000, passes: Int = 1_000
  ) {
    self.thresholdBytes = thresholdBytes
    self.percent = percent
    self.limit = limit
    self.passes = passes
  }

  /// Ten in a hundred, a thousand at most, until the cache is within its limit.
  package static let standard = DocumentEviction()
}

/// The numbers of targets and documents that one run of eviction removed.
package struct DocumentEvictionResult: Hashable, Sendable {
  package var targets = 0
  package var documents = 0
  /// Documents that were old, but are needed; they count as used since.
  var needed = 0
}

extension DocumentCache {
  /// Evicts the least recently used targets and documents until the cache is within its limit.
  ///
  /// Targets with listeners, documents in views and documents with pending writes stay.
  ///
  /// - Complexity: O(targets + evicted documents) for each pass, O(1) while the cache is small
  ///   enough.
  @discardableResult
  package mutating func evict(
    _ policy: DocumentEviction = .standard
  ) -> DocumentEvictionResult {
    var result = DocumentEvictionResult()
    guard let threshold = policy.thresholdBytes ?? settings.limitBytes,
      head.byteCount >= threshold
    else { return result }
    storeEdits()
    for _ in 0..<policy.passes {
      guard head.byteCount >= threshold, let taken = evictOnce(policy) else { break }
      result.targets += taken.targets
      result.documents += taken.documents
      if taken == DocumentEvictionResult() { break }
    }
    if result.targets > 0 { trimChanges() }
    return result
  }

  /// Goes over the cache once; `nil` when that failed and the rest must wait.
  private mutating func evictOnce(_ policy: DocumentEviction) -> DocumentEvictionResult? {
    do throws(StorageError) {
      return try tryEvicting(policy)
    } catch .corruptRecord(let key) {
      drop(key)
    } catch {
      failure = failure ?? error
    }
    return nil
  }

  private mutating func tryEvicting(
    _ policy: DocumentEviction
  ) throws(StorageError) -> DocumentEvictionResult {
    var result = DocumentEvictionResult()
    var writer = CacheWriter(self)
    let cache = self
    let keys = keys
    // A share of few is one at least, else a small cache of large documents would stay as it is.
    let share = (head.targetCount + head.orphanCount) * policy.percent / 100
    let count = min(policy.limit, max(1, share))
    try store.write { transaction throws(StorageError) in
      let targets = try Self.targets(keys, in: transaction).filter {
        cache.targets[$0.id] == nil
      }
      let bound = try Self.bound(targets, count, keys, in: transaction)
      for target in targets where target.sequence <= bound {
        _ = try writer.removeTarget(target, &transaction)
        result.targets += 1
      }
      try cache.evictOrphans(upTo: bound, &result, &writer, &transaction)
      try transaction.put(writer.head.record, for: keys.head)
    }
    takeOver(writer)
    return result
  }

  /// The sequence number of the last one among the first `count` by use.
  private static func bound(
    _ targets: [StoredTarget], _ count: Int, _ keys: DocumentCacheKeys,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> UInt64 {
    var sequences = targets.map(\.sequence)
    let prefix = keys.begin(.orphan)
    for row in try view.scan(KeyRange(prefix: prefix), limit: count) {
      guard let sequence = sequence(row.key[prefix.count...]) else {
        throw .corruptRecord(key: row.key)
      }
      sequences.append(sequence)
    }
    sequences.sort()
    return sequences.isEmpty ? 0 : sequences[min(count, sequences.count) - 1]
  }

  private static func sequence(_ bytes: ArraySlice<UInt8>) -> UInt64? {
    guard bytes.count > 8 else { return nil }
    return bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }

  /// Removes documents on their own that were last used up to a sequence number.
  private func evictOrphans(
    upTo bound: UInt64, _ result: inout DocumentEvictionResult, _ writer: inout CacheWriter,
    _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    let prefix = keys.begin(.orphan)
    var end = prefix
    end.append(integer: bound &+ 1)
    for row in try transaction.scan(KeyRange(from: prefix, to: end)) {
      guard let place = DocumentPlace(row.key[(prefix.count + 8)...]) else {
        throw .corruptRecord(key: row.key)
      }
      guard let collection = try writer.collection(place.collection, &transaction),
        let stored = try writer.stored(place, in: transaction), stored.row.references == 0
      else {
        // Nothing is left that the row could stand for.
        try transaction.remove(row.key)
        continue
      }
      if isPinned(collection.key(place.id)) {
        // Used now, as it were, so that later passes do not meet it again.
        if stored.row.sequence < head.sequence { result.needed += 1 }
        var kept = stored.row
        kept.sequence = head.sequence
        try writer.replace(place, collection, stored, (kept, nil), &transaction)
      } else if try writer.removeUnreferenced(place, &transaction) {
        result.documents += 1
      }
    }
  }

  /// Forgets recorded changes that every remembered target has seen.
  private mutating func trimChanges() {
    var writer = CacheWriter(self)
    let active = targets
    let keys = keys
    let newest = head.lastSnapshot
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        var seen: [CollectionPath: DocumentVersion] = [:]
        for target in try Self.targets(keys, in: transaction) {
          let record = active[target.id]?.record
          let snapshot = record?.snapshotVersion ?? target.snapshotVersion
          let limboFree = record?.limboFreeVersion ?? target.limboFreeVersion
          guard snapshot != .none, let path = target.collection else { continue }
          let version = limboFree == .none ? snapshot : min(limboFree, target.limboFreeVersion)
          seen[path] = min(seen[path] ?? newest, version)
        }
        for (path, version) in seen.sorted(by: { $0.key < $1.key }) {
          try writer.trimChanges(path, upTo: version, &transaction)
        }
      }
      takeOver(writer)
    } catch .corruptRecord(let key) {
      drop(key)
    } catch {
      failure = failure ?? error
    }
  }

  /// Forgets everything that is stored, and in memory what came from there.
  ///
  /// Pending writes stay: they are the queue's. Where the store keeps freed space as it is, old
  /// bytes remain in its files until they are written over; wipe the store to be rid of them.
  package mutating func clearAll() throws(StorageError) {
    edits = [:]
    candidates = []
    changedTargets = []
    head.lastSnapshot = .none
    try reset()
    showAll(pending.keys)
  }
}

extension CacheWriter {
  /// Removes the changes of a collection up to a version, if no target needs them any more.
  mutating func trimChanges(
    _ path: CollectionPath, upTo version: DocumentVersion, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    // Queries over the group would have to be asked, too.
    if try transaction.contains(keys.watchedGroup(path.id)) { return }
    guard var collection = try keys.find(path, in: transaction), collection.unrecorded < version
    else { return }
    let prefix = keys.changes(collection.number)
    var end = prefix
    end.append(integer: version.microseconds + 1)
    try transaction.remove(in: KeyRange(from: prefix, to: end))
    collection.unrecorded = version
    try put(collection, &transaction)
  }
}
