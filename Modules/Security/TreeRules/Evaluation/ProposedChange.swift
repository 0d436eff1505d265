import TernCore

/// The part of a write at one node and below it, with the answers about that node so far.
///
/// Rules ask about the same few nodes for every path of a request, and a write does not change
/// while it is judged: each answer is worked out once.
///
/// The changes of a request form a trie by key; ``ProposedSnapshot`` owns its root. It is a class
/// because the answers are filled in during reads. It is not thread-safe: one judgment uses it, on
/// one thread.
final class ProposedChange {
  /// The new node; `nil` when the write is of something below, or of the priority alone.
  private(set) var node: TreeNode?
  /// The new priority; `nil` when the write does not set it.
  private(set) var priority: TreeScalar??
  /// The parts of the write at children, by key; empty where ``node`` replaces everything.
  private(set) var below: [TreeKey: ProposedChange] = [:]

  /// The shape after the write, once known.
  var knownShape: RulesShape?
  /// The priority after the write, once known.
  ///
  /// The outer optional is `nil` until the answer is known; the inner one is the answer.
  var knownPriority: TreeScalar??
  /// True when the write empties the node before it puts something there again, once known.
  var isEmptied: Bool?

  /// True when anything is put, not only deleted.
  ///
  /// Computed at first use; `add(_:at:)` must not be called afterwards.
  private(set) lazy var adds: Bool =
    node.map { !$0.isEmpty } ?? below.values.contains { $0.adds }
  /// The written keys below, in their order.
  private(set) lazy var keys: [TreeKey] = below.keys.sorted()
  /// The first key below at which something is put.
  private(set) lazy var firstAdded: TreeKey? = keys.first { below[$0]?.adds == true }

  /// Adds one assignment of the write.
  ///
  /// - Parameters:
  ///   - node: The new node; a leaf with the priority, or an empty node, for a path that ends in
  ///     `.priority`.
  ///   - keys: The rest of the path, counted from this part.
  func add(_ node: TreeNode, at keys: ArraySlice<TreeKey>) {
    guard let key = keys.first else {
      self.node = node
      return
    }
    if key.isPriority {
      priority = .some(node.scalar)
      return
    }
    let next = below[key] ?? ProposedChange()
    below[key] = next
    next.add(node, at: keys.dropFirst())
  }

  /// The written keys behind another one.
  ///
  /// Binary search over the sorted keys; `nil` returns all of them.
  func keys(after key: TreeKey?) -> ArraySlice<TreeKey> {
    guard let key else { return keys[...] }
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if key < keys[middle] { high = middle } else { low = middle + 1 }
    }
    return keys[low...]
  }
}
