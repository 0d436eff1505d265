package import TernCore
import TernStorage

/// The server's state of one document, and the version at which the server reported it.
struct CachedBase: Sendable {
  var document: Document
  var readTime = DocumentVersion.none
}

extension DocumentCache {
  /// A document as it is shown: pending writes over what the server has.
  ///
  /// - Returns: An invalid document when nothing is known of it.
  package mutating func document(_ key: DocumentKey) -> Document {
    pending.shown[key] ?? base(key).document
  }

  /// Returns the server's state of a document.
  mutating func base(_ key: DocumentKey) -> CachedBase {
    if let contents = edits[key]?.contents {
      return CachedBase(document: contents.document, readTime: contents.readTime)
    }
    return stored([key])[key] ?? CachedBase(document: .invalid(key))
  }

  /// Returns the server's state of several documents; leaves out those without a known state.
  mutating func bases(_ wanted: some Sequence<DocumentKey>) -> [DocumentKey: CachedBase] {
    var found: [DocumentKey: CachedBase] = [:]
    var missing: [DocumentKey] = []
    for key in wanted {
      if let contents = edits[key]?.contents {
        found[key] = CachedBase(document: contents.document, readTime: contents.readTime)
      } else {
        missing.append(key)
      }
    }
    if !missing.isEmpty { found.merge(stored(missing)) { $1 } }
    return found
  }

  private mutating func stored(_ wanted: [DocumentKey]) -> [DocumentKey: CachedBase] {
    reading(orElse: [:]) { cache, snapshot throws(StorageError) in
      var found: [DocumentKey: CachedBase] = [:]
      var place = CollectionLookup()
      for key in wanted {
        guard let collection = try place.collection(of: key, &cache, in: snapshot) else { continue }
        let base = try cache.read(key, in: collection, snapshot)
        if let base { found[key] = base }
      }
      return found
    }
  }

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
}

extension HotCollection {
  /// The document of a row.
  func base(_ row: Row, _ key: DocumentKey? = nil) -> CachedBase {
    let value = bytes.span.extracting(Int(row.value)..<Int(row.end))
    guard let head = DocumentRow(value) else {
      preconditionFailure("a row in memory was read before")
    }
    let key = key ?? self.key(row)
    return CachedBase(document: head.document(key, value), readTime: head.readTime)
  }

  /// The key of a row.
  func key(_ row: Row) -> DocumentKey {
    DocumentKey(unchecked: String(copying: bytes.span.extracting(Int(row.start)..<Int(row.value))))
  }
}

extension String {
  /// The text of bytes that are known to be UTF-8.
  init(copying span: Span<UInt8>) {
    self = unsafe span.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

/// Finds collections of keys; of keys in a row of one collection only the first costs anything.
struct CollectionLookup {
  private var last: (prefix: [UInt8], collection: CachedCollection)?

  /// The bytes of a key's last segment.
  static func id(of key: DocumentKey) -> [UInt8] {
    let bytes = key.text.utf8.span
    return [UInt8](copying: bytes.extracting(idStart(bytes)..<bytes.count))
  }

  private static func idStart(_ bytes: Span<UInt8>) -> Int {
    var start = bytes.count
    while start > 0, bytes[start - 1] != UInt8(ascii: "/") { start -= 1 }
    return start
  }

  /// The collection a key lies in, if anything is cached of it.
  mutating func collection(
    of key: DocumentKey, _ cache: inout DocumentCache, in snapshot: borrowing Snapshot
  ) throws(StorageError) -> CachedCollection? {
    let bytes = key.text.utf8.span
    let prefix = bytes.extracting(0..<Self.idStart(bytes))
    if let last, compareBytes(last.prefix.span, prefix) == 0 { return last.collection }
    let path = key.collection
    var found = cache.collections[path]
    if found == nil {
      found = try cache.keys.find(path, in: snapshot)
      if let found { cache.collections.insert(found) }
    }
    if let found { last = ([UInt8](copying: prefix), found) }
    return found
  }
}

// MARK: Reading, and what to do about damage

extension DocumentCache {
  /// Reads from one snapshot; damaged records are dropped, and then it is read again.
  mutating func reading<R>(
    orElse fallback: R,
    _ body: (inout DocumentCache, borrowing Snapshot) throws(StorageError) -> R
  ) -> R {
    for _ in 0..<Self.repairLimit where !isDetached {
      do throws(StorageError) {
        let store = store
        return try store.read { snapshot throws(StorageError) in try body(&self, snapshot) }
      } catch .corruptRecord(let key) {
        drop(key)
      } catch {
        fail(error)
      }
    }
    if isDetached { return fallback }
    startAnew()
    return fallback
  }
}
