/// New content for every leaf between two paths. Source: realtime reference, section 5.7.
///
/// The server sends it to a client that resumed a listen with a compound hash.
public struct TreeRangeMerge: Equatable, Sendable {
  /// The path behind which the range begins; `nil` at the first leaf.
  public let start: TreePath?

  /// The path of the last leaf of the range; `nil` at the last leaf there is.
  public let end: TreePath?

  /// The new contents of the range; everything there that the node lacks is deleted.
  public let node: TreeNode

  /// Describes new content for the leaves behind `start` up to and with `end`.
  public init(start: TreePath?, end: TreePath?, node: TreeNode) {
    self.start = start
    self.end = end
    self.node = node
  }
}

extension TreeNode {
  /// This node after each of `merges`, whose paths count from here.
  ///
  /// The merges must be in order and must not overlap, as ``rangeMerges(for:)`` returns them.
  public func applying(_ merges: [TreeRangeMerge]) -> TreeNode {
    merges.reduce(self) { $1.apply(to: $0, with: $1.node, at: .root) }
  }

  /// Returns the merges that turn the node that `hash` was taken of into this one.
  ///
  /// - Returns: The ranges that differ, in order, or `nil` when ranges cannot express the
  ///   difference and the whole node has to be sent.
  ///
  /// The hash comes from a client and is not trusted: posts that do not ascend, or that do not fit
  /// the number of hashes, give `nil`.
  ///
  /// - Complexity: O(*n*) in the leaves of this node.
  public func rangeMerges(for hash: TreeCompoundHash) -> [TreeRangeMerge]? {
    guard hash.hashes.count == hash.posts.count + 1 else { return nil }
    for (post, next) in zip(hash.posts, hash.posts.dropFirst()) where !(post < next) { return nil }
    var comparison = RangeComparison(hash)
    forEachLeaf { path, leaf in comparison.add(leaf, at: TreePath(unchecked: path)) }
    return comparison.finish()
  }
}

extension TreeRangeMerge {
  /// Returns `current`, at `path`, after the merge, which has `update` there.
  ///
  /// Three cases end the recursion: the path lies inside the range and is replaced as a whole, it
  /// is the end itself, or it lies outside and is kept. A path that contains an end of the range is
  /// merged child by child.
  fileprivate func apply(to current: TreeNode, with update: TreeNode, at path: TreePath) -> TreeNode
  {
    let isAfterStart = start.map { $0 < path } ?? true
    let isBeforeEnd = end.map { path < $0 } ?? true
    let holdsStart = start.map { path.contains($0) } ?? false
    let holdsEnd = end.map { path.contains($0) } ?? false
    if isAfterStart, isBeforeEnd && !holdsEnd || holdsEnd && update.isLeaf { return update }
    // Children of the end lie behind it and are kept; a leaf at the end is replaced by nothing.
    if isAfterStart, path == end { return current.isLeaf ? .empty : current }
    guard holdsStart || holdsEnd else { return current }
    return applyBelow(current, update, path)
  }

  private func applyBelow(_ current: TreeNode, _ update: TreeNode, _ path: TreePath) -> TreeNode {
    var result = current
    func merge(_ key: TreeKey) {
      let old = current.child(key)
      let new = apply(to: old, with: update.child(key), at: path.appending(key))
      if new != old { result.setChild(key, new) }
    }
    mergedKeys(current, update, at: path).forEach(merge)
    // Last, because a priority needs children to belong to; that of a leaf is part of the leaf.
    if !result.isLeaf, current.priority != nil || update.priority != nil { merge(.priority) }
    return result
  }

  /// Returns the keys that the merge can change below a path which contains an end of the range, in
  /// key order: those from the start through the end, in either node.
  ///
  /// A wide node has few of them in each range, and is merged once for each range that differs.
  /// - Complexity: O(*m* log *n*) for *m* keys of *n* children.
  func mergedKeys(_ current: TreeNode, _ update: TreeNode, at path: TreePath) -> [TreeKey] {
    let lower = key(of: start, below: path)
    let upper = key(of: end, below: path)
    let keys = current.children.keys(from: lower, through: upper)
    return Set(keys).union(update.children.keys(from: lower, through: upper)).sorted()
  }

  /// Returns the child of `path` that contains an end of the range; `nil` when none does.
  private func key(of end: TreePath?, below path: TreePath) -> TreeKey? {
    guard let end, path.count < end.count, path.contains(end) else { return nil }
    return end.keys[path.count]
  }
}

extension ChildMap {
  /// Returns the keys from `lower` through `upper`, in order; `nil` is without a limit.
  fileprivate func keys(from lower: TreeKey?, through upper: TreeKey?) -> [TreeKey] {
    let start = lower.map { rank(of: $0) } ?? 0
    let end = upper.map { rank(of: $0) + (self[$0] == nil ? 0 : 1) } ?? count
    return start < end ? self[start..<end].map(\.key) : []
  }
}

/// Holds this side's leaves against the hashes of the other side, range by range.
///
/// It sees the leaves in order, one by one, and closes a range at each post that it passes.
private struct RangeComparison {
  private let hash: TreeCompoundHash
  private var index = 0
  private var text = LeafRangeText()
  private var leaves: [(path: TreePath, leaf: TreeNode)] = []
  private var merges: [TreeRangeMerge] = []
  /// False once a range holds a priority without any child of its node.
  private var isExpressible = true

  init(_ hash: TreeCompoundHash) {
    self.hash = hash
  }

  mutating func add(_ leaf: TreeNode, at path: TreePath) {
    while index < hash.posts.count, hash.posts[index] < path { closeRange() }
    text.append(leaf, at: path.keys)
    leaves.append((path, leaf))
  }

  mutating func finish() -> [TreeRangeMerge]? {
    while index < hash.hashes.count { closeRange() }
    return isExpressible ? merges : nil
  }

  /// Compares the hash of the finished range, and keeps its content if the other side's differs.
  private mutating func closeRange() {
    if text.hash != hash.hashes[index] {
      merges.append(
        TreeRangeMerge(
          start: index > 0 ? hash.posts[index - 1] : nil,
          end: index < hash.posts.count ? hash.posts[index] : nil, node: content()))
    }
    text = LeafRangeText()
    leaves.removeAll()
    index += 1
  }

  /// Builds the node of the finished range: values first, because a priority needs a node to belong
  /// to.
  private mutating func content() -> TreeNode {
    var node = TreeNode.empty
    for (path, leaf) in leaves where !path.namesPriority { node.setNode(leaf, at: path) }
    for (path, leaf) in leaves where path.namesPriority {
      node.setNode(leaf, at: path)
      // The priority of a node whose children all lie in other ranges has nothing to cling to.
      if node.node(at: path).isEmpty { isExpressible = false }
    }
    return node
  }
}
