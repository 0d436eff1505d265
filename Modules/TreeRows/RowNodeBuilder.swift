package import TernCore
package import TernStorage

/// Builds a node from its rows, given in key order.
///
/// It keeps one level for every segment of the last row's key; a row that leaves a level closes it.
package struct RowNodeBuilder {
  private struct Level {
    let key: TreeKey
    /// The length of the row key's prefix up to the end of the level's segment.
    let end: Int
    var scalar: TreeScalar?
    var priority: TreeScalar?
    var children: ChildMap.Builder

    consuming func finish() -> TreeNode {
      if let scalar, children.isEmpty { return TreeNode(scalar, priority: priority) }
      return TreeNode(children: children.finish(), priority: priority)
    }
  }

  private var levels: [Level]
  /// The child count of the last closed node at each depth: the estimate for its next sibling.
  private var expected: [Int] = []
  private var lastKey: [UInt8] = []
  private var room = MemoryFootprint()

  /// A builder of the node whose own row has a key of `baseCount` bytes.
  package init(baseCount: Int) {
    levels = [
      Level(key: TreeKey(unchecked: ""), end: baseCount, children: ChildMap.Builder())
    ]
  }

  /// Takes the next row.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` when the row is no part of a tree.
  package mutating func add(key: Span<UInt8>, value: Span<UInt8>) throws(StorageError) {
    room.use()
    guard let scalar = RowValue.decode(value) else { throw .malformedRow(key) }
    var offset = closeLevels(for: key)
    var namesPriority = false
    while offset < key.count {
      guard !namesPriority, let segment = RowKey.segment(of: key, at: &offset) else {
        throw .malformedRow(key)
      }
      namesPriority = segment.isPriority
      if !namesPriority { open(segment, end: offset) }
    }
    if namesPriority {
      levels[levels.count - 1].priority = scalar
    } else {
      levels[levels.count - 1].scalar = scalar
    }
    remember(key)
  }

  /// The node of all rows taken; the builder is used up.
  package mutating func finish() -> TreeNode {
    closeLevels(from: 1)
    return levels.removeLast().finish()
  }

  private mutating func open(_ key: TreeKey, end: Int) {
    let depth = levels.count
    let count = depth < expected.count ? expected[depth] : 0
    levels.append(Level(key: key, end: end, children: ChildMap.Builder(expecting: count)))
  }

  /// Closes what `key` does not share with the key before it; returns where its news begin.
  private mutating func closeLevels(for key: Span<UInt8>) -> Int {
    let shared = key.firstDifference(from: lastKey.span)
    var depth = levels.count
    while depth > 1, levels[depth - 1].end > shared { depth -= 1 }
    closeLevels(from: depth)
    return levels[depth - 1].end
  }

  private mutating func closeLevels(from depth: Int) {
    while levels.count > depth, let level = levels.popLast() {
      let closed = levels.count
      while expected.count <= closed { expected.append(0) }
      expected[closed] = level.children.count
      let key = level.key
      let node = level.finish()
      if !node.isEmpty { levels[closed - 1].children.append(key, node) }
    }
  }

  private mutating func remember(_ key: Span<UInt8>) {
    lastKey.removeAll(keepingCapacity: true)
    // Safe: the buffer is only read, and only here.
    unsafe key.withUnsafeBufferPointer { unsafe lastKey.append(contentsOf: $0) }
  }
}
