public import TernCore

/// A tree with a write applied to it, without touching the tree or copying it.
///
/// Answers come from the write where it says something, from the tree below elsewhere. Only where
/// a deletion may have taken the last child of a node are that node's children listed.
public struct ProposedSnapshot: RulesSnapshot {
  private let base: any RulesSnapshot
  private let changes: Changes
  /// The write, if it is of one node: most are, and then one look tells what it says of a place.
  private let only: TreeMerge.Entry?

  /// The changes at a node and below it.
  private struct Changes {
    var node: TreeNode?
    var priority: TreeScalar??
    var below: [TreeKey: Changes] = [:]

    /// True when anything is put, not only deleted.
    var adds: Bool {
      node.map { !$0.isEmpty } ?? below.contains { $0.value.adds }
    }

    /// The deletions that come before anything is put, and true when something is put then.
    var deletionsFirst: (changes: Changes, isCut: Bool) {
      if let node { return (node.isEmpty ? self : Changes(), !node.isEmpty) }
      var first = Changes()
      for (key, change) in below.sorted(by: { $0.key < $1.key }) {
        let (part, isCut) = change.deletionsFirst
        if part.node != nil || !part.below.isEmpty { first.below[key] = part }
        if isCut { return (first, true) }
      }
      return (first, false)
    }
  }

  /// Shows `base` with `assignments` applied.
  ///
  /// - Parameter assignments: Paths, counted from the root, none containing another; a path may
  ///   end in `.priority`. Server values are resolved already.
  public init(_ assignments: [TreeMerge.Entry], over base: any RulesSnapshot) {
    self.base = base
    only = assignments.count == 1 && !assignments[0].path.namesPriority ? assignments[0] : nil
    var changes = Changes()
    for assignment in assignments {
      Self.add(assignment.node, at: assignment.path.keys[...], to: &changes)
    }
    self.changes = changes
  }

  private init(_ changes: Changes, over base: any RulesSnapshot) {
    self.base = base
    only = nil
    self.changes = changes
  }

  private static func add(
    _ node: TreeNode, at keys: ArraySlice<TreeKey>, to changes: inout Changes
  ) {
    guard let key = keys.first else {
      changes.node = node
      return
    }
    if key.isPriority {
      changes.priority = .some(node.scalar)
    } else {
      add(node, at: keys.dropFirst(), to: &changes.below[key, default: Changes()])
    }
  }

  /// The effect of the write on a node.
  private enum Saying {
    /// It replaced the node, or one above.
    case replaced(TreeNode)
    /// It changed the node's priority, or something below.
    case changed(Changes)
    case nothing
  }

  private func saying(at path: TreePath) -> Saying {
    if let only {
      let shared = min(path.count, only.path.count)
      for index in 0..<shared where path.keys[index] != only.path.keys[index] { return .nothing }
      if shared == only.path.count { return .replaced(only.node.node(along: path.keys[shared...])) }
    }
    return Self.saying(path.keys[...], changes)
  }

  private static func saying(_ keys: ArraySlice<TreeKey>, _ changes: Changes) -> Saying {
    if let node = changes.node { return .replaced(node.node(along: keys)) }
    guard let key = keys.first else { return .changed(changes) }
    guard let next = changes.below[key] else { return .nothing }
    return saying(keys.dropFirst(), next)
  }

  public func shape(at path: TreePath) throws(RulesDataError) -> RulesShape {
    switch saying(at: path) {
    case .replaced(let node): return RulesShape(node)
    case .nothing: return try base.shape(at: path)
    case .changed(let changes): return try shape(at: path, with: changes)
    }
  }

  private func shape(
    at path: TreePath, with changes: Changes
  ) throws(RulesDataError) -> RulesShape {
    if changes.adds { return .children }
    let shape = try base.shape(at: path)
    guard shape == .children, !changes.below.isEmpty else { return shape }
    return try children(at: path, after: nil, limit: 1).isEmpty ? .absent : .children
  }

  public func priority(at path: TreePath) throws(RulesDataError) -> TreeScalar? {
    switch saying(at: path) {
    case .replaced(let node): return node.priority
    case .nothing: return try base.priority(at: path)
    case .changed(let changes):
      guard try shape(at: path, with: changes) != .absent else { return nil }
      if let priority = changes.priority { return priority }
      return try loses(at: path, changes) ? nil : try base.priority(at: path)
    }
  }

  /// Returns true when the write empties a node before it puts something there again, which takes
  /// its priority: a write is carried out in the order of
  /// ``TreeMerge/entries``.
  private func loses(at path: TreePath, _ changes: Changes) throws(RulesDataError) -> Bool {
    var first = changes.deletionsFirst.changes
    if first.below.isEmpty { return false }
    for key in path.keys.reversed() { first = Changes(below: [key: first]) }
    return try ProposedSnapshot(first, over: base).shape(at: path) == .absent
  }

  public func children(
    at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild] {
    switch saying(at: path) {
    case .replaced(let node):
      return TreeNodeSnapshot(node).children(at: .root, after: key, limit: limit)
    case .nothing: return try base.children(at: path, after: key, limit: limit)
    case .changed(let changes):
      return try merged(changes, at: path, after: key, limit: limit)
    }
  }

  /// The children of the base with those of the write put in their places.
  private func merged(
    _ changes: Changes, at path: TreePath, after key: TreeKey?, limit: Int
  ) throws(RulesDataError) -> [RulesChild] {
    var written = changes.below.keys.filter { candidate in key.map { $0 < candidate } ?? true }
    written.sort(by: >)
    var result: [RulesChild] = []
    var last = key
    while result.count < limit {
      let page = try base.children(at: path, after: last, limit: limit)
      var unchanged = page[...]
      while result.count < limit, let next = nextKey(&unchanged, &written, page, limit) {
        if let child = next.child {
          result.append(child)
        } else {
          let shape = try shape(at: path.appending(next.key))
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
    _ unchanged: inout ArraySlice<RulesChild>, _ written: inout [TreeKey], _ page: [RulesChild],
    _ limit: Int
  ) -> (key: TreeKey, child: RulesChild?)? {
    guard let child = unchanged.first else {
      if page.count == limit { return nil }
      return written.popLast().map { ($0, nil) }
    }
    guard let key = written.last, !(child.key < key) else {
      unchanged.removeFirst()
      return (child.key, child)
    }
    written.removeLast()
    if key == child.key { unchanged.removeFirst() }
    return (key, nil)
  }
}
