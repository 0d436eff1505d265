import TernCore
import TernQuery
import TernStorage

/// Turns what was gathered into rows, inside one storage transaction.
///
/// It works on copies of the cache's own tables, which the cache takes over when the transaction
/// has succeeded.
///
/// A writer lives for one transaction. If the transaction fails, the writer is dropped, and the
/// cache's tables are as before.
///
/// Invariants it maintains: a document's reference count is the number of mappings to it; a
/// document without references has exactly one orphan row, with its last use; counts in the head
/// are those of the rows; index entries are those of the stored fields.
struct CacheWriter {
  /// A document as the store has it.
  struct Stored {
    var row: DocumentRow
    let value: [UInt8]
  }

  let keys: DocumentCacheKeys
  var head: CacheHead
  var collections: CollectionTable
  let indexes: IndexTable
  /// The new stored values of documents, for the table in memory.
  private(set) var outcomes: [(place: DocumentPlace, value: [UInt8]?)] = []
  /// The net growth of each target's result, in documents.
  private(set) var keyDeltas: [Int32: Int] = [:]
  private var watchedGroups: [[UInt8]: Bool] = [:]
  /// The collection of the last document, and what its keys begin with.
  private var recent: (prefix: [UInt8], collection: CachedCollection)?
  /// The collections of which documents are in memory.
  private let hotCollections: Set<UInt64>

  init(_ rows: CacheRows) {
    keys = rows.keys
    head = rows.head
    collections = rows.collections
    indexes = rows.indexes
    hotCollections = Set(rows.hot.collections.keys)
  }

  /// Carries out what was gathered about one document.
  mutating func apply(
    _ edit: DocumentEdit, to key: DocumentKey, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    guard var collection = try collection(of: key, isNeeded: edit.needsRow, &transaction) else {
      return
    }
    let place = DocumentPlace(collection: collection.number, id: CollectionLookup.id(of: key))
    if place.hasNumberID, !collection.hasNumberIDs {
      collection.hasNumberIDs = true
      try put(collection, &transaction)
    }
    let old = try stored(place, in: transaction)
    var new = old?.row ?? .placeholder(sequence: head.sequence)
    let hasLeft = try changeMappings(edit.targets, place, &new, &transaction)
    if edit.isUsed { new.sequence = head.sequence }
    if let (document, readTime) = edit.contents {
      new.take(document, readTime: readTime)
      let fields = document.fields?.bytes ?? []
      try replace(place, collection, old, (new, fields), &transaction)
    } else {
      try replace(place, collection, old, (new, nil), &transaction)
      // While a target held it, its changes did not need a record.
      if hasLeft { try record(place, collection, nil, new, &transaction) }
    }
  }

  /// Notes in a target's result which documents came and which left.
  ///
  /// - Returns: Whether the document has left some.
  private mutating func changeMappings(
    _ changes: TargetMoves, _ place: DocumentPlace, _ row: inout DocumentRow,
    _ transaction: inout WriteTransaction
  ) throws(StorageError) -> Bool {
    var hasLeft = false
    for (target, isAdded) in changes {
      let key = keys.mapping(target, place)
      guard try transaction.contains(key) != isAdded else { continue }
      if isAdded { try transaction.put([], for: key) } else { try transaction.remove(key) }
      let step = isAdded ? 1 : -1
      row.references = max(0, row.references + step)
      row.sequence = head.sequence
      head.byteCount += step * key.count
      keyDeltas[target, default: 0] += step
      if !isAdded { hasLeft = true }
    }
    return hasLeft
  }

