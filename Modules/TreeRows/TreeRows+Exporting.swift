package import TernCore
package import TernStorage

extension TreeRows {
  /// The JSON text of the node at `path`, piece by piece, never the whole in memory.
  ///
  /// - Parameters:
  ///   - path: A node's, not a priority's.
  ///   - pieceBytes: How long a piece becomes, about; a long text may make one longer.
  ///   - body: Takes one piece; returns `false` to end the walk.
  /// - Complexity: O(*n*) in the rows of the node, each looked at twice where lists may be; memory
  ///   O(depth + `pieceBytes` + longest text).
  package func writeJSON(
    of path: TreePath, _ form: TreeNode.JSONForm, pieceBytes: Int,
    in view: borrowing some StoreView & ~Copyable & ~Escapable,
    _ body: ([UInt8]) throws(StorageError) -> Bool
  ) throws(StorageError) {
    let base = key(of: path)
    var text = RowJSON(baseCount: base.count, form)
    var cursor = view.cursor(over: KeyRange(prefix: base))
    while try cursor.next() {
      try text.add(key: cursor.key, value: cursor.value) { prefix throws(StorageError) in
        try isList(below: [UInt8](copying: prefix), in: view)
      }
      if text.writer.bytes.count >= pieceBytes {
        guard try body(text.take()) else { return }
      }
    }
    text.finish()
    _ = try body(text.take())
  }

  /// Returns `true` if the JSON form shows the children below a node's key as an array.
  ///
  /// The rule is that of `ChildMap.arrayLength`.
  private func isList(
    below base: [UInt8], in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Bool {
    var count = 0
    var last = 0
    var areIndices = true
    try forEachChildKey(below: base, in: view) { key in
      let isIndex = key.text == "0" || key.text.utf8.first.map { $0 > UInt8(ascii: "0") } ?? false
      guard let index = key.integer, index >= 0, isIndex else {
        areIndices = false
        return false
      }
      count += 1
      last = Int(index)
      return true
    }
    return areIndices && last < 2 * count
  }

  /// Visits the names of the children below a node's key, in order; large children are jumped over.
  ///
  /// - Parameter body: Takes one name; returns `false` to end the walk.
  private func forEachChildKey(
    below base: [UInt8], in view: borrowing some StoreView & ~Copyable & ~Escapable,
    _ body: (TreeKey) -> Bool
  ) throws(StorageError) {
    var range = KeyRange(from: base + [RowKey.integer], to: KeyRange.successor(ofPrefix: base))
    while !range.isEmpty {
      var child: [UInt8] = []
      var stepped = 0
      var cursor = view.cursor(over: range)
      while stepped <= Self.patience, try cursor.next() {
        if !child.isEmpty, child.isPrefix(of: cursor.key) {
          stepped += 1
          continue
        }
        var offset = base.count
        guard let key = RowKey.segment(of: cursor.key, at: &offset), !key.isPriority else {
          throw .malformedRow(cursor.key)
        }
        guard body(key) else { return }
        child = [UInt8](copying: cursor.key.extracting(0..<offset))
        stepped = 0
      }
      guard stepped > Self.patience, let next = KeyRange.successor(ofPrefix: child) else { return }
      range.lower = next
    }
  }
}
