package import TernCore
package import TernQuery
import TernStorage

// Which targets there are, and what a server said belongs to them.
// Source: documents reference, section 5.5.
extension DocumentCache {
  /// For how many keys room is made on the word of a stored number.
  private static let reservedKeys = 1 << 16

  /// Begins to listen: names a target, or finds the name, token and result it had.
  package mutating func allocate(_ subject: WatchTarget.Subject) -> DocumentTargetRecord {
    if let active = active(subject) { return active.record }
    var target = ActiveTarget(record: rememberedOrNew(subject))
    target.stored = target.record.sequence == 0 ? nil : target.record
    target.record.sequence = head.sequence
    targets[target.record.id] = target
    changedTargets.insert(target.record.id)
    return target.record
  }

  /// The record of a target with listeners.
  package func target(_ id: Int32) -> DocumentTargetRecord? { targets[id]?.record }

  /// Ends listening. An eager cache drops the target; others keep it until eviction.
  package mutating func release(_ id: Int32) {
    guard var target = targets[id] else { return }
    candidates.formUnion(target.view)
    target.record.sequence = head.sequence
    targets[id] = target
    changedTargets.insert(id)
    storeEdits()
    targets[id] = nil
    if settings.isEager { forgetTarget(id) }
  }

  /// The documents that the server last said belong to a target's result.
  package mutating func remoteKeys(of target: Int32) -> Set<DocumentKey> {
    var found: Set<DocumentKey> = reading(orElse: []) { cache, snapshot throws(StorageError) in
      var found: Set<DocumentKey> = []
      let expected = cache.targets[target]?.record.keyCount ?? 0
      found.reserveCapacity(min(expected, Self.reservedKeys))
      try cache.visitMappings(of: target, snapshot) { key, _ in found.insert(key) }
      return found
    }
    for (key, edit) in edits {
      switch edit.targets[target] {
      case true: found.insert(key)
      case false: found.remove(key)
      case nil: break
      }
    }
    return found
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
    guard var target = targets.removeValue(forKey: id) else { return }
    target.view.formUnion(added)
    target.view.subtract(removed)
    for key in removed { edits[key, default: DocumentEdit()].isUsed = true }
    candidates.formUnion(removed)
    if !isFromCache, target.record.limboFreeVersion != target.record.snapshotVersion {
      target.record.limboFreeVersion = target.record.snapshotVersion
      let lag =
        target.record.limboFreeVersion.microseconds
        - (target.stored?.limboFreeVersion.microseconds ?? 0)
      if lag >= Self.storingLagMicroseconds { changedTargets.insert(id) }
    }
    targets[id] = target
  }

  func active(_ subject: WatchTarget.Subject) -> ActiveTarget? {
    targets.values.first { $0.record.subject == subject }
  }

  /// Returns the record of a target, with or without listeners.
  mutating func remembered(_ subject: WatchTarget.Subject) -> DocumentTargetRecord? {
    if let active = active(subject) { return active.record }
    let bytes = SubjectBytes.of(subject)
    let keys = keys
    let stored: StoredTarget? = reading(orElse: nil) { _, snapshot throws(StorageError) in
      try keys.target(of: bytes, in: snapshot)
    }
    return stored?.target(subject)
  }

  mutating func rememberedOrNew(_ subject: WatchTarget.Subject) -> DocumentTargetRecord {
    // Counts of a result's documents are brought up to date when they are stored.
    if !edits.isEmpty { storeEdits() }
    if let found = remembered(subject) { return found }
    head.highestTarget += 2
    head.targetCount += 1
    hasNewHead = true
    return DocumentTargetRecord(id: head.highestTarget, subject: subject)
  }

  /// Calls `body` with every document of a target's stored result.
  mutating func visitMappings(
    of target: Int32, _ snapshot: borrowing Snapshot,
    _ body: (DocumentKey, DocumentPlace) -> Void
  ) throws(StorageError) {
    let prefix = keys.mappings(target)
    var cursor = snapshot.cursor(over: KeyRange(prefix: prefix))
    while try cursor.next() {
      let key = [UInt8](copying: cursor.key)
      guard let place = DocumentPlace(key[prefix.count...]) else { throw .corruptRecord(key: key) }
      guard let collection = try collection(place.collection, in: snapshot) else {
        throw .corruptRecord(key: key)
      }
      body(collection.key(place.id), place)
    }
  }

  /// A collection by its number.
  mutating func collection(
    _ number: UInt64, in snapshot: borrowing Snapshot
  ) throws(StorageError) -> CachedCollection? {
    if let known = collections[number] { return known }
    let found = try keys.find(number, in: snapshot)
    if let found { collections.insert(found) }
    return found
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
