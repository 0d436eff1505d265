extension ChildMap {
  /// The child with the smallest key.
  public var first: Element? { root.edge(last: false) }

  /// The child with the largest key.
  public var last: Element? { root.edge(last: true) }

  /// The child with the smallest key above `key`. O(log *n*).
  public func first(after key: TreeKey) -> Element? {
    let index = rank(of: key)
    let next = self[key] == nil ? index : index + 1
    return next < count ? element(at: next) : nil
  }

  /// The child with the largest key below `key`. O(log *n*).
  public func last(before key: TreeKey) -> Element? {
    let index = rank(of: key)
    return index > 0 ? element(at: index - 1) : nil
  }

  /// The number of children whose key is below `key`. O(log *n*).
  package func rank(of key: TreeKey) -> Int {
    root.rank(of: key)
  }

  /// The child at a position in key order, 0..<`count`. O(log *n*).
  package func element(at index: Int) -> Element {
    root.element(at: index)
  }

  /// The children whose positions in key order are in `range`.
  package subscript(range: Range<Int>) -> [Element] {
    guard !range.isEmpty else { return [] }
    var elements: [Element] = []
    elements.reserveCapacity(range.count)
    root.append(range, to: &elements)
    return elements
  }

  /// The children in descending key order.
  public func reversed() -> ReversedChildren {
    ReversedChildren(children: self)
  }
}

extension ChildPage {
  fileprivate func edge(last: Bool) -> ChildMap.Element? {
    switch self {
    case .leaf(let elements): last ? elements.last : elements.first
    case .branch(let slots): (last ? slots.last : slots.first)?.page.edge(last: last)
    }
  }

  /// Counts of slots let whole pages be skipped.
  fileprivate func rank(of key: TreeKey) -> Int {
    switch self {
    case .leaf(let elements):
      return ChildPage.position(of: key, in: elements)
    case .branch(let slots):
      let index = ChildPage.position(of: key, in: slots)
      let before = slots[..<index].reduce(0) { $0 + $1.count }
      return index < slots.count ? before + slots[index].page.rank(of: key) : before
    }
  }

  /// - Precondition: The position is in 0..<`count`.
  fileprivate func element(at index: Int) -> ChildMap.Element {
    switch self {
    case .leaf(let elements):
      return elements[index]
    case .branch(let slots):
      var rest = index
      for slot in slots {
        if rest < slot.count { return slot.page.element(at: rest) }
        rest -= slot.count
      }
      preconditionFailure("a position must lie in 0..<count")
    }
  }

  /// Visits only the pages that the range overlaps.
  fileprivate func append(_ range: Range<Int>, to elements: inout [ChildMap.Element]) {
    switch self {
    case .leaf(let own):
      elements.append(contentsOf: own[range])
    case .branch(let slots):
      var start = 0
      for slot in slots where start < range.upperBound {
        let low = max(range.lowerBound - start, 0)
        let high = min(range.upperBound - start, slot.count)
        if low < high { slot.page.append(low..<high, to: &elements) }
        start += slot.count
      }
    }
  }
}
