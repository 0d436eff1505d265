import TernCore
import TernStorage
import TernSync

// What becomes of damaged records: they are never handed out, and what they held is fetched again.
extension DocumentCache {
  /// Drops a damaged record, and lets go of everything that cannot be answered without it.
  mutating func drop(_ key: [UInt8]) {
    do throws(StorageError) {
      switch keys.split(key) {
      case (.document, let rest)?: try dropDocument(key, DocumentPlace(rest))
      case (.mapping, let rest)?: try dropMapping(key, rest)
      case (.target, let rest)?: try dropTarget(key, Self.targetID(rest))
      case (.subject, let rest)?: try dropTarget(key, Self.targetID(rest.dropFirst(8)))
      case (.change, let rest)?: try dropChange(key, rest)
      case (.entry, let rest)?: try dropEntry(key, rest)
      case (.orphan, _)?:
        try store.write { transaction throws(StorageError) in try transaction.remove(key) }
      case (.bundle, _)?, (.namedQuery, _)?:
        let bundles = KeyRange(prefix: keys.begin(.bundle))
        try store.write { transaction throws(StorageError) in
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

  /// Takes note that the store has failed, not only a record in it.
  ///
  /// - Returns: Whether it can be read again, with nothing in it.
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
    failure = failure ?? error
    if isDetached { return }
    isDetached = true
    forgetStored()
  }

  /// Hands out the targets whose results were lost through damage: a server has to be asked for
  /// them as if nothing had been known, also when it is telling of them already.
  package mutating func takeLostTargets() -> [Int32] {
    if lostTargets.isEmpty { return [] }
    defer { lostTargets = [] }
    return lostTargets.sorted()
  }

  /// Forgets everything that is stored. What was gathered stays.
  mutating func reset() throws(StorageError) {
    let keys = keys
    let lastSnapshot = head.lastSnapshot
    var head = CacheHead()
    // Names of targets that servers may still know are not given away again.
    head.highestTarget = self.head.highestTarget
    head.targetCount = targets.count
    head.lastSnapshot = lastSnapshot
    try store.write { transaction throws(StorageError) in
      try transaction.remove(in: keys.all)
      try transaction.put(head.record, for: keys.head)
    }
    self.head = head
    forgetStored()
  }

  /// The results that listeners hold in memory are not in the store any more.
  private mutating func forgetStored() {
    collections.removeAll()
    hot.removeAll()
    indexes = IndexTable()
    for id in targets.keys { loseResult(of: id) }
  }

  /// Marks the result of a target with listeners as lost.
  private mutating func loseResult(of id: Int32, keepingRecord: Bool = false) {
    guard var target = targets[id] else { return }
    target.record.forgetProgress()
    target.record.keyCount = 0
    if keepingRecord {
      target.stored?.forgetProgress()
      target.stored?.keyCount = 0
    } else {
      target.stored = nil
    }
    targets[id] = target
    changedTargets.insert(id)
    lostTargets.insert(id)
  }

  /// A document that cannot be read: every target that held it has to be told again.
  private mutating func dropDocument(
    _ key: [UInt8], _ place: DocumentPlace?
  ) throws(StorageError) {
    guard let place else { return try reset() }
    let keys = keys
    var writer = CacheWriter(self)
    var holders: [Int32] = []
    try store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      // It may have come in one, which then may be taken in again.
      try transaction.remove(in: KeyRange(prefix: keys.begin(.bundle)))
      for target in try Self.targets(keys, in: transaction)
      where try transaction.contains(keys.mapping(target.id, place)) {
        try writer.emptyTarget(target, &transaction)
        holders.append(target.id)
      }
      try transaction.put(writer.head.record, for: keys.head)
    }
    holders += gatheredHolders(of: place)
    takeOver(writer)
    for holder in holders { loseResult(of: holder, keepingRecord: true) }
    hot.update(place.collection, place.id.span, nil)
    dropEntries(of: place.collection)
  }

  /// The targets into whose results a document came in this turn as it was known already: it is not
  /// stored again with them.
  private func gatheredHolders(of place: DocumentPlace) -> [Int32] {
    let path = collections[place.collection]?.path
    return edits.flatMap { key, edit -> [Int32] in
      guard edit.contents == nil, CollectionLookup.id(of: key) == place.id else { return [] }
      // Of a collection that is not in memory the place may be that of any document of this name.
      if let path, path != key.collection { return [] }
      return edit.targets.filter(\.value).map(\.key)
    }
  }

  /// Of a result in which one document cannot be read nothing is left: what is told anew does not
  /// say what has left it in the meantime.
  private mutating func dropMapping(
    _ key: [UInt8], _ rest: ArraySlice<UInt8>
  ) throws(StorageError) {
    guard let (id, place) = Self.mapping(rest) else { return try reset() }
    var writer = CacheWriter(self)
    let keys = keys
    try store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      try writer.unreference(place, &transaction)
      if let target = try keys.target(id, in: transaction) {
        try writer.emptyTarget(target, &transaction)
      }
      try transaction.put(writer.head.record, for: keys.head)
    }
    takeOver(writer)
    loseResult(of: id, keepingRecord: true)
  }

  /// A target whose record cannot be read is new the next time; so is its result.
  private mutating func dropTarget(_ key: [UInt8], _ id: Int32?) throws(StorageError) {
    guard let id else { return try reset() }
    var writer = CacheWriter(self)
    let keys = keys
    let lost = StoredTarget(lost: id)
    try store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      _ = try writer.removeTarget(lost, &transaction)
      try transaction.put(writer.head.record, for: keys.head)
    }
    takeOver(writer)
    if targets[id] != nil {
      head.targetCount += 1
      loseResult(of: id)
    }
  }

