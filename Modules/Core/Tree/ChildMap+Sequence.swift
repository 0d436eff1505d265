extension ChildMap: Sequence {
  /// Yields the children in ascending key order.
  public struct Iterator: IteratorProtocol {
    private var walk: ChildWalk

    fileprivate init(_ root: ChildPage) {
      walk = ChildWalk(root, descending: false)
    }

    public mutating func next() -> Element? { walk.next() }
  }

  public func makeIterator() -> Iterator { Iterator(root) }

  public var underestimatedCount: Int { count }
}

/// The children of one node in descending key order.
public struct ReversedChildren: Sequence, Sendable {
  let children: ChildMap

  /// Yields the children in descending key order.
  public struct Iterator: IteratorProtocol {
    private var walk: ChildWalk

    fileprivate init(_ root: ChildPage) {
      walk = ChildWalk(root, descending: true)
    }

    public mutating func next() -> ChildMap.Element? { walk.next() }
  }

  public func makeIterator() -> Iterator { Iterator(children.root) }

  public var underestimatedCount: Int { children.count }
}

/// A depth-first walk over the pages of a map, one leaf at a time.
///
/// It holds the pages it has yet to visit, so changes of the map during an iteration do not affect
/// it.
struct ChildWalk {
  private var leaf: [ChildMap.Element] = []
  private var index = 0
  /// The pages still to visit, the next one last.
  private var pending: [ChildPage]
  private let descending: Bool

  init(_ root: ChildPage, descending: Bool) {
    self.descending = descending
    if case .leaf(let elements) = root {
      leaf = elements
      pending = []
    } else {
      pending = [root]
    }
  }

  mutating func next() -> ChildMap.Element? {
    while index == leaf.count {
      guard openNextLeaf() else { return nil }
    }
    index += 1
    return descending ? leaf[leaf.count - index] : leaf[index - 1]
  }

  /// Moves to the next leaf; false at the end of the map.
  private mutating func openNextLeaf() -> Bool {
    while let page = pending.popLast() {
      switch page {
      case .leaf(let elements):
        leaf = elements
        index = 0
        return true
      case .branch(let slots):
        if descending {
          for slot in slots { pending.append(slot.page) }
        } else {
          for slot in slots.reversed() { pending.append(slot.page) }
        }
      }
    }
    return false
  }
}
