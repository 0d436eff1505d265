import TernCore
import TernStorage

/// The server's state of one document, and the version at which the server reported it.
struct CachedBase: Sendable {
  var document: Document
  var readTime = DocumentVersion.none
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
  private var last: (prefix: [UInt8], collection: CachedCollection?)?

  /// The bytes of a key's last segment.
  static func id(of key: DocumentKey) -> [UInt8] {
    key.text.withSpan { [UInt8](copying: $0.extracting(idStart($0)..<$0.count)) }
  }

  private static func idStart(_ bytes: Span<UInt8>) -> Int {
    var start = bytes.count
    while start > 0, bytes[start - 1] != UInt8(ascii: "/") { start -= 1 }
    return start
  }

  /// The collection a key lies in, if anything is cached of it.
  mutating func collection(
    of key: DocumentKey, _ rows: inout CacheRows, in snapshot: borrowing Snapshot
  ) throws(StorageError) -> CachedCollection? {
    if let last, Self.hasPrefix(key, last.prefix) { return last.collection }
    let path = key.collection
    var found = rows.collections[path]
    if found == nil {
      found = try rows.keys.find(path, in: snapshot)
      if let found { rows.collections.insert(found) }
    }
    last = (Self.prefix(of: key), found)
    return found
  }

  /// The bytes of all segments of a key but the last, with the slash behind them.
  static func prefix(of key: DocumentKey) -> [UInt8] {
    key.text.withSpan { [UInt8](copying: $0.extracting(0..<idStart($0))) }
  }

  /// Returns true when all of a key but its last segment is `prefix`.
  static func hasPrefix(_ key: DocumentKey, _ prefix: [UInt8]) -> Bool {
    key.text.withSpan { compareBytes(prefix.span, $0.extracting(0..<idStart($0))) == 0 }
  }
}
