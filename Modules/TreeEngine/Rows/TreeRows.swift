package import TernCore
package import TernStorage

/// Where one tree lives in a store: one row a leaf and one a priority, below a prefix.
///
/// A subtree is one contiguous range of keys, and children lie in key order, so that a scan gives
/// them sorted. Device caches and servers use the same rows.
/// Source: Docs/Formats/tree-rows.md.
package struct TreeRows: Hashable, Sendable {
  /// What every key of this tree begins with; no other user of the store may extend it.
  package let prefix: [UInt8]

  /// A tree below `prefix`.
  package init(prefix: [UInt8]) {
    self.prefix = prefix
  }

  /// The key of the leaf at `path`, or of the priority when the path ends in `.priority`.
  package func key(of path: TreePath) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(prefix.count + path.count * 16)
    bytes.append(contentsOf: prefix)
    RowKey.append(path, to: &bytes)
    return bytes
  }

  /// All rows of the node at `path` and below it.
  package func range(of path: TreePath) -> KeyRange {
    KeyRange(prefix: key(of: path))
  }

  /// The rows of the children of `path`, without its own leaf and priority.
  ///
  /// - Parameters:
  ///   - first: The least child to include; all when `nil`.
  ///   - last: The greatest child to include; all when `nil`.
  package func childRange(
    of path: TreePath, from first: TreeKey? = nil, through last: TreeKey? = nil
  ) -> KeyRange {
    let base = key(of: path)
    return KeyRange(
      from: first.map { child(of: base, $0) } ?? base + [RowKey.integer],
      to: KeyRange.successor(ofPrefix: last.map { child(of: base, $0) } ?? base))
  }

  private func child(of base: [UInt8], _ key: TreeKey) -> [UInt8] {
    var bytes = base
    RowKey.append(key, to: &bytes)
    return bytes
  }
}

/// What is wrong with a row that is stored as a part of a tree.
extension StorageError {
  static func malformedRow(_ key: Span<UInt8>) -> StorageError {
    .corruptRecord(key: [UInt8](copying: key))
  }
}