  /// A change that cannot be read: what changed up to then is not known any more.
  private mutating func dropChange(
    _ key: [UInt8], _ rest: ArraySlice<UInt8>
  ) throws(StorageError) {
    guard let (number, readTime) = Self.change(rest) else { return try reset() }
    var writer = CacheWriter(self)
    try store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      guard var collection = try writer.collection(number, &transaction) else { return }
      collection.unrecorded = max(collection.unrecorded, readTime)
      try writer.put(collection, &transaction)
    }
    takeOver(writer)
  }

  /// The number and the time in the key of a change.
  static func change(_ rest: ArraySlice<UInt8>) -> (number: UInt64, readTime: DocumentVersion)? {
    guard let place = DocumentPlace(rest), place.id.count >= 8 else { return nil }
    let time = place.id.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return (place.collection, DocumentVersion(microseconds: Int64(bitPattern: time)))
  }

  /// The target and the document in the key of a mapping; both numbers are written alike.
  static func mapping(_ rest: ArraySlice<UInt8>) -> (target: Int32, place: DocumentPlace)? {
    guard let target = DocumentPlace(rest), let place = DocumentPlace(target.id[...]),
      let id = UInt32(exactly: target.collection)
    else { return nil }
    return (Int32(bitPattern: id), place)
  }

  static func targetID(_ bytes: ArraySlice<UInt8>) -> Int32? {
    guard bytes.count >= 4 else { return nil }
    return bytes.prefix(4).reduce(Int32(0)) { $0 << 8 | Int32($1) }
  }

  /// All stored targets.
  static func targets(
    _ keys: DocumentCacheKeys, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [StoredTarget] {
    var targets: [StoredTarget] = []
    for row in try view.scan(KeyRange(prefix: keys.targets)) {
      guard let id = targetID(row.key[keys.targets.count...]),
        let target = StoredTarget(id: id, record: row.value)
      else { throw .corruptRecord(key: row.key) }
      targets.append(target)
    }
    return targets
  }
}

extension CacheWriter {
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
