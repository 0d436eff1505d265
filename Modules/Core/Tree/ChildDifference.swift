/// Walks two versions of a ``ChildMap`` side by side and reports where they differ.
///
/// Pages that both versions share are skipped by identity, so the walk costs what changed and
/// not what is there.
///
/// Absent children are reported as empty nodes, in key order. The comparison of two pages in memory
/// is a comparison of addresses; only pages that differ are read.
enum ChildDifference {
  /// Hears of one difference; answers whether to go on.
  typealias Visitor = (TreeKey, _ old: TreeNode, _ new: TreeNode) -> Bool

  /// Returns `false` as soon as `visitor` does, `true` at the end.
  ///
  /// - Parameters:
  ///   - old: The root page of the older version.
  ///   - new: The root page of the newer version.
  ///   - visitor: Called for each difference; false ends the walk.
  static func visit(old: ChildPage, new: ChildPage, _ visitor: Visitor) -> Bool {
    if old.isIdentical(to: new) { return true }
    if case .leaf(let a) = old, case .leaf(let b) = new { return visit(a, b, visitor) }
    let height = max(old.height, new.height)
    return visit(old.slots(atHeight: height), new.slots(atHeight: height), visitor)
  }

  /// Pairs runs of pages that cover the same keys, and descends into each pair.
  private static func visit(
    _ old: [ChildPage.Slot], _ new: [ChildPage.Slot], _ visitor: Visitor
  ) -> Bool {
    var i = 0
    var j = 0
    while i < old.count, j < new.count {
      if old[i].page.isIdentical(to: new[j].page) {
        i += 1
        j += 1
        continue
      }
      let (endI, endJ) = endOfRun(old, i, new, j)
      guard descend(old[i..<endI], new[j..<endJ], visitor) else { return false }
      (i, j) = (endI, endJ)
    }
    return descend(old[i...], new[j...], visitor)
  }

  /// The shortest runs from `i` and `j` on that end with the same last key.
  private static func endOfRun(
    _ old: [ChildPage.Slot], _ i: Int, _ new: [ChildPage.Slot], _ j: Int
  ) -> (Int, Int) {
    var i = i
    var j = j
    while i < old.count, j < new.count {
      let order = old[i].last.compare(new[j].last)
      if order == 0 { return (i + 1, j + 1) }
      if order < 0 { i += 1 } else { j += 1 }
    }
    return (old.count, new.count)
  }

  /// Continues one level below a pair of runs. Either run may be empty, which reports all of the
  /// other as added or removed.
  private static func descend(
    _ old: ArraySlice<ChildPage.Slot>, _ new: ArraySlice<ChildPage.Slot>, _ visitor: Visitor
  ) -> Bool {
    if old.isEmpty && new.isEmpty { return true }
    let page = (old.first ?? new.first)?.page
    if case .branch = page {
      return visit(old.flatMap { $0.page.slots }, new.flatMap { $0.page.slots }, visitor)
    }
    return visit(old.flatMap { $0.page.elements }, new.flatMap { $0.page.elements }, visitor)
  }

  private static func visit(
    _ old: [ChildMap.Element], _ new: [ChildMap.Element], _ visitor: Visitor
  ) -> Bool {
    var i = 0
    var j = 0
    while i < old.count || j < new.count {
      let order: Int
      if i == old.count {
        order = 1
      } else if j == new.count {
        order = -1
      } else {
        order = old[i].key.compare(new[j].key)
      }
      if order < 0 {
        guard visitor(old[i].key, old[i].node, .empty) else { return false }
      } else if order > 0 {
        guard visitor(new[j].key, .empty, new[j].node) else { return false }
      } else if old[i].node != new[j].node {
        guard visitor(new[j].key, old[i].node, new[j].node) else { return false }
      }
      if order <= 0 { i += 1 }
      if order >= 0 { j += 1 }
    }
    return true
  }
}

extension ChildPage {
  fileprivate var slots: [Slot] {
    if case .branch(let slots) = self { return slots }
    return []
  }

  fileprivate var elements: [ChildMap.Element] {
    if case .leaf(let elements) = self { return elements }
    return []
  }

  /// The number of branches above the leaves.
  fileprivate var height: Int {
    guard case .branch(let slots) = self, let first = slots.first else { return 0 }
    return 1 + first.page.height
  }

  /// The page's slots, below as many single-page branches as it takes to reach `height`.
  ///
  /// Roots of different heights are brought to one height first, so that pages of one level meet.
  fileprivate func slots(atHeight height: Int) -> [Slot] {
    if height == self.height, height > 0 { return slots }
    guard let last = lastKey else { return [] }
    var page = self
    for _ in 1..<max(height - self.height, 1) {
      page = .branch([Slot(page: page, last: last)])
    }
    return [Slot(page: page, last: last)]
  }

  private var lastKey: TreeKey? {
    switch self {
    case .leaf(let elements): elements.last?.key
    case .branch(let slots): slots.last?.last
    }
  }
}
