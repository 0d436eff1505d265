public import TernCore

extension TreeQuery {
  /// The window after one child of the source changed, worked out from the window alone.
  ///
  /// - Parameters:
  ///   - window: The window before, of a source that was known completely.
  ///   - key: The child that changed.
  ///   - node: Its new node; empty when it was removed.
  /// - Returns: `nil` when a child from outside may have to move in: ask ``window(of:)`` then.
  /// - Complexity: O(limit). Source: realtime reference, section 3.6.
  public func window(
    _ window: TreeNode, settingChild key: TreeKey, to node: TreeNode
  ) -> TreeNode? {
    var result = window
    if loadsAllData {
      result.setChild(key, node)
      return result
    }
    let old = window.child(key)
    let belongs = !node.isEmpty && contains(key: key, node: node)
    // A window that is not full holds all there is in range.
    guard let limit, window.childCount >= limit.count else {
      result.setChild(key, belongs ? node : .empty)
      return result
    }
    if old.isEmpty {
      guard belongs, let last = outermost(of: window.children, limit.side) else { return window }
      let row = TreeRow((key, node), order)
      guard isInside(row, of: last, limit.side) else { return window }
      result.setChild(last.key, .empty)
      result.setChild(key, node)
      return result
    }
    guard belongs, staysInside(key, old, node, window, limit.side) else { return nil }
    result.setChild(key, node)
    return result
  }

  /// Returns true when a member of a full window that changes cannot end up behind one outside of
  /// it.
  ///
  /// Only a member that stays better than the outermost one is safe: a child outside of the window
  /// may lie anywhere behind that one.
  private func staysInside(
    _ key: TreeKey, _ old: TreeNode, _ new: TreeNode, _ window: TreeNode, _ side: TreeLimit.Side
  ) -> Bool {
    let before = TreeRow((key, old), order)
    let after = TreeRow((key, new), order)
    if !isInside(before, of: after, side) { return true }
    guard let last = outermost(of: window.children, side), last.key != key else { return false }
    return isInside(after, of: last, side)
  }

  /// Returns true when `row` is nearer than `other` to the side the window is counted from.
  private func isInside(_ row: TreeRow, of other: TreeRow, _ side: TreeLimit.Side) -> Bool {
    side == .first ? row.precedes(other) : other.precedes(row)
  }

  /// The member that has to go when a better one comes.
  ///
  /// - Complexity: O(window).
  private func outermost(of children: ChildMap, _ side: TreeLimit.Side) -> TreeRow? {
    var outermost: TreeRow?
    for child in children {
      let row = TreeRow(child, order)
      if let last = outermost, !isInside(last, of: row, side) { continue }
      outermost = row
    }
    return outermost
  }
}
