extension ChildPage {
  /// The page split off to the right, and the last key that stayed on the left.
  typealias Split = (right: Slot, leftLast: TreeKey)

  /// Edits one child; absent is empty before, and empty is absent after.
  ///
  /// - Returns: What was split off when the page grew past its capacity, else `nil`. The page
  ///   may be left empty; the caller removes it then.
  mutating func update(_ key: TreeKey, _ body: (inout TreeNode) -> Void) -> Split? {
    switch self {
    case .leaf(var elements):
      // The enum must let go of the array, or every edit would copy it.
      self = .leaf([])
      let split = ChildPage.update(&elements, key, body)
      self = .leaf(elements)
      return split
    case .branch(var slots):
      self = .leaf([])
      let split = ChildPage.update(&slots, key, body)
      self = .branch(slots)
      return split
    }
  }

  /// Edits one child of a leaf.
  ///
  /// A key in the middle splits a full leaf in halves. A key behind all others leaves the left page
  /// full, because lists mostly grow at their end.
  private static func update(
    _ elements: inout [ChildMap.Element], _ key: TreeKey, _ body: (inout TreeNode) -> Void
  ) -> Split? {
    let index = position(of: key, in: elements)
    if index < elements.count, elements[index].key == key {
      body(&elements[index].node)
      if elements[index].node.isEmpty { elements.remove(at: index) }
      return nil
    }
    var node = TreeNode.empty
    body(&node)
    if node.isEmpty { return nil }
    elements.insert((key, node), at: index)
    guard elements.count > leafCapacity else { return nil }
    let middle = splitPoint(count: elements.count, insertedAt: index)
    let right = Array(elements[middle...])
    elements.removeSubrange(middle...)
    return (Slot(page: .leaf(right), last: right[right.count - 1].key), elements[middle - 1].key)
  }

  /// Edits one child below a branch, and restores its slots: last keys, counts, a page that was
  /// split off, one that became empty or small.
  private static func update(
    _ slots: inout [Slot], _ key: TreeKey, _ body: (inout TreeNode) -> Void
  ) -> Split? {
    let index = min(position(of: key, in: slots), slots.count - 1)
    let split = slots[index].page.update(key, body)
    slots[index].count = slots[index].page.count
    if let split {
      var right = split.right
      if right.last < slots[index].last { right.last = slots[index].last }
      slots[index].last = split.leftLast
      slots.insert(right, at: index + 1)
    } else if slots[index].count == 0 {
      slots.remove(at: index)
      return nil
    } else {
      if slots[index].last < key { slots[index].last = key }
      mergeIfSmall(&slots, at: index)
    }
    guard slots.count > branchCapacity else { return nil }
    let middle = splitPoint(count: slots.count, insertedAt: index + 1)
    let right = Array(slots[middle...])
    slots.removeSubrange(middle...)
    return (Slot(page: .branch(right), last: right[right.count - 1].last), slots[middle - 1].last)
  }

  /// Splits in the middle, but leaves the left page full when children arrive in order.
  private static func splitPoint(count: Int, insertedAt index: Int) -> Int {
    index == count - 1 ? count - 1 : count / 2
  }

  /// Joins a page that has become small with a neighbour when both fit in one page.
  private static func mergeIfSmall(_ slots: inout [Slot], at index: Int) {
    guard slots.count > 1, slots[index].page.width * 4 < slots[index].page.capacity else { return }
    let left = index > 0 ? index - 1 : index
    switch (slots[left].page, slots[left + 1].page) {
    case (.leaf(let a), .leaf(let b)) where (a.count + b.count) * 4 <= leafCapacity * 3:
      slots[left] = Slot(page: .leaf(a + b), last: slots[left + 1].last)
    case (.branch(let a), .branch(let b)) where (a.count + b.count) * 4 <= branchCapacity * 3:
      slots[left] = Slot(page: .branch(a + b), last: slots[left + 1].last)
    default: return
    }
    slots.remove(at: left + 1)
  }

  /// The number of entries of this page itself.
  private var width: Int {
    switch self {
    case .leaf(let elements): elements.count
    case .branch(let slots): slots.count
    }
  }

  private var capacity: Int {
    switch self {
    case .leaf: ChildPage.leafCapacity
    case .branch: ChildPage.branchCapacity
    }
  }

  /// Drops levels that hold a single page.
  mutating func collapse() {
    while case .branch(let slots) = self, slots.count <= 1 {
      self = slots.first?.page ?? .leaf([])
    }
  }
}
