import TernCore
import TernStorage
import TernSync
import TernTreeRows

/// The layout of a tree cache's keys in its store. Source: Docs/Formats/tree-cache.md.
///
/// After the prefix, the first byte tells the kind: 1 the head, 2 data, 3 tracked queries, 4
/// windows. Ids of queries are 8 bytes, the most significant one first.
struct CacheKeys: Sendable {
  /// The format written here.
  static let version: UInt8 = 1

  /// The prefix of every key of the cache.
  let prefix: [UInt8]
  /// The server's data.
  let rows: TreeRows

  init(prefix: [UInt8]) {
    self.prefix = prefix
    rows = TreeRows(prefix: prefix + [2])
  }

  /// Everything.
  var all: KeyRange { KeyRange(prefix: prefix) }

  /// The row that says what the cache is, and how large.
  var head: [UInt8] { prefix + [1] }

  /// All tracked queries.
  var queries: KeyRange { KeyRange(prefix: prefix + [3]) }

  /// One tracked query.
  func query(_ id: UInt64) -> [UInt8] {
    var key = prefix + [3]
    key.append(integer: id)
    return key
  }

  /// The number in the key of a tracked query.
  func queryID(_ key: [UInt8]) -> UInt64? {
    var reader = RecordReader(Array(key.dropFirst(prefix.count + 1)))
    return reader.integer()
  }

  /// The children in the window of one filtered query.
  func window(_ id: UInt64) -> KeyRange { KeyRange(prefix: windowPrefix(id)) }

  /// One child in the window of one filtered query.
  func window(_ id: UInt64, _ child: TreeKey) -> [UInt8] {
    var key = windowPrefix(id)
    RowKey.append(child, to: &key)
    return key
  }

  /// The child in the key of a window's row.
  func windowChild(_ key: [UInt8]) -> TreeKey? {
    var offset = prefix.count + 9
    return RowKey.segment(of: key.span, at: &offset)
  }

  private func windowPrefix(_ id: UInt64) -> [UInt8] {
    var key = prefix + [4]
    key.append(integer: id)
    return key
  }
}

extension CacheKeys {
  /// More bytes than any disk holds.
  private static let mostCounted: UInt64 = 1 << 56

  /// The value of the first row.
  static func head(byteCount: Int) -> [UInt8] {
    var bytes = [version]
    bytes.append(integer: UInt64(max(byteCount, 0)))
    return bytes
  }

  /// Reads the value of the first row; `nil` when it is none.
  static func byteCount(inHead head: [UInt8]) -> Int? {
    var reader = RecordReader(head)
    guard reader.byte() == version, let count: UInt64 = reader.integer(), count < mostCounted
    else { return nil }
    return Int(count)
  }

  /// The path in the key of a row of data; `nil` for other keys.
  func path(ofRow key: [UInt8]) -> TreePath? {
    guard key.starts(with: rows.prefix) else { return nil }
    return TreePath(rowKey: Array(key.dropFirst(rows.prefix.count)))
  }

  /// Returns `true` if one of these children is in the window of its filtered query.
  func isInWindow(
    _ children: [(id: UInt64, child: TreeKey)],
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Bool {
    for (id, child) in children where try view.contains(window(id, child)) { return true }
    return false
  }

  /// The children in the window of a filtered query.
  func children(
    inWindow id: UInt64, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Set<TreeKey> {
    var children: Set<TreeKey> = []
    for row in try view.scan(window(id)) {
      guard let child = windowChild(row.key) else { throw .corruptRecord(key: row.key) }
      children.insert(child)
    }
    return children
  }
}
