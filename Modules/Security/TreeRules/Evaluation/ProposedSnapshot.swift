public import TernCore

/// A tree with a write applied to it, without touching the tree or copying it.
///
/// Answers come from the write where it says something, from the tree below elsewhere. Only where
/// a deletion may have taken the last child of a node are that node's children listed. Answers are
/// kept: a value of this type serves one judgement.
public struct ProposedSnapshot: RulesSnapshot {
  /// The most children of the tree that are listed at a time.
  ///
  /// The page bounds the memory of one listing, whatever the number of children.
  private static let pageRows = 256

  private let base: any RulesSnapshot
  private let changes: ProposedChange
  /// The write, if it is of one node: most are, and then one look tells what it says of a place.
  ///
  /// A path that ends in `.priority` replaces no node and takes the general way.
  private let only: TreeMerge.Entry?
  /// The count of listed rows: a class, because answers are given by methods that do not mutate the
  /// snapshot.
  private let meter = RowMeter()

  /// A count of the rows that were listed.
  private final class RowMeter {
    var rows = 0
  }

  public var listedRows: Int { meter.rows }

  /// Shows `base` with `assignments` applied.
  ///
  /// - Parameter assignments: Paths, counted from the root, none containing another; a path may
  ///   end in `.priority`. Server values are resolved already.
  public init(_ assignments: [TreeMerge.Entry], over base: any RulesSnapshot) {
    self.base = base
    only = assignments.count == 1 && !assignments[0].path.namesPriority ? assignments[0] : nil
    changes = ProposedChange()
    for assignment in assignments {
      changes.add(assignment.node, at: assignment.path.keys[...])
    }
  }

  /// The effect of the write on a node.
  private enum Saying {
    /// It replaced the node, or one above.
    case replaced(TreeNode)
    /// It changed the node's priority, or something below.
    case changed(ProposedChange)
    case nothing
  }

  /// Returns the effect of the write on the node at `path`.
  ///
  /// The single-path fast way compares keys directly. Otherwise, the trie is followed until a
  /// replaced node or a key without changes is met; the cost is linear in the length of the path.
  private func saying(at path: TreePath) -> Saying {
    if let only {
      let shared = min(path.count, only.path.count)
      for index in 0..<shared where path.keys[index] != only.path.keys[index] { return .nothing }
      if shared == only.path.count { return .replaced(only.node.node(along: path.keys[shared...])) }
    }
    var change = changes
    for (index, key) in path.keys.enumerated() {
      if let node = change.node { return .replaced(node.node(along: path.keys[index...])) }
      guard let next = change.below[key] else { return .nothing }
      change = next
    }
    return change.node.map { .replaced($0) } ?? .changed(change)
  }

  public func shape(at path: TreePath) throws(RulesDataError) -> RulesShape {
    switch saying(at: path) {
    case .replaced(let node): return RulesShape(node)
    case .nothing: return try base.shape(at: path)
    case .changed(let change): return try shape(at: path, with: change)
    }
  }

  /// Returns the shape of a node that the write changes below itself, from the memo if possible.
  private func shape(
    at path: TreePath, with change: ProposedChange
  ) throws(RulesDataError) -> RulesShape {
    if let known = change.knownShape { return known }
    let shape = try newShape(at: path, with: change)
    change.knownShape = shape
    return shape
  }

  /// Works out the shape of a changed node. An addition anywhere below makes it a parent at once.
  /// Otherwise the write only deletes, and the node disappears if no child survives.
  private func newShape(
    at path: TreePath, with change: ProposedChange
  ) throws(RulesDataError) -> RulesShape {
    if let node = change.node { return RulesShape(node) }
    if change.adds { return .children }
    let shape = try base.shape(at: path)
    guard shape == .children, !change.below.isEmpty else { return shape }
    let isKept = try keepsChild(of: path, change) { _, path, next throws(RulesDataError) in
      try self.shape(at: path, with: next) == .absent
    }
    return isKept ? .children : .absent
  }

