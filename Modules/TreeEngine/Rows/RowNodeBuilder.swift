import TernCore
import TernStorage

/// Builds a node from its rows, given in key order.
///
/// It keeps one level for every segment of the last row's key; a row that leaves a level closes it.
struct RowNodeBuilder {
  private struct Level {
    let key: TreeKey
    /// Where the level's segment ends in the key of its rows.
    let end: Int
    var scalar: TreeScalar?
    var priority: TreeScalar?
    var children: [ChildMap.Element] = []

    var node: TreeNode {
      if let scalar, children.isEmpty { return TreeNode(scalar, priority: priority) }
      return TreeNode(children: ChildMap(sorted: children), priority: priority)
    }
  }

  private var levels: [Level]
  private var lastKey: [UInt8] = []

  /// A builder of the node whose own row has a key of `baseCount` bytes.
  init(baseCount: Int) {
    levels = [Level(key: TreeKey(unchecked: ""), end: baseCount)]
  }

  /// Takes the next row.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` when the row is no part of a tree.
  mutating func add(key: Span<UInt8>, value: Span<UInt8>) throws(StorageError) {
    guard let scalar = RowValue.decode(value) else { throw .malformedRow(key) }
    var offset = closeLevels(for: key)
    var namesPriority = false
    while offset < key.count {
      guard !namesPriority, let segment = RowKey.segment(of: key, at: &offset) else {
        throw .malformedRow(key)
      }
      namesPriority = segment.isPriority
      if !namesPriority { levels.append(Level(key: segment, end: offset)) }
    }
    if namesPriority {
      levels[levels.count - 1].priority = scalar
    } else {
      levels[levels.count - 1].scalar = scalar
    }
    remember(key)
  }

  /// The node of all rows taken; the builder is used up.
  mutating func finish() -> TreeNode {
    closeLevels(from: 1)
    return levels[0].node
  }

  /// Closes what `key` does not share with the key before it; returns where its news begin.
  private mutating func closeLevels(for key: Span<UInt8>) -> Int {
    var shared = 0
    let limit = min(key.count, lastKey.count)
    while shared < limit, key[shared] == lastKey[shared] { shared += 1 }
    var depth = levels.count
    while depth > 1, levels[depth - 1].end > shared { depth -= 1 }
    closeLevels(from: depth)
    return levels[depth - 1].end
  }

  private mutating func closeLevels(from depth: Int) {
    while levels.count > depth, let level = levels.popLast() {
      let node = level.node
      if !node.isEmpty { levels[levels.count - 1].children.append((level.key, node)) }
    }
  }

  private mutating func remember(_ key: Span<UInt8>) {
    lastKey.removeAll(keepingCapacity: true)
    for index in key.indices { lastKey.append(key[index]) }
  }
}
