package import TernCore
package import TernStorage

/// The rows of one tree in a store, below a prefix: one row for each leaf and each priority.
///
/// A subtree is one contiguous range of keys. Children are stored in key order, so a scan returns
/// them sorted. Device caches and servers use the same rows.
/// Source: Docs/Formats/tree-rows.md.
package struct TreeRows: Hashable, Sendable {
  /// The prefix of every key of this tree. Other users of the store must not use keys that begin
  /// with it.
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
  ///   - first: The least child to include; all when `nil`. Need not be the key of any child.
  ///   - last: The greatest child to include; all when `nil`. Need not be the key of any child.
  package func childRange(
    of path: TreePath, from first: TreeKey? = nil, through last: TreeKey? = nil
  ) -> KeyRange {
    let base = key(of: path)
    return KeyRange(
      from: first.map { bound(below: base, $0) } ?? base + [RowKey.integer],
      to: KeyRange.successor(ofPrefix: last.map { bound(below: base, $0) } ?? base))
  }

  private func bound(below base: [UInt8], _ key: TreeKey) -> [UInt8] {
    var bytes = base
    RowKey.append(bound: key, to: &bytes)
    return bytes
  }
}

/// An error for a corrupt row of a tree.
extension StorageError {
  package static func malformedRow(_ key: Span<UInt8>) -> StorageError {
    .corruptRecord(key: [UInt8](copying: key))
  }
}
