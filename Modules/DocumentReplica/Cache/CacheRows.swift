import TernCore
import TernQuery
import TernStorage

/// The rows of a cache in its store, and the tables in memory that mirror some of them.
///
/// Functions throw what the store throws; the tables change with a transaction that succeeded.
///
/// Functions that read fill the tables as they go; ``takeOver(_:)`` is the only way in which a
/// transaction's changes reach them.
struct CacheRows: Sendable {
  let store: any OrderedStore
  let keys: DocumentCacheKeys
  var head = CacheHead()
  var collections = CollectionTable()
  var hot: HotTable
  var indexes = IndexTable()

  init(_ store: any OrderedStore, prefix: [UInt8], hotBytes: Int) {
    self.store = store
    keys = DocumentCacheKeys(prefix: prefix)
    hot = HotTable(limitBytes: hotBytes)
  }

  /// Reads the head and the indexes.
  ///
  /// Counts a turn, so that what this run uses is younger than everything stored.
  ///
  /// - Returns: `false` when there is no head of this format.
  mutating func readHead() throws(StorageError) -> Bool {
    let keys = keys
    let stored = try store.read { snapshot throws(StorageError) in try snapshot.get(keys.head) }
    guard let stored, let head = CacheHead(record: stored) else { return false }
    self.head = head
    self.head.sequence += 1
    indexes = try store.read { snapshot throws(StorageError) in
      try IndexTable.read(keys, in: snapshot)
    }
    return true
  }

  /// Takes over the tables of a writer whose transaction succeeded.
  mutating func takeOver(_ writer: CacheWriter) {
    head = writer.head
    collections = writer.collections
    for outcome in writer.outcomes {
      hot.update(outcome.place.collection, outcome.place.id.span, outcome.value?.span)
    }
  }

  /// Forgets what is in memory of the store.
  mutating func forget() {
    collections.removeAll()
    hot.removeAll()
    indexes = IndexTable()
  }
}

// MARK: Reading

extension CacheRows {
  /// One document of a known collection: from memory, else from the store.
  mutating func read(
    _ key: DocumentKey, in collection: CachedCollection, _ snapshot: borrowing Snapshot
  ) throws(StorageError) -> CachedBase? {
    let id = CollectionLookup.id(of: key)
    if let table = hot.collections[collection.number] {
      if let row = table.find(id.span) { return table.base(row, key) }
      if table.isComplete { return nil }
    }
    let place = DocumentPlace(collection: collection.number, id: id)
    let storeKey = keys.document(place)
    guard let value = try snapshot.get(storeKey) else { return nil }
    guard let row = DocumentRow(value.span) else { throw .corruptRecord(key: storeKey) }
    hot.remember(collection.number, collection.path, id.span, value.span)
    return CachedBase(document: row.document(key, value.span), readTime: row.readTime)
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

  /// The collections a query looks in, as far as anything is cached of them.
  mutating func numbers(
    of query: DocumentQuery, in snapshot: borrowing Snapshot
  ) throws(StorageError) -> [UInt64] {
    switch query.source {
    case .document, .all: return []
    case .group(let id): return try keys.numbers(inGroup: id, in: snapshot)
    case .collection(let path):
      if let known = collections[path] { return [known.number] }
      guard let found = try keys.find(path, in: snapshot) else { return [] }
      collections.insert(found)
      return [found.number]
    }
  }
}
