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
      case (.target, let rest)?: try dropTarget(key, rest)
      case (.change, let rest)?: try dropChange(key, rest)
      case (.entry, let rest)?: try dropEntry(key, rest)
      case (.orphan, _)?, (.bundle, _)?, (.namedQuery, _)?, (.subject, _)?, (.watchedGroup, _)?:
        try store.write { transaction throws(StorageError) in try transaction.remove(key) }
      case (.head, _)?, (.collection, _)?, (.collectionName, _)?, (.group, _)?, (.index, _)?, nil:
        try reset()
      }
    } catch .corruptRecord {
      startAnew()
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
    collections.removeAll()
    hot.removeAll()
    indexes = IndexTable()
    for id in targets.keys {
      // The results that listeners hold in memory are not in the store any more.
      targets[id]?.stored = nil
      targets[id]?.record.keyCount = 0
      targets[id]?.record.forgetProgress()
      changedTargets.insert(id)
    }
  }

  /// A document that cannot be read: every target that held it has to be told again.
  private mutating func dropDocument(
    _ key: [UInt8], _ place: DocumentPlace?
  ) throws(StorageError) {
    guard let place else { return try reset() }
    let keys = keys
    var holders: [StoredTarget] = []
    try store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      for var target in try Self.targets(keys, in: transaction) {
        let mapping = keys.mapping(target.id, place)
        guard try transaction.contains(mapping) else { continue }
        try transaction.remove(mapping)
        target.keyCount = max(0, target.keyCount - 1)
        holders.append(target)
        try transaction.put(target.withoutProgress.record, for: keys.target(target.id))
      }
    }
    for holder in holders { forgetProgress(of: holder.id, lostKeys: 1) }
    hot.update(place.collection, place.id.span, nil)
    dropEntries(of: place.collection)
  }

  private mutating func dropMapping(
    _ key: [UInt8], _ rest: ArraySlice<UInt8>
  ) throws(StorageError) {
    guard let id = Self.targetID(rest), let place = DocumentPlace(rest.dropFirst(4)) else {
      return try reset()
    }
    var writer = CacheWriter(self)
    let keys = keys
    try store.write { transaction throws(StorageError) in
      try transaction.remove(key)
      try writer.unreference(place, &transaction)
      if var target = try keys.target(id, in: transaction) {
        target.keyCount = max(0, target.keyCount - 1)
        try transaction.put(target.withoutProgress.record, for: keys.target(id))
      }
      try transaction.put(writer.head.record, for: keys.head)
    }
    takeOver(writer)
    forgetProgress(of: id, lostKeys: 1)
  }

  /// A target whose record cannot be read is new the next time; so is its result.
  private mutating func dropTarget(
    _ key: [UInt8], _ rest: ArraySlice<UInt8>
  ) throws(StorageError) {
    guard let id = Self.targetID(rest) else { return try reset() }
    var writer = CacheWriter(self)
    let keys = keys
    let lost = StoredTarget(lost: id)
    try store.write { transaction throws(StorageError) in
      _ = try writer.removeTarget(lost, &transaction)
      try transaction.put(writer.head.record, for: keys.head)
    }
    takeOver(writer)
    if targets[id] != nil {
      head.targetCount += 1
      targets[id]?.stored = nil
      targets[id]?.record.keyCount = 0
      targets[id]?.record.forgetProgress()
      changedTargets.insert(id)
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

  private mutating func forgetProgress(of id: Int32, lostKeys: Int) {
    guard var target = targets[id] else { return }
    target.record.forgetProgress()
    target.record.keyCount = max(0, target.record.keyCount - lostKeys)
    target.stored?.forgetProgress()
    targets[id] = target
    changedTargets.insert(id)
  }

  /// The number and the time in the key of a change.
  static func change(_ rest: ArraySlice<UInt8>) -> (number: UInt64, readTime: DocumentVersion)? {
    guard let place = DocumentPlace(rest), place.id.count >= 8 else { return nil }
    let time = place.id.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return (place.collection, DocumentVersion(microseconds: Int64(bitPattern: time)))
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

extension StoredTarget {
  /// The target without what cannot be continued.
  var withoutProgress: StoredTarget {
    var target = self
    target.resumeToken = []
    target.snapshotVersion = .none
    target.limboFreeVersion = .none
    return target
  }

  /// Stands for a target whose record cannot be read.
  init(lost id: Int32) {
    self.id = id
    resumeToken = []
    snapshotVersion = .none
    limboFreeVersion = .none
    sequence = 0
    keyCount = 0
    subject = []
  }
}
