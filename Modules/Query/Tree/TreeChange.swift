public import TernCore

/// One thing that happened to a node or one of its children, as a listener hears it.
///
/// Previous keys refer to the final state of the step, so one may name a child whose own event
/// comes later in the list.
public struct TreeChange: Equatable, Sendable {
  /// The kind of change. Source: realtime reference, section 4.1.
  public enum Kind: Hashable, Sendable {
    /// Events of one child, and the event of the whole value.
    case removed, added, moved, changed, value
  }

  /// The kind of change.
  public let kind: Kind

  /// The child; `nil` for ``Kind/value``.
  public let key: TreeKey?

  /// The child's old node for ``Kind/removed``, its new one else; the whole for ``Kind/value``.
  public let node: TreeNode

  /// The key of the child before it in the final state; `nil` if it is first, and for
  /// ``Kind/removed`` and ``Kind/value``.
  public let previousKey: TreeKey?

  /// Describes one change.
  public init(_ kind: Kind, key: TreeKey?, node: TreeNode, previousKey: TreeKey? = nil) {
    self.kind = kind
    self.key = key
    self.node = node
    self.previousKey = previousKey
  }
}

/// Returns the events for a listener of `query` when its window goes from `old` to `new`.
///
/// All removed, then added, moved, changed, each group in query order; no ``TreeChange/Kind/value``
/// (see ``hasValueChange(from:to:)``). Previous keys are those of the final state.
/// - Parameters:
///   - old: The window before, as ``TreeQuery/window(of:)`` gives it.
///   - new: The window after.
/// - Complexity: O(changes · log *n*) in key order; else O(*n* log changes).
///   Source: realtime reference, section 4.2.
public func changes(
  from old: TreeNode, to new: TreeNode, query: TreeQuery
) -> [TreeChange] {
  var found = FoundChanges(order: query.order)
  new.children.forEachDifference(from: old.children) { key, before, after in
    found.add(key, before, after)
  }
  return found.list(in: new.children)
}

/// Returns the events for a new listener of `query` with an existing window: every child, added.
///
/// - Parameters:
///   - window: The window, as ``TreeQuery/window(of:)`` gives it.
///   - query: The query whose order the children come in.
public func initialChanges(of window: TreeNode, query: TreeQuery) -> [TreeChange] {
  var previous: TreeKey?
  return query.ordered(window).map { key, node in
    defer { previous = key }
    return TreeChange(.added, key: key, node: node, previousKey: previous)
  }
}

/// Returns true when a value listener gets an event for the step from `old` to `new` between
/// complete windows.
public func hasValueChange(from old: TreeNode, to new: TreeNode) -> Bool {
  old != new
}

/// The changes of one step, sorted into groups.
///
/// A child that moved is in two groups: it gets a moved and a changed event.
private struct FoundChanges {
  let order: TreeOrder
  var removed: [TreeRow] = []
  var added: [TreeRow] = []
  var moved: [TreeRow] = []
  var changed: [TreeRow] = []

  init(order: TreeOrder) {
    self.order = order
  }

  /// Sorts one difference into its group; an empty node stands for an absent child.
  mutating func add(_ key: TreeKey, _ old: TreeNode, _ new: TreeNode) {
    if new.isEmpty {
      removed.append(TreeRow((key, old), order))
    } else if old.isEmpty {
      added.append(TreeRow((key, new), order))
    } else {
      let row = TreeRow((key, new), order)
      if order.isMoved(from: old, to: new) { moved.append(row) }
      changed.append(row)
    }
  }

  /// Returns the events in their final order. Each group is sorted by the new rows, removals by the
  /// old ones.
  func list(in children: ChildMap) -> [TreeChange] {
    let previous = PreviousKeys(of: added + changed, in: children, order)
    var list = TreeRow.sorted(removed).map {
      TreeChange(.removed, key: $0.key, node: $0.element.node)
    }
    for (kind, rows) in [(TreeChange.Kind.added, added), (.moved, moved), (.changed, changed)] {
      for (key, node) in TreeRow.sorted(rows).map(\.element) {
        list.append(TreeChange(kind, key: key, node: node, previousKey: previous[key]))
      }
    }
    return list
  }
}

/// The key before each of some children, found in one pass.
///
/// In key order each previous key is one lookup. In other orders one pass over all children finds,
/// for each target, the greatest row below it.
private struct PreviousKeys {
  private var keys: [TreeKey: TreeKey] = [:]

  init(of rows: [TreeRow], in children: ChildMap, _ order: TreeOrder) {
    if rows.isEmpty { return }
    if order == .key || order == .priority && !children.hasPriorities {
      for row in rows { keys[row.key] = children.last(before: row.key)?.key }
      return
    }
    let targets = rows.sorted { $0.precedes($1) }
    var best = [TreeRow?](repeating: nil, count: targets.count)
    for child in children {
      let row = TreeRow(child, order)
      let index = PreviousKeys.firstTarget(after: row, targets)
      guard index < targets.count else { continue }
      if let old = best[index], !old.precedes(row) { continue }
      best[index] = row
    }
    for (target, row) in zip(targets, best) { keys[target.key] = row?.key }
  }

  subscript(key: TreeKey) -> TreeKey? { keys[key] }

  /// The index of the first target that sorts after `row`.
  private static func firstTarget(after row: TreeRow, _ targets: [TreeRow]) -> Int {
    var low = 0
    var high = targets.count
    while low < high {
      let middle = (low + high) / 2
      if row.precedes(targets[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