  /// The stored document at a place.
  func stored(
    _ place: DocumentPlace, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Stored? {
    let key = keys.document(place)
    guard let value = try view.get(key) else { return nil }
    guard let row = DocumentRow(value.span) else { throw .corruptRecord(key: key) }
    return Stored(row: row, value: value)
  }

  /// Puts a document's row in the place of its older self, with everything that follows from it.
  ///
  /// - Parameters:
  ///   - old: What is stored.
  ///   - new: What is to be stored; `fields` is `nil` when the contents stay. A row that says
  ///     nothing and that no target holds is removed.
  mutating func replace(
    _ place: DocumentPlace, _ collection: CachedCollection, _ old: Stored?,
    _ new: (row: DocumentRow, fields: [UInt8]?), _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    let isKept = new.row.state != .placeholder || new.row.references > 0
    var value: [UInt8]?
    if let fields = new.fields {
      value = new.row.value(fields: fields.span)
    } else if let old {
      let fields = old.value.span.extracting(old.row.fieldsOffset..<old.value.count)
      value = new.row.value(fields: fields)
    } else {
      value = new.row.value(fields: [UInt8]().span)
    }
    if !isKept { value = nil }
    if value == old?.value { return }
    let key = keys.document(place)
    if let value { try transaction.put(value, for: key) } else { try transaction.remove(key) }
    count(key, old, value)
    try changeOrphan(place, old?.row, isKept ? new.row : nil, &transaction)
    if new.fields != nil || !isKept {
      try record(place, collection, old?.row, isKept ? new.row : nil, &transaction)
      try changeEntries(place, collection, old, isKept ? new.fields : nil, &transaction)
    }
    if hotCollections.contains(place.collection) { outcomes.append((place, value)) }
  }

  private mutating func count(_ key: [UInt8], _ old: Stored?, _ value: [UInt8]?) {
    if let old {
      head.byteCount -= key.count + old.value.count
      head.documentCount -= 1
    }
    if let value {
      head.byteCount += key.count + value.count
      head.documentCount += 1
    }
  }

  /// Keeps the list of documents that no target holds, by last use.
  private mutating func changeOrphan(
    _ place: DocumentPlace, _ old: DocumentRow?, _ new: DocumentRow?,
    _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    let before = old.flatMap { $0.references == 0 ? $0.sequence : nil }
    let after = new.flatMap { $0.references == 0 ? $0.sequence : nil }
    if before == after { return }
    if let before {
      try transaction.remove(keys.orphan(place, before))
      head.orphanCount -= 1
    }
    if let after {
      try transaction.put([], for: keys.orphan(place, after))
      head.orphanCount += 1
    }
  }

  /// Keeps the list of changes, where queries ask what has changed since they were answered.
  private mutating func record(
    _ place: DocumentPlace, _ collection: CachedCollection, _ old: DocumentRow?,
    _ new: DocumentRow?, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    let collection = current(collection)
    if let old, old.readTime == new?.readTime, new?.state != .placeholder { return }
    if let old, old.readTime > collection.unrecorded {
      try transaction.remove(keys.change(place, old.readTime))
    }
    guard let new, new.state != .placeholder, new.readTime > collection.unrecorded else { return }
    switch try watchers(of: collection, in: transaction) {
    case .none:
      var changed = collection
      changed.unrecorded = new.readTime
      try put(changed, &transaction)
    case .one(let target) where try transaction.contains(keys.mapping(target, place)): break
    case .one, .several: try transaction.put([], for: keys.change(place, new.readTime))
    }
  }

  private mutating func changeEntries(
    _ place: DocumentPlace, _ collection: CachedCollection, _ old: Stored?, _ fields: [UInt8]?,
    _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    for index in indexes.of(group: collection.id) {
      var before: [[UInt8]: [UInt8]] = [:]
      if let old, old.row.state == .found {
        let fields = old.value.span.extracting(old.row.fieldsOffset..<old.value.count)
        before = index.entries(of: fields, at: place, keys)
      }
      var after: [[UInt8]: [UInt8]] = [:]
      if let fields, !fields.isEmpty { after = index.entries(of: fields.span, at: place, keys) }
      for key in before.keys where after[key] == nil { try transaction.remove(key) }
      for (key, value) in after where before[key] != value {
        try transaction.put(value, for: key)
      }
    }
  }
}

// MARK: Collections

extension CacheWriter {
  /// The collection of a key; made when it is needed and not there.
  mutating func collection(
    of key: DocumentKey, isNeeded: Bool, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> CachedCollection? {
    if let recent, CollectionLookup.hasPrefix(key, recent.prefix) { return recent.collection }
    let found = try find(key.collection, isNeeded: isNeeded, &transaction)
    recent = found.map { (CollectionLookup.prefix(of: key), $0) }
    return found
  }

  private mutating func find(
    _ path: CollectionPath, isNeeded: Bool, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> CachedCollection? {
    if let known = collections[path] { return known }
    if let found = try keys.find(path, in: transaction) {
      collections.insert(found)
      return found
    }
    guard isNeeded else { return nil }
    let made = CachedCollection(number: head.nextCollection, path: path)
    head.nextCollection += 1
    try transaction.put([], for: keys.collectionName(path, made.number))
    try transaction.put([], for: keys.group(made.id, made.number))
    try put(made, &transaction)
    return made
  }

  /// A collection by its number.
  mutating func collection(
    _ number: UInt64, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> CachedCollection? {
    if let known = collections[number] { return known }
    let found = try keys.find(number, in: transaction)
    if let found { collections.insert(found) }
    return found
  }

  mutating func put(
    _ collection: CachedCollection, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    try transaction.put(collection.record, for: keys.collection(collection.number))
    collections.insert(collection)
    if recent?.collection.number == collection.number { recent?.collection = collection }
  }

  /// Returns the newest state of a collection in this transaction.
  private func current(_ collection: CachedCollection) -> CachedCollection {
    if let recent, recent.collection.number == collection.number { return recent.collection }
    return collections[collection.number] ?? collection
  }

  /// Returns the targets whose queries over the collection, or over its group, a server has
  /// answered.
  private mutating func watchers(
    of collection: CachedCollection, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> CachedCollection.Watchers {
    if collection.watchers == .several { return .several }
    let group = Array(collection.id.utf8)
    var isWatched = watchedGroups[group]
    if isWatched == nil {
      isWatched = try view.contains(keys.watchedGroup(collection.id))
      watchedGroups[group] = isWatched
    }
    return isWatched == true ? .several : collection.watchers
  }

  /// Notes that a query was answered: from now on changes are recorded where it looks.
  mutating func watch(
    _ record: DocumentTargetRecord, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    guard case .query(let target) = record.subject else { return }
    switch target.source {
    case .document, .all: return
    case .group(let id):
      let group = Array(id.utf8)
      if watchedGroups[group] == true { return }
      watchedGroups[group] = true
      try transaction.put([], for: keys.watchedGroup(id))
    case .collection(let path):
      var found = collections[path]
      if found == nil { found = try keys.find(path, in: transaction) }
      guard var found, found.watchers != .several, found.watchers != .one(record.id) else {
        return
      }
      found.watchers = found.watchers == .none ? .one(record.id) : .several
      try put(found, &transaction)
    }
  }
}

// MARK: Targets

extension CacheWriter {
  /// Stores the record of a target, with how many documents its result holds now.
  mutating func put(
    _ target: ActiveTarget, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> DocumentTargetRecord {
    var record = target.record
    record.keyCount = max(0, record.keyCount + (keyDeltas[record.id] ?? 0))
    try transaction.put(record.record, for: keys.target(record.id))
    if target.stored == nil {
      let subject = SubjectBytes.of(record.subject)
      try transaction.put([], for: keys.subject(subject, record.id))
    }
    if record.snapshotVersion != .none { try watch(record, &transaction) }
    return record
  }

  /// Removes a target and its result; documents without another reference become orphans.
  ///
  /// - Returns: The documents of its result.
  mutating func removeTarget(
    _ stored: StoredTarget, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> [DocumentPlace] {
    try transaction.remove(keys.target(stored.id))
    try transaction.remove(keys.subject(stored.subject, stored.id))
    head.targetCount -= 1
    return try removeResult(of: stored.id, &transaction)
  }

  /// Removes the result of a target; documents without another reference become orphans.
  ///
  /// - Returns: The documents of the result.
  mutating func removeResult(
    of target: Int32, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> [DocumentPlace] {
    let prefix = keys.mappings(target)
    let range = KeyRange(prefix: prefix)
    var places: [DocumentPlace] = []
    for row in try transaction.scan(range) {
      guard let place = DocumentPlace(row.key[prefix.count...]) else { continue }
      places.append(place)
      head.byteCount -= row.key.count
    }
    try transaction.remove(in: range)
    for place in places { try unreference(place, &transaction) }
    return places
  }

  /// Notes that one target fewer holds a document.
  mutating func unreference(
    _ place: DocumentPlace, _ transaction: inout WriteTransaction
  ) throws(StorageError) {
    guard let old = try stored(place, in: transaction),
      let collection = try collection(place.collection, &transaction)
    else { return }
    var row = old.row
    row.references = max(0, row.references - 1)
    try replace(place, collection, old, (row, nil), &transaction)
  }

  /// Removes a document that no target holds.
  ///
  /// - Returns: Whether it was there and is gone.
  mutating func removeUnreferenced(
    _ place: DocumentPlace, _ transaction: inout WriteTransaction
  ) throws(StorageError) -> Bool {
    guard let old = try stored(place, in: transaction), old.row.references == 0,
      let collection = try collection(place.collection, &transaction)
    else { return false }
    var row = old.row
    row.state = .placeholder
    try replace(place, collection, old, (row, []), &transaction)
    return true
  }
}
