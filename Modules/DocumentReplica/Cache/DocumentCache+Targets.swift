package import TernCore
package import TernQuery
import TernStorage

// Which targets there are, and what a server said belongs to them.
// Source: documents reference, section 5.5.
extension DocumentCache {
  /// Begins to listen: names a target, or finds the name, token and result it had.
  package mutating func allocate(_ subject: WatchTarget.Subject) -> DocumentTargetRecord {
    stored.allocate(subject)
  }

  /// The record of a target with listeners.
  package func target(_ id: Int32) -> DocumentTargetRecord? { stored.targets[id]?.record }

  /// Ends listening. An eager cache drops the target; others keep it until eviction.
  package mutating func release(_ id: Int32) {
    stored.release(id, isForgotten: settings.isEager)
  }

  /// The documents that the server last said belong to a target's result.
  package mutating func remoteKeys(of target: Int32) -> Set<DocumentKey> {
    stored.remoteKeys(of: target)
  }

  /// Notes what a view shows, so that it stays cached, and since when nothing in it is in doubt.
  ///
  /// - Parameters:
  ///   - added: The documents that came into the view.
  ///   - removed: The documents that left it.
  ///   - isFromCache: Whether something may be missing or in doubt.
  package mutating func noteViewChanges(
    target id: Int32, added: Set<DocumentKey>, removed: Set<DocumentKey>, isFromCache: Bool
  ) {
    stored.noteViewChanges(
      target: id, added: added, removed: removed, isFromCache: isFromCache)
  }

  /// The targets with listeners whose results were lost since ``takeLostTargets()``.
  var lostTargets: Set<Int32> {
    get { stored.targets.lost }
    set { stored.targets.lost = newValue }
  }

  /// Forgets all results that hold a document which is about to be forgotten although it may exist:
  /// a listen that continued from their end would not be told of it.
  mutating func loseResults(holding key: DocumentKey) { stored.loseResults(holding: key) }

  /// Hands out the targets whose results were lost through damage: a server has to be asked for
  /// them as if nothing had been known, also when it is telling of them already.
  package mutating func takeLostTargets() -> [Int32] {
    if lostTargets.isEmpty { return [] }
    defer { lostTargets = [] }
    return lostTargets.sorted()
  }
}

extension CachedCollection {
  /// The key of a document of this collection.
  func key(_ id: [UInt8]) -> DocumentKey {
    DocumentKey(unchecked: path.text + "/" + String(decoding: id, as: UTF8.self))
  }
}

extension DocumentCacheKeys {
  /// Finds a target by what it watches.
  func target(
    of subject: [UInt8], in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> StoredTarget? {
    let prefix = subjects(subject)
    for row in try view.scan(KeyRange(prefix: prefix)) {
      guard row.key.count == prefix.count + 4 else { throw .corruptRecord(key: row.key) }
      let id = row.key[prefix.count...].reduce(Int32(0)) { $0 << 8 | Int32($1) }
      // A target without a record was damaged.
      guard let found = try target(id, in: view) else { throw .corruptRecord(key: row.key) }
      if found.subject == subject { return found }
    }
    return nil
  }

  /// The stored record of a target.
  func target(
    _ id: Int32, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> StoredTarget? {
    let key = target(id)
    guard let record = try view.get(key) else { return nil }
    guard let found = StoredTarget(id: id, record: record) else {
      throw .corruptRecord(key: key)
    }
    return found
  }
}
