import TernCore
import TernQuery
import TernStorage
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
    guard let threshold = policy.thresholdBytes ?? settings.limitBytes, byteCount >= threshold
    else { return result }
    stored.storeEdits()
    for _ in 0..<policy.passes {
      guard byteCount >= threshold, let taken = stored.evict(policy, pending) else { break }
      result.targets += taken.targets
      result.documents += taken.documents
      if taken == DocumentEvictionResult() { break }
    }
    if result.targets > 0 { stored.trimChanges() }
    return result
  }
}

extension BaseCache {
  /// Goes over the cache once; `nil` when that failed and the rest must wait.
  fileprivate mutating func evict(
    _ policy: DocumentEviction, _ pending: PendingWrites
  ) -> DocumentEvictionResult? {
    do throws(StorageError) {
      var eviction = Eviction(policy, rows, targets, pending)
      try rows.store.write { transaction throws(StorageError) in try eviction.run(&transaction) }
      rows.takeOver(eviction.writer)
      return eviction.result
    } catch .corruptRecord(let key) {
      drop(key)
    } catch {
      note(error)
    }
    return nil
  }

  /// Forgets recorded changes that every remembered target has seen.
  fileprivate mutating func trimChanges() {
    var writer = CacheWriter(rows)
    let active = targets.active
    let keys = rows.keys
    let newest = rows.head.lastSnapshot
    do throws(StorageError) {
      try rows.store.write { transaction throws(StorageError) in
        var seen: [CollectionPath: DocumentVersion] = [:]
        for target in try keys.targets(in: transaction) {
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
      rows.takeOver(writer)
    } catch .corruptRecord(let key) {
      drop(key)
    } catch {
      note(error)
    }
  }
}

/// One pass of eviction, inside a storage transaction.
///
/// Targets without listeners and documents without references share one order of use. A pass
/// determines the sequence number up to which a share of both is evicted, and removes everything up
/// to it.
private struct Eviction {
  private let targets: TargetTable
  private let pending: PendingWrites
  /// The most targets and orphan documents taken.
  private let count: Int
  private(set) var writer: CacheWriter
  private(set) var result = DocumentEvictionResult()

  init(
    _ policy: DocumentEviction, _ rows: CacheRows, _ targets: TargetTable, _ pending: PendingWrites
  ) {
    self.targets = targets
    self.pending = pending
    writer = CacheWriter(rows)
    // A share of few is one at least, else a small cache of large documents would stay as it is.
    let share = (rows.head.targetCount + rows.head.orphanCount) * policy.percent / 100
    count = min(policy.limit, max(1, share))
  }

  /// Removes targets without listeners and documents on their own, least recently used first.
  mutating func run(_ transaction: inout WriteTransaction) throws(StorageError) {
    let unused = try writer.keys.targets(in: transaction).filter { targets.known($0.id) == nil }
    let bound = try bound(unused, in: transaction)
    for target in unused where target.sequence <= bound {
      _ = try writer.removeTarget(target, &transaction)
      result.targets += 1
    }
    try evictOrphans(upTo: bound, &transaction)
    try transaction.put(writer.head.record, for: writer.keys.head)
  }

  /// The sequence number of the last one among the first `count` by use.
  private func bound(
    _ targets: [StoredTarget],
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> UInt64 {
    var sequences = targets.map(\.sequence)
    let prefix = writer.keys.begin(.orphan)
    for row in try view.scan(KeyRange(prefix: prefix), limit: count) {
      guard let sequence = Self.sequence(row.key[prefix.count...]) else {
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
  private mutating func evictOrphans(
    upTo bound: UInt64, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    let prefix = writer.keys.begin(.orphan)
    let now = writer.head.sequence
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
      let key = collection.key(place.id)
      if pending.holds(key) || targets.shows(key) {
        // Used now, as it were, so that later passes do not meet it again.
        if stored.row.sequence < now { result.needed += 1 }
        var kept = stored.row
        kept.sequence = now
        try writer.replace(place, collection, stored, (kept, nil), &transaction)
      } else if try writer.removeUnreferenced(place, &transaction) {
        result.documents += 1
      }
    }
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
