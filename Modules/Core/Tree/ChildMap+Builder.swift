extension ChildMap {
  /// Makes a map of children that come one by one, in strictly ascending key order, none empty.
  ///
  /// It fills pages as they come, so that no list of all children is ever made.
  ///
  /// The order is not checked; a key out of order makes lookups fail later.
  package struct Builder: Sendable {
    /// The full pages so far.
    private var slots: [ChildPage.Slot] = []
    /// The page being filled, at most ``ChildPage/leafCapacity`` children.
    private var leaf: [Element] = []

    /// A builder that has room for `count` children; it takes more as well.
    package init(expecting count: Int = 0) {
      if count > 0 { leaf.reserveCapacity(Swift.min(count, ChildPage.leafCapacity)) }
    }

    /// True before the first child.
    package var isEmpty: Bool { leaf.isEmpty }

    /// The number of children so far.
    package var count: Int { slots.reduce(leaf.count) { $0 + $1.count } }

    /// Takes the next child.
    package mutating func append(_ key: TreeKey, _ node: TreeNode) {
      if leaf.count == ChildPage.leafCapacity {
        closeLeaf()
        leaf.reserveCapacity(ChildPage.leafCapacity)
      }
      leaf.append((key, node))
    }

    /// The map of all children taken.
    package consuming func finish() -> ChildMap {
      if slots.isEmpty { return ChildMap(root: .leaf(leaf)) }
      closeLeaf()
      return ChildMap(root: ChildPage.build(over: slots))
    }

    private mutating func closeLeaf() {
      guard let last = leaf.last else { return }
      let page = ChildPage.leaf(exchange(&leaf, with: []))
      slots.append(ChildPage.Slot(page: page, last: last.key))
    }
  }
}
