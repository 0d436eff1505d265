import TernCore
import TernStorage

// What becomes of damaged records: they are never handed out, and what they held is fetched again.
extension BaseCache {
  /// Drops a damaged record, and lets go of everything that cannot be answered without it.
  ///
  /// Costs the results that held a document, the result of a target, the index of an entry; for the
  /// head and collections, the whole cache. Targets lose their resume tokens, so the server sends
  /// all of it again.
  mutating func drop(_ key: [UInt8]) {
    do throws(StorageError) {
      switch rows.keys.split(key) {
      case (.document, let rest)?: try dropDocument(key, DocumentPlace(rest))
      case (.mapping, let rest)?: try dropMapping(key, rest)
      case (.target, let rest)?: try dropTarget(key, DocumentCacheKeys.targetID(rest))
      case (.subject, let rest)?: try dropTarget(key, DocumentCacheKeys.targetID(rest.dropFirst(8)))
      case (.change, let rest)?: try dropChange(key, rest)
      case (.entry, let rest)?: try dropEntry(key, rest)
      case (.orphan, _)?:
        try rows.store.write { transaction throws(StorageError) in try transaction.remove(key) }
      case (.bundle, _)?, (.namedQuery, _)?:
        let bundles = KeyRange(prefix: rows.keys.begin(.bundle))
        try rows.store.write { transaction throws(StorageError) in
          try transaction.remove(key)
          // Or else a bundle would not be taken in again.
          try transaction.remove(in: bundles)
        }
      case (.head, _)?, (.collection, _)?, (.collectionName, _)?, (.group, _)?, (.index, _)?,
        (.watchedGroup, _)?, nil:
        try reset()
      }
    } catch .corruptRecord {
      startAnew()
    } catch {
      fail(error)
    }
  }

  /// Forgets everything, because too much is damaged to go piece by piece.
  mutating func startAnew() {
    do throws(StorageError) { try reset() } catch { detach(error) }
  }

  /// Notes that the store has failed; returns whether it can be read again, with nothing in it.
  @discardableResult
  mutating func fail(_ error: StorageError) -> Bool {
    if case .corruptStore = error {
      do throws(StorageError) {
        try reset()
        return true
      } catch {}
    }
    detach(error)
    return false
  }

  /// Goes on without the store: what was in it is fetched again, and kept in memory.
  private mutating func detach(_ error: StorageError) {
    note(error)
    if isDetached { return }
    isDetached = true
    forgetStored()
  }

  /// Forgets everything that is stored. What was gathered stays.
  mutating func reset() throws(StorageError) {
    let keys = rows.keys
    let lastSnapshot = rows.head.lastSnapshot
    var head = CacheHead()
    // Names of targets that servers may still know are not given away again.
    head.highestTarget = rows.head.highestTarget
    head.targetCount = targets.active.count
    head.lastSnapshot = lastSnapshot
    try rows.store.write { transaction throws(StorageError) in
      try transaction.remove(in: keys.all)
      try transaction.put(head.record, for: keys.head)
    }
    rows.head = head
    forgetStored()
  }

  /// The results that listeners hold in memory are not in the store any more.
  private mutating func forgetStored() {
    rows.forget()
    targets.loseResults()
  }

