package import TernCore
package import TernStorage

extension TreeRows {
  /// The node at `path`, which may end in `.priority`.
  ///
  /// - Complexity: O(*n*) in the rows of the node.
  package func node(
    at path: TreePath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeNode {
    try node(at: path, limitBytes: .max, in: view) ?? .empty
  }

  /// The node at `path`, which may end in `.priority`; `nil` when its rows are more than
  /// `limitBytes`.
  ///
  /// - Complexity: O(*n*) in the rows of the node, as far as the limit allows.
  package func node(
    at path: TreePath, limitBytes: Int, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeNode? {
    var size = NodeSize()
    return try node(at: path, limitBytes: limitBytes, size: &size, in: view)
  }

  /// The same, with the size of what was read of it.
  package func node(
    at path: TreePath, limitBytes: Int, size: inout NodeSize,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeNode? {
    let base = key(of: path)
    if path.namesPriority {
      return try scalar(under: base, in: view).map { TreeNode($0) } ?? .empty
    }
    var builder = RowNodeBuilder(baseCount: base.count)
    var cursor = view.cursor(over: KeyRange(prefix: base))
    while try cursor.next() {
      size.add(cursor.key.count - base.count + cursor.value.count)
      if size.bytes > limitBytes { return nil }
      try builder.add(key: cursor.key, value: cursor.value)
    }
    return builder.finish()
  }

  /// The bytes of the rows of the node at `path`; `nil` when they are more than `limitBytes`.
  ///
  /// - Complexity: O(*n*) in the rows of the node, as far as the limit allows.
  package func size(
    at path: TreePath, limitBytes: Int, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Int? {
    var size = 0
    let base = key(of: path)
    var cursor = view.cursor(over: KeyRange(prefix: base))
    while try cursor.next() {
      size += cursor.key.count - base.count + cursor.value.count
      if size > limitBytes { return nil }
    }
    return size
  }

  /// The value of the leaf or priority at `path`; `nil` when there is none.
  package func scalar(
    at path: TreePath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeScalar? {
    try scalar(under: key(of: path), in: view)
  }

  package func scalar(
    under key: [UInt8], in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> TreeScalar? {
    try view.withValue(for: key.span) { value throws(StorageError) in
      guard let scalar = RowValue.decode(value) else { throw .malformedRow(key.span) }
      return scalar
    }
  }

  /// Returns `true` if no row is stored at or below `path`.
  package func isEmpty(
    at path: TreePath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Bool {
    try !holdsRows(range(of: path), in: view)
  }

  /// Returns `true` if the node at `path` has children.
  ///
  /// - Complexity: One seek.
  package func hasChildren(
    at path: TreePath, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Bool {
    try holdsRows(childRange(of: path), in: view)
  }

  package func holdsRows(
    _ range: KeyRange, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Bool {
    var cursor = view.cursor(over: range, limit: 1)
    return try cursor.next()
  }

  /// Visits the children of `path` in key order, each with its whole node.
  ///
  /// - Parameters:
  ///   - first: The least child to visit; all when `nil`.
  ///   - last: The greatest child to visit; all when `nil`.
  ///   - limitBytes: The most bytes of rows of a node that is built.
  ///   - body: Takes one child, its node, `nil` for one with more rows than may be built, and the
  ///     size of that; returns `false` to end the walk.
  package func forEachChild(
    of path: TreePath, from first: TreeKey? = nil, through last: TreeKey? = nil,
    limitBytes: Int = .max, in view: borrowing some StoreView & ~Copyable & ~Escapable,
    _ body: (TreeKey, TreeNode?, NodeSize) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let base = key(of: path)
    var cursor = view.cursor(over: childRange(of: path, from: first, through: last))
    var child: OpenChild?
    while try cursor.next() {
      if let open = child, !open.prefix.isPrefix(of: cursor.key) {
        guard try Self.close(&child, body) else { return }
      }
      if child == nil { child = try Self.open(cursor.key, below: base.count) }
      child?.size.add(cursor.key.count - base.count + cursor.value.count)
      if let size = child?.size, size.bytes > limitBytes {
        child?.builder = nil
      } else {
        try child?.builder?.add(key: cursor.key, value: cursor.value)
      }
    }
    _ = try Self.close(&child, body)
  }

  /// The greatest children of `path` up to `last`, in descending key order.
  ///
  /// - Parameters:
  ///   - limitBytes: The most bytes of rows of a node that is built.
  ///   - body: Takes one child, its node, `nil` for one with more rows than may be built, and the
  ///     size of what was read of it; returns `false` to end the walk.
  /// - Complexity: Two seeks a child.
  package func forEachChildReversed(
    of path: TreePath, from first: TreeKey? = nil, through last: TreeKey? = nil,
    limitBytes: Int = .max, in view: borrowing some StoreView & ~Copyable & ~Escapable,
    _ body: (TreeKey, TreeNode?, NodeSize) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let base = key(of: path)
    var range = childRange(of: path, from: first, through: last)
    while !range.isEmpty {
      var cursor = view.cursor(over: range, isReversed: true, limit: 1)
      guard try cursor.next() else { return }
      let child = try Self.open(cursor.key, below: base.count)
      var size = NodeSize()
      let node = try node(
        at: path.appending(child.key), limitBytes: limitBytes, size: &size, in: view)
      guard try body(child.key, node, size) else { return }
      range.upper = child.prefix
    }
  }

  /// The names of the children of `path` in key order, without reading what lies below them.
  ///
  /// - Parameters:
  ///   - previous: Only names after this one.
  ///   - limit: The most names to return.
  /// - Complexity: O(names); large children are jumped over.
  package func childKeys(
    of path: TreePath, after previous: TreeKey? = nil, limit: Int = .max,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [TreeKey] {
    let base = key(of: path)
    var range = childRange(of: path)
    if let previous { range.lower = childRange(of: path, through: previous).upper ?? range.lower }
    var keys: [TreeKey] = []
    while keys.count < limit {
      guard let last = try Self.appendKeys(to: &keys, limit, of: range, base.count, in: view) else {
        break
      }
      range.lower = KeyRange.successor(ofPrefix: last) ?? last
    }
    return keys
  }

  /// The most rows of one child that a scan steps over before it seeks past the rest.
  static let patience = 32

  /// Collects names until the range ends (`nil`) or one child proves large (its prefix).
  private static func appendKeys(
    to keys: inout [TreeKey], _ limit: Int, of range: KeyRange, _ baseCount: Int,
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> [UInt8]? {
    var prefix: [UInt8] = []
    var stepped = 0
    var cursor = view.cursor(over: range)
    while try cursor.next() {
      if !prefix.isEmpty, prefix.isPrefix(of: cursor.key) {
        stepped += 1
        if stepped > patience { return prefix }
        continue
      }
      if keys.count == limit { return nil }
      let child = try open(cursor.key, below: baseCount)
      keys.append(child.key)
      prefix = child.prefix
      stepped = 0
    }
    return nil
  }

  /// A child whose rows are being read; without a builder once they are too many.
  private typealias OpenChild = (
    key: TreeKey, prefix: [UInt8], builder: RowNodeBuilder?, size: NodeSize
  )

  private static func open(
    _ row: Span<UInt8>, below baseCount: Int
  ) throws(StorageError) -> OpenChild {
    var offset = baseCount
    guard let key = RowKey.segment(of: row, at: &offset), !key.isPriority else {
      throw .malformedRow(row)
    }
    let prefix = [UInt8](copying: row.extracting(0..<offset))
    return (key, prefix, RowNodeBuilder(baseCount: offset), NodeSize())
  }

  private static func close(
    _ child: inout OpenChild?,
    _ body: (TreeKey, TreeNode?, NodeSize) throws(StorageError) -> Bool
  ) throws(StorageError) -> Bool {
    guard var open = child else { return true }
    child = nil
    return try body(open.key, open.builder?.finish(), open.size)
  }
}

extension [UInt8] {
  package func isPrefix(of bytes: Span<UInt8>) -> Bool {
    guard count <= bytes.count else { return false }
    return compareBytes(span, bytes.extracting(0..<count)) == 0
  }
}
