import TernCore
import TernStorage
import TernSync

/// The stored state of one collection that has cached documents.
///
/// Source: Docs/Formats/document-cache.md, section 2.
///
/// A collection gets a number when its first document is cached, and keeps it. Keys of documents
/// contain the number rather than the path, which keeps them short.
///
/// Layout of the record: flags in one byte (1 watched, 2 ids that are numbers), the version up to
/// which changes may be unrecorded in 8 bytes, the only watching target or 0 in 4 bytes, the path
/// as UTF-8.
struct CachedCollection: Hashable, Sendable {
  /// Stands for its path in the keys of its documents.
  let number: UInt64
  let path: CollectionPath
  /// The targets whose queries here a server has answered, so that changes are recorded.
  var watchers = Watchers.none
  /// Changes up to here may not be recorded; all later ones are.
  ///
  /// A query that was answered before this version cannot be brought up to date from recorded
  /// changes.
  var unrecorded = DocumentVersion.none

  /// The targets that may ask what has changed.
  ///
  /// Recording costs a row for each change, so nothing is recorded until a server has answered a
  /// query.
  enum Watchers: Hashable, Sendable {
    case none
    /// One, which needs no record of what it holds: it has a list of that.
    case one(Int32)
    case several
  }

  /// `true` if some ids are numbers of an older store, which do not sort by their bytes.
  var hasNumberIDs = false

  /// The id of the collection, and of its group.
  var id: String { path.id }

  init(number: UInt64, path: CollectionPath) {
    self.number = number
    self.path = path
  }

  /// Reads a stored record; `nil` when it is none.
  init?(number: UInt64, record: [UInt8]) {
    var reader = RecordReader(record)
    guard let flags = reader.byte(), flags < 4, let unrecorded: Int64 = reader.integer(),
      let watcher: Int32 = reader.integer(),
      let path = String(validating: reader.rest(), as: UTF8.self), !path.isEmpty
    else { return nil }
    self.number = number
    self.path = CollectionPath(unchecked: path)
    switch (flags & 1, watcher) {
    case (0, 0): watchers = .none
    case (0, _): return nil
    case (_, 0): watchers = .several
    case (_, let target): watchers = .one(target)
    }
    hasNumberIDs = flags & 2 != 0
    self.unrecorded = DocumentVersion(microseconds: unrecorded)
  }

  /// The stored form.
  var record: [UInt8] {
    var watcher: Int32 = 0
    if case .one(let target) = watchers { watcher = target }
    var bytes: [UInt8] = [(watchers == .none ? 0 : 1) | (hasNumberIDs ? 2 : 0)]
    bytes.append(integer: unrecorded.microseconds)
    bytes.append(integer: watcher)
    bytes.append(contentsOf: path.text.utf8)
    return bytes
  }
}

/// The collections met lately, by path and by number.
///
/// Invariant: both dictionaries have the same collections.
struct CollectionTable: Sendable {
  /// The most collections remembered; then all are looked up again.
  static let limit = 10_000

  private var byPath: [CollectionPath: CachedCollection] = [:]
  private var byNumber: [UInt64: CollectionPath] = [:]

  subscript(path: CollectionPath) -> CachedCollection? { byPath[path] }

  subscript(number: UInt64) -> CachedCollection? { byNumber[number].flatMap { byPath[$0] } }

  mutating func insert(_ collection: CachedCollection) {
    if byPath.count >= Self.limit { removeAll() }
    byPath[collection.path] = collection
    byNumber[collection.number] = collection.path
  }

  mutating func removeAll() {
    byPath = [:]
    byNumber = [:]
  }
}

extension DocumentCacheKeys {
  /// Finds a collection by its path.
  ///
  /// Paths are found by a 64-bit hash; several collections may share one, so each candidate's path
  /// is compared.
  func find(
    _ path: CollectionPath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> CachedCollection? {
    let prefix = collectionNames(path)
    for row in try view.scan(KeyRange(prefix: prefix)) {
      guard let place = DocumentPlace(row.key[prefix.count...] + [0]) else {
        throw .corruptRecord(key: row.key)
      }
      if let found = try find(place.collection, in: view), found.path == path { return found }
    }
    return nil
  }

  /// Finds a collection by its number.
  func find(
    _ number: UInt64, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> CachedCollection? {
    let key = collection(number)
    guard let record = try view.get(key) else { return nil }
    guard let found = CachedCollection(number: number, record: record) else {
      throw .corruptRecord(key: key)
    }
    return found
  }

  /// The numbers of the collections of one id, ascending.
  func numbers(
    inGroup id: String, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt64] {
    let prefix = group(id)
    var numbers: [UInt64] = []
    for row in try view.scan(KeyRange(prefix: prefix)) {
      guard let place = DocumentPlace(row.key[prefix.count...] + [0]) else {
        throw .corruptRecord(key: row.key)
      }
      numbers.append(place.collection)
    }
    return numbers
  }
}

extension DocumentPlace {
  /// `true` if the id may be a number of an older store: `__id7__`.
  var hasNumberID: Bool { id.first == UInt8(ascii: "_") && id.starts(with: "__id".utf8) }
}
