/// The children of one node in key order: a persistent B+tree with value semantics.
///
/// Copies share pages. A change copies the pages on the way to it, or edits them in place when no
/// other copy holds them. Nodes stored here are never empty.
public struct ChildMap: Sendable {
  /// A child and its name.
  public typealias Element = (key: TreeKey, node: TreeNode)

  var root: ChildPage

  /// Makes a map without children.
  public init() {
    root = .leaf([])
  }

  init(root: ChildPage) { self.root = root }

  /// Builds a map from children in strictly ascending key order, none of them empty.
  ///
  /// - Complexity: O(*n*).
  public init(sorted elements: [Element]) {
    root = ChildPage.build(elements)
  }

  /// Builds a map from children in any order; of equal keys the last wins, empty nodes are dropped.
  public init(unsorted elements: some Sequence<Element>) {
    var kept = Array(elements)
    if !ChildMap.isStrictlyAscending(kept) {
      // The standard sort is stable, so the last of equal keys stays last.
      kept.sort { $0.key < $1.key }
      var unique: [Element] = []
      unique.reserveCapacity(kept.count)
      for element in kept {
        if unique.last?.key == element.key { unique.removeLast() }
        unique.append(element)
      }
      kept = unique
    }
    kept.removeAll { $0.node.isEmpty }
    root = ChildPage.build(kept)
  }

  static func isStrictlyAscending(_ elements: [Element]) -> Bool {
    guard elements.count > 1 else { return true }
    for index in 1..<elements.count where !(elements[index - 1].key < elements[index].key) {
      return false
    }
    return true
  }

  /// The number of children.
  public var count: Int { root.count }

  /// True when there are no children.
  public var isEmpty: Bool {
    if case .leaf(let elements) = root { return elements.isEmpty }
    return false
  }

  /// The child named `key`, or `nil`. O(log *n*).
  public subscript(key: TreeKey) -> TreeNode? {
    root.find(key)
  }

  /// Sets the child named `key`; an empty node removes it. O(log *n*).
  public mutating func set(_ key: TreeKey, _ node: TreeNode) {
    update(key) { $0 = node }
  }

  /// Edits the child named `key` in place; absent is empty before, and empty is absent after.
  package mutating func update(_ key: TreeKey, _ body: (inout TreeNode) -> Void) {
    guard let (split, last) = root.update(key, body) else {
      root.collapse()
      return
    }
    let first = ChildPage.Slot(page: root, last: last)
    root = .branch([first, split])
  }

  /// Returns true when both are the same tree in memory, which makes them equal without a
  /// comparison.
  package func isIdentical(to other: ChildMap) -> Bool {
    root.isIdentical(to: other.root)
  }
}

extension ChildMap: Equatable {
  public static func == (left: ChildMap, right: ChildMap) -> Bool {
    if left.isIdentical(to: right) { return true }
    guard left.count == right.count else { return false }
    return ChildDifference.visit(old: left.root, new: right.root) { _, _, _ in false }
  }
}

extension ChildMap {
  /// Calls `body` for every key whose node differs from `old`, in key order; absent is empty.
  ///
  /// Pages shared by both maps are skipped unread.
  public func forEachDifference(
    from old: ChildMap, _ body: (TreeKey, _ old: TreeNode, _ new: TreeNode) -> Void
  ) {
    _ = ChildDifference.visit(old: old.root, new: root) { key, old, new in
      body(key, old, new)
      return true
    }
  }
}
