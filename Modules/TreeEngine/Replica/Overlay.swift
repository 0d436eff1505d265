package import TernCore

/// The pending local writes, in the order they were made, over what the server says.
///
/// Nothing is folded together: each place remembers which writes touched it, and a value is
/// computed from the last write that covers it and the later ones beneath. So taking a write out
/// never rebuilds anything, and a hidden write can never slip in.
package struct Overlay: Sendable {
  /// One write's say about one path.
  struct Entry: Sendable {
    let id: WriteID
    let isVisible: Bool
    let node: TreeNode
  }

  /// Which writes a reader wants to see.
  package struct Sight: Sendable {
    var includesHidden: Bool
    var excluded: Set<WriteID>

    /// What listeners see.
    package static let visible = Sight(includesHidden: false, excluded: [])

    /// What a transaction sees: everything but the writes it is about to replace.
    package static func all(excluding excluded: Set<WriteID>) -> Sight {
      Sight(includesHidden: true, excluded: excluded)
    }

    func sees(_ entry: Entry) -> Bool {
      (entry.isVisible || includesHidden) && !excluded.contains(entry.id)
    }
  }

  private var trie = PathTrie<[Entry]>()
  private var writes: [WriteID: PendingWrite] = [:]

  /// The pending write `id`, if it is still pending.
  package subscript(id: WriteID) -> PendingWrite? { writes[id] }

  /// What listeners see of the pending writes, oldest first.
  package var visibleWrites: [TreeWrite] {
    writes.values.filter(\.isVisible).sorted { $0.id < $1.id }.map(\.write)
  }

  /// Adds a write that is later than all others.
  mutating func insert(_ pending: PendingWrite) {
    writes[pending.id] = pending
    for assignment in pending.write.assignments {
      let entry = Entry(id: pending.id, isVisible: pending.isVisible, node: assignment.node)
      trie.update(at: assignment.path) { place in
        if place.value == nil { place.value = [entry] } else { place.value?.append(entry) }
      }
    }
  }

  /// Takes a write out; `nil` when it is not pending.
  mutating func remove(_ id: WriteID) -> PendingWrite? {
    guard let pending = writes.removeValue(forKey: id) else { return nil }
    for assignment in pending.write.assignments {
      trie.update(at: assignment.path) { place in
        if let index = place.value?.firstIndex(where: { $0.id == id }) {
          place.value?.remove(at: index)
        }
        if place.value?.isEmpty == true { place.value = nil }
      }
    }
    return pending
  }

  /// What is at `path` when the writes are applied, in order, to `base`.
  ///
  /// - Parameter base: What the server has there; `nil` when that is not known.
  /// - Returns: `nil` when `base` is not known and no write covers the path.
  func resolve(
    at path: TreePath, base: TreeNode?, sight: Sight = .visible
  ) -> TreeNode? {
    let (cover, beneath) = lookUp(path, sight)
    guard var node = cover?.node ?? base else { return nil }
    guard let beneath, !beneath.children.isEmpty else { return node }
    var later: [(id: WriteID, path: TreePath, node: TreeNode)] = []
    beneath.visit { path, entries in
      guard !path.isRoot else { return }
      for entry in entries where sight.sees(entry) && isAfter(entry.id, cover?.id) {
        later.append((entry.id, path, entry.node))
      }
    }
    later.sort { $0.id < $1.id }
    for write in later { node.setNode(write.node, at: write.path) }
    return node
  }

  /// Whether a write at `path` or above decides everything there, whatever the server has.
  func covers(_ path: TreePath, sight: Sight = .visible) -> Bool {
    lookUp(path, sight).cover != nil
  }

  /// Whether some write gives the node at `path` itself a priority or makes it a leaf.
  ///
  /// Where none does, and the server does not either, what lies below `path` can be worked out
  /// child by child.
  func disturbs(_ path: TreePath) -> Bool {
    var isDisturbed = false
    let beneath = trie.walk(to: path) { depth, entries in
      let rest = TreePath(unchecked: Array(path.keys.dropFirst(depth)))
      isDisturbed = isDisturbed || entries.contains { $0.node.node(at: rest).isSingular }
    }
    return isDisturbed || beneath?.children[.priority] != nil
  }

  /// The children of `path` that some write touches, in key order.
  func touchedChildren(of path: TreePath) -> [TreeKey] {
    trie.subtrie(at: path)?.sortedKeys.filter { !$0.isPriority } ?? []
  }

  /// Whether a visible write touches `path`, something above it, or something below it.
  package func touches(_ path: TreePath) -> Bool {
    let (cover, beneath) = lookUp(path, .visible)
    return cover != nil || beneath?.holdsVisible == true
  }

  /// The last write at `path` or above, cut down to `path`, and everything at and below `path`.
  private func lookUp(
    _ path: TreePath, _ sight: Sight
  ) -> (cover: (id: WriteID, node: TreeNode)?, beneath: PathTrie<[Entry]>?) {
    guard !trie.isEmpty else { return (nil, nil) }
    var best: (depth: Int, entry: Entry)?
    let beneath = trie.walk(to: path) { depth, entries in
      guard let last = entries.last(where: sight.sees) else { return }
      if isAfter(last.id, best?.entry.id) { best = (depth, last) }
    }
    let cover = best.map { best in
      let rest = TreePath(unchecked: Array(path.keys.dropFirst(best.depth)))
      return (best.entry.id, best.entry.node.node(at: rest))
    }
    return (cover, beneath)
  }

  private func isAfter(_ id: WriteID, _ other: WriteID?) -> Bool {
    guard let other else { return true }
    return id > other
  }
}

extension PathTrie where Value == [Overlay.Entry] {
  fileprivate var holdsVisible: Bool {
    if value?.contains(where: \.isVisible) == true { return true }
    return children.values.contains { $0.holdsVisible }
  }
}

extension TreeNode {
  /// Whether the node is more than its children: a leaf, or with a priority.
  var isSingular: Bool { isLeaf || priority != nil }
}