  /// Returns true when a child of the base is not gone after the write, or a part of it.
  ///
  /// - Parameter isGone: Answers for a child that the write changes.
  ///
  /// It lists children page by page and stops at the first survivor, so the usual cost is one page
  /// of at most the number of changed children plus one.
  private func keepsChild(
    of path: TreePath, _ change: ProposedChange,
    _ isGone: (TreeKey, TreePath, ProposedChange) throws(RulesDataError) -> Bool
  ) throws(RulesDataError) -> Bool {
    // Only changed children are gone: one child more suffices for an answer.
    let limit = min(change.below.count + 1, Self.pageRows)
    var last: TreeKey?
    while true {
      let page = try base.children(at: path, after: last, limit: limit)
      meter.rows += page.count
      for child in page {
        guard let next = change.below[child.key] else { return true }
        if !(try isGone(child.key, path.appending(child.key), next)) { return true }
      }
      guard page.count == limit else { return false }
      last = page.last?.key
    }
  }

  public func priority(at path: TreePath) throws(RulesDataError) -> TreeScalar? {
    switch saying(at: path) {
    case .replaced(let node): return node.priority
    case .nothing: return try base.priority(at: path)
    case .changed(let change):
      if let known = change.knownPriority { return known }
      let priority = try newPriority(at: path, with: change)
      change.knownPriority = .some(priority)
      return priority
    }
  }

  /// Works out the priority of a changed node. An absent node has none. A node that the write
  /// empties on the way loses its old priority even when it exists again at the end.
  private func newPriority(
    at path: TreePath, with change: ProposedChange
  ) throws(RulesDataError) -> TreeScalar? {
    guard try shape(at: path, with: change) != .absent else { return nil }
    if let priority = change.priority { return priority }
    return try isEmptied(at: path, change) ? nil : try base.priority(at: path)
  }

  /// Returns true when the write empties a node before it puts something there again, which takes
  /// its priority: a write is carried out entry by entry.
  private func isEmptied(
    at path: TreePath, _ change: ProposedChange
  ) throws(RulesDataError) -> Bool {
    if let known = change.isEmptied { return known }
    let isEmptied: Bool
    if let node = change.node, node.isEmpty {
      isEmptied = true
    } else {
      switch try base.shape(at: path) {
      case .absent: isEmptied = true
      case .leaf: isEmptied = false
      case .children where change.node != nil || change.below.isEmpty: isEmptied = false
      case .children:
        // What comes behind the first addition is still there when something is put again.
        let end = change.firstAdded
        isEmptied =
          !(try keepsChild(of: path, change) { key, path, next throws(RulesDataError) in
            if let end, end < key { return false }
            return try self.isEmptied(at: path, next)
          })
      }
    }
    change.isEmptied = isEmptied
    return isEmptied
  }

  public func children(
    at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild] {
    switch saying(at: path) {
    case .replaced(let node):
      return TreeNodeSnapshot(node).children(at: .root, after: key, limit: limit)
    case .nothing: return try base.children(at: path, after: key, limit: limit)
    case .changed(let change):
      return try merged(change, at: path, after: key, limit: limit)
    }
  }

  /// The children of the base with those of the write put in their places.
  private func merged(
    _ change: ProposedChange, at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild] {
    var written = change.keys(after: key)
    var result: [RulesChild] = []
    var last = key
    while result.count < limit {
      let page = try base.children(at: path, after: last, limit: limit)
      meter.rows += page.count
      var unchanged = page[...]
      while result.count < limit, let next = nextKey(&unchanged, &written, page, limit) {
        if let child = next.child {
          result.append(child)
        } else if let changed = change.below[next.key] {
          meter.rows += 1
          let shape = try shape(at: path.appending(next.key), with: changed)
          if shape != .absent { result.append(RulesChild(key: next.key, shape: shape)) }
        }
      }
      guard page.count == limit else { break }
      last = page.last?.key
    }
    return result
  }

  /// Takes the lesser of the next child of the base and the next written key; a written key
  /// hides the child of its name. `nil` when the page is used up and another one follows.
  private func nextKey(
    _ unchanged: inout ArraySlice<RulesChild>, _ written: inout ArraySlice<TreeKey>,
    _ page: [RulesChild], _ limit: Int
  ) -> (key: TreeKey, child: RulesChild?)? {
    guard let child = unchanged.first else {
      if page.count == limit { return nil }
      return written.popFirst().map { ($0, nil) }
    }
    guard let key = written.first, !(child.key < key) else {
      unchanged.removeFirst()
      return (child.key, child)
    }
    written.removeFirst()
    if key == child.key { unchanged.removeFirst() }
    return (key, nil)
  }
}
