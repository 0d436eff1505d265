/// One page of a ``ChildMap``: children, or the pages below.
///
/// Arrays bring both halves of persistence: a copy is shared until one side changes it, and an
/// array with a single owner is edited in place.
///
/// All leaves of a map are at the same depth. No page of a map is empty, except for the root of an
/// empty one.
enum ChildPage: Sendable {
  case leaf([ChildMap.Element])
  case branch([Slot])

  /// A page seen from above.
  struct Slot: Sendable {
    var page: ChildPage
    /// At or above the last key of `page`, below the first key of the next page.
    var last: TreeKey
    var count: Int

    init(page: ChildPage, last: TreeKey) {
      self.page = page
      self.last = last
      count = page.count
    }
  }

  /// The most children of a leaf: few enough to copy on every change of a shared map, and enough to
  /// keep the tree flat.
  static let leafCapacity = 32
  /// The most pages below a branch. Slots are smaller than children, and branches change less often
  /// than leaves.
  static let branchCapacity = 64

  var count: Int {
    switch self {
    case .leaf(let elements): elements.count
    case .branch(let slots): slots.reduce(0) { $0 + $1.count }
    }
  }

  /// Returns the child of a name, or `nil`. O(log *n*).
  func find(_ key: TreeKey) -> TreeNode? {
    switch self {
    case .leaf(let elements):
      let index = ChildPage.position(of: key, in: elements)
      return index < elements.count && elements[index].key == key ? elements[index].node : nil
    case .branch(let slots):
      let index = ChildPage.position(of: key, in: slots)
      return index < slots.count ? slots[index].page.find(key) : nil
    }
  }

  /// The index of the first child at or after `key`.
  static func position(of key: TreeKey, in elements: [ChildMap.Element]) -> Int {
    var low = 0
    var high = elements.count
    while low < high {
      let middle = (low + high) / 2
      if elements[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The index of the first page that may hold `key` or something after it.
  static func position(of key: TreeKey, in slots: [Slot]) -> Int {
    var low = 0
    var high = slots.count
    while low < high {
      let middle = (low + high) / 2
      if slots[middle].last < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Compares addresses, not contents; false says nothing.
  func isIdentical(to other: ChildPage) -> Bool {
    switch (self, other) {
    case (.leaf(let a), .leaf(let b)): a.hasSameStorage(as: b)
    case (.branch(let a), .branch(let b)): a.hasSameStorage(as: b)
    case (.leaf, .branch), (.branch, .leaf): false
    }
  }
}

extension Array {
  /// Returns true when both arrays are one piece of memory.
  @inline(__always)
  func hasSameStorage(as other: [Element]) -> Bool {
    unsafe count == other.count
      && withUnsafeBufferPointer { left in
        unsafe other.withUnsafeBufferPointer { right in
          unsafe left.baseAddress == right.baseAddress
        }
      }
  }
}

// MARK: - Building

extension ChildPage {
  /// Builds the pages over ascending children, filling each evenly.
  static func build(_ elements: [ChildMap.Element]) -> ChildPage {
    guard elements.count > leafCapacity else { return .leaf(elements) }
    return build(
      over: chunks(of: elements.count, capacity: leafCapacity).map { range in
        Slot(page: .leaf(Array(elements[range])), last: elements[range.upperBound - 1].key)
      })
  }

  /// Builds the pages over pages of children.
  static func build(over leaves: [Slot]) -> ChildPage {
    var slots = leaves
    while slots.count > branchCapacity {
      slots = chunks(of: slots.count, capacity: branchCapacity).map { range in
        Slot(page: .branch(Array(slots[range])), last: slots[range.upperBound - 1].last)
      }
    }
    return .branch(slots)
  }

  /// Returns ranges that divide `count` elements into the fewest pages, of nearly equal size.
  private static func chunks(of count: Int, capacity: Int) -> [Range<Int>] {
    let pages = (count + capacity - 1) / capacity
    return (0..<pages).map { (count * $0 / pages)..<(count * ($0 + 1) / pages) }
  }
}