  /// A document that cannot be read: every target that held it has to be told again.
  private mutating func dropDocument(
    _ key: [UInt8], _ place: DocumentPlace?
  ) throws(StorageError) {
    guard let place else { return try reset() }
    let keys = rows.keys
    var writer = CacheWriter(rows)
    var holders: [Int32] = []
    try rows.store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      // It may have come in one, which then may be taken in again.
      try transaction.remove(in: KeyRange(prefix: keys.begin(.bundle)))
      holders = try writer.emptyTargets(holding: place, &transaction)
    }
    holders += gatheredHolders(of: place)
    rows.takeOver(writer)
    for holder in holders { targets.loseResult(of: holder, keepingRecord: true) }
    rows.hot.update(place.collection, place.id.span, nil)
    dropEntries(of: place.collection)
  }

  /// Forgets the results of all targets that hold a document.
  mutating func loseResults(holding key: DocumentKey) {
    for id in targets.active.keys where edits[key]?.targets[id] == true {
      targets.loseResult(of: id, keepingRecord: true)
    }
    storeEdits()
    for _ in 0..<Self.repairLimit where !isDetached {
      do throws(StorageError) {
        return try emptyHolders(of: key)
      } catch .corruptRecord(let record) {
        drop(record)
      } catch {
        return note(error)
      }
    }
  }

  private mutating func emptyHolders(of key: DocumentKey) throws(StorageError) {
    var writer = CacheWriter(rows)
    var holders: [Int32] = []
    try rows.store.write { transaction throws(StorageError) in
      holders = try writer.emptyTargets(holding: key, &transaction)
    }
    rows.takeOver(writer)
    for holder in holders { targets.loseResult(of: holder, keepingRecord: true) }
  }

  /// The targets into whose results a document came in this turn as it was known already: it is not
  /// stored again with them.
  private func gatheredHolders(of place: DocumentPlace) -> [Int32] {
    let path = rows.collections[place.collection]?.path
    return edits.flatMap { key, edit -> [Int32] in
      guard edit.contents == nil, CollectionLookup.id(of: key) == place.id else { return [] }
      // Of a collection that is not in memory the place may be that of any document of this name.
      if let path, path != key.collection { return [] }
      return edit.targets.filter(\.isEntry).map(\.target)
    }
  }

  /// Of a result in which one document cannot be read nothing is left: what is told anew does not
  /// say what has left it in the meantime.
  private mutating func dropMapping(
    _ key: [UInt8], _ rest: ArraySlice<UInt8>
  ) throws(StorageError) {
    guard let (id, place) = DocumentCacheKeys.mapping(rest) else { return try reset() }
    var writer = CacheWriter(rows)
    let keys = rows.keys
    try rows.store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      try writer.unreference(place, &transaction)
      if let target = try keys.target(id, in: transaction) {
        try writer.emptyTarget(target, &transaction)
      }
      try transaction.put(writer.head.record, for: keys.head)
    }
    rows.takeOver(writer)
    targets.loseResult(of: id, keepingRecord: true)
  }

  /// A target whose record cannot be read is new the next time; so is its result.
  private mutating func dropTarget(_ key: [UInt8], _ id: Int32?) throws(StorageError) {
    guard let id else { return try reset() }
    var writer = CacheWriter(rows)
    let keys = rows.keys
    let lost = StoredTarget(lost: id)
    try rows.store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      _ = try writer.removeTarget(lost, &transaction)
      try transaction.put(writer.head.record, for: keys.head)
    }
    rows.takeOver(writer)
    if targets[id] != nil {
      rows.head.targetCount += 1
      targets.loseResult(of: id)
    } else {
      targets.forget(id)
    }
  }

  /// A change that cannot be read: what changed up to then is not known any more.
  private mutating func dropChange(
    _ key: [UInt8], _ rest: ArraySlice<UInt8>
  ) throws(StorageError) {
    guard let (number, readTime) = DocumentCacheKeys.change(rest) else { return try reset() }
    var writer = CacheWriter(rows)
    try rows.store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      guard var collection = try writer.collection(number, &transaction) else { return }
      collection.unrecorded = max(collection.unrecorded, readTime)
      try writer.put(collection, &transaction)
    }
    rows.takeOver(writer)
  }

  /// An entry that cannot be read: its index is made anew.
  private mutating func dropEntry(_ key: [UInt8], _ rest: ArraySlice<UInt8>) throws(StorageError) {
    guard rest.count >= 4 else { return try reset() }
    let number = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard let state = rows.indexes.all.first(where: { $0.number == number }) else {
      let range = KeyRange(prefix: rows.keys.entries(number))
      return try rows.store.write { transaction throws(StorageError) in
        try transaction.remove(in: range)
      }
    }
    try rows.rebuild([state])
  }

  /// Rebuilds the indexes over a collection, because the entries of an unreadable document are
  /// unknown.
  private mutating func dropEntries(of collection: UInt64) {
    guard let path = rows.collections[collection]?.path else { return }
    do throws(StorageError) {
      try rows.rebuild(rows.indexes.of(group: path.id))
    } catch {
      note(error)
    }
  }
}

extension CacheWriter {
  /// Forgets the results that hold a document.
  ///
  /// - Returns: Their targets.
  /// - Complexity: O(stored targets), one lookup each.
  fileprivate mutating func emptyTargets(
    holding key: DocumentKey, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> [Int32] {
    guard let collection = try collection(of: key, isNeeded: false, &transaction) else { return [] }
    let place = DocumentPlace(collection: collection.number, id: CollectionLookup.id(of: key))
    return try emptyTargets(holding: place, &transaction)
  }

  fileprivate mutating func emptyTargets(
    holding place: DocumentPlace, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> [Int32] {
    var holders: [Int32] = []
    for target in try keys.targets(in: transaction)
    where try transaction.contains(keys.mapping(target.id, place)) {
      try emptyTarget(target, &transaction)
      holders.append(target.id)
    }
    try transaction.put(head.record, for: keys.head)
    return holders
  }

  /// Forgets the result of a target, and from where a listen may continue.
  fileprivate mutating func emptyTarget(
    _ target: StoredTarget, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    _ = try removeResult(of: target.id, &transaction)
    var empty = target
    empty.resumeToken = []
    empty.snapshotVersion = .none
    empty.limboFreeVersion = .none
    empty.keyCount = 0
    try transaction.put(empty.record, for: keys.target(target.id))
  }
}

extension StoredTarget {
  /// Stands for a target whose record cannot be read.
  fileprivate init(lost id: Int32) {
    self.id = id
    resumeToken = []
    snapshotVersion = .none
    limboFreeVersion = .none
    sequence = 0
    keyCount = 0
    subject = []
  }
}
