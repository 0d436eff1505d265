import TernCore
import TernQuery

// From what is effective to what is seen.
extension ReplicaView {
  /// More changed children than this, and the window is worked out anew.
  private static let stepLimit = 64

  func windowOfEffective() -> TreeNode {
    query.loadsAllData ? effective : query.window(of: effective)
  }

  /// Takes the changed children into the window; `nil` when any child may have changed.
  mutating func updateWindow(_ touched: [TreeKey]?) {
    if query.loadsAllData {
      window = effective
    } else if let touched, touched.count <= Self.stepLimit, !effective.isLeaf {
      for key in touched where !step(key) {
        // The next child in line is not known without looking at all of them.
        window = windowOfEffective()
        return
      }
    } else {
      window = windowOfEffective()
    }
  }

  /// Takes one changed child into the window.
  ///
  /// - Returns: Whether that was possible without looking at children outside.
  private mutating func step(_ key: TreeKey) -> Bool {
    let new = effective.child(key)
    let old = window.child(key)
    let fits = !new.isEmpty && query.contains(key: key, node: new)
    guard let limit = query.limit else {
      window.setChild(key, fits ? new : .empty)
      return true
    }
    if !old.isEmpty {
      window.setChild(key, fits ? new : .empty)
      let isBeyond = effective.childCount > window.childCount
      if !fits { return !isBeyond }
      guard isBeyond, query.order.isMoved(from: old, to: new) else { return true }
      return worst(limit)?.key != key
    }
    guard fits else { return true }
    if window.childCount >= limit.count {
      guard let worst = worst(limit) else { return false }
      let order = query.order.compare((key, new), worst)
      guard limit.side == .first ? order < 0 : order > 0 else { return true }
      window.setChild(worst.key, .empty)
    }
    window.setChild(key, new)
    return true
  }

  /// The child at the far end of the window. O(*window*) after each change of the window.
  private mutating func worst(_ limit: TreeLimit) -> ChildMap.Element? {
    if let farEnd { return farEnd }
    let order = query.order
    farEnd =
      limit.side == .first
      ? window.children.max { order.compare($0, $1) < 0 }
      : window.children.min { order.compare($0, $1) < 0 }
    return farEnd
  }
}
