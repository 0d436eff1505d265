package import TernCore

/// The pending local writes, in the order they were made, over what the server says.
///
/// Nothing is folded together: each place remembers which writes touched it, and a value is
/// computed from the last write that covers it and the later ones beneath. So taking a write out
/// never rebuilds anything, and a hidden write can never slip in.
///
/// A write is stored at each path that it assigns. To read a path, the last visible write at or
/// above it, the *cover*, replaces the base; later writes below the path are then applied in order.
/// Removing a write touches its own paths and nothing else.
///
/// Source: Docs/Decisions/0009-overlay-by-place.md.
package struct Overlay: Sendable {
  /// One write's say about one path.
  ///
  /// Hidden writes are those of transactions that show nothing before the server confirms them.
  struct Entry: Sendable {
    let id: WriteID
    let isVisible: Bool
    let node: TreeNode
  }

  /// The selection of pending writes that a reader sees.
  package struct WriteVisibility: Sendable {
    var includesHidden: Bool
    var excluded: Set<WriteID>

    /// The writes that listeners see.
    package static let visible = WriteVisibility(includesHidden: false, excluded: [])

    /// The writes that a transaction sees: all except the writes it is about to replace.
    package static func all(excluding excluded: Set<WriteID>) -> WriteVisibility {
      WriteVisibility(includesHidden: true, excluded: excluded)
    }

    func sees(_ entry: Entry) -> Bool {
      (entry.isVisible || includesHidden) && !excluded.contains(entry.id)
    }
  }

  private var trie = PathTrie<[Entry]>()
  private var writes: [WriteID: PendingWrite] = [:]
  /// The places that visible writes change.
  package private(set) var pending = PendingPaths()

  /// The pending write `id`, if it is still pending.
  package subscript(id: WriteID) -> PendingWrite? { writes[id] }

  /// The pending writes that listeners see, oldest first.
  package var visibleWrites: [TreeWrite] {
    writes.values.filter(\.isVisible).sorted { $0.id < $1.id }.map(\.write)
  }

  /// Adds a write that is later than all others.
  mutating func insert(_ write: PendingWrite) {
    writes[write.id] = write
    for assignment in write.write.assignments {
      let entry = Entry(id: write.id, isVisible: write.isVisible, node: assignment.node)
      trie.update(at: assignment.path) { place in
        if place.value == nil { place.value = [entry] } else { place.value?.append(entry) }
      }
      if write.isVisible { pending.insert(assignment.path) }
    }
  }

  /// Takes a write out; `nil` when it is not pending.
  mutating func remove(_ id: WriteID) -> PendingWrite? {
    guard let write = writes.removeValue(forKey: id) else { return nil }
    for assignment in write.write.assignments {
      trie.update(at: assignment.path) { place in
        if let index = place.value?.firstIndex(where: { $0.id == id }) {
          place.value?.remove(at: index)
        }
        if place.value?.isEmpty == true { place.value = nil }
      }
      if write.isVisible { unmark(assignment.path) }
    }
    return write
  }

  /// Updates ``pending`` after a visible write of `path` was taken out.
  ///
  /// A covered place stays marked: the write that covers it is pending with everything below.
  private mutating func unmark(_ path: TreePath) {
    var isCovered = false
    let beneath = trie.walk(to: path) { _, entries in
      isCovered = isCovered || entries.contains(where: \.isVisible)
    }
    if !isCovered { pending.replace(PendingPaths(beneath), at: path) }
  }

  /// Returns the node at `path` after the writes are applied, in order, to `base`.
  ///
  /// - Parameter base: The server's node there; `nil` when it is not known.
  /// - Returns: `nil` when `base` is not known and no write covers the path.
  /// - Complexity: O(length of the path + writes at and below it), and the cost of the nodes that
  ///   are changed.
  func resolve(
    at path: TreePath, base: TreeNode?, sight: WriteVisibility = .visible
  ) -> TreeNode? {
    let (cover, beneath) = lookUp(path, sight)
    guard var node = cover?.node ?? base else { return nil }
    guard let beneath, !beneath.children.isEmpty else { return node }
    var later: [(id: WriteID, place: Int, path: TreePath, node: TreeNode)] = []
    beneath.visit { path, entries in
      guard !path.isRoot else { return }
      for entry in entries where sight.sees(entry) && isAfter(entry.id, cover?.id) {
        later.append((entry.id, later.count, path, entry.node))
      }
    }
    later.sort { ($0.id, $0.place) < ($1.id, $1.place) }
    for write in later { node.setNode(write.node, at: write.path) }
    return node
  }

  /// Returns `true` if a write at `path` or above replaces everything there, independent of the
  /// server.
  func covers(_ path: TreePath, sight: WriteVisibility = .visible) -> Bool {
    lookUp(path, sight).cover != nil
  }

  /// Returns `true` if a write sets a priority on the node at `path` itself or makes it a leaf.
  ///
  /// If no write does, and the server's data does not either, the result below `path` can be
  /// computed child by child.
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

  /// The last write at `path` or above, cut down to `path`, and everything at and below `path`.
  ///
  /// Descends once. Entries of one place are in the order of writes, so the last visible one of
  /// each place suffices.
  private func lookUp(
    _ path: TreePath, _ sight: WriteVisibility
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

extension TreeNode {
  /// `true` if the node is more than its children: a leaf, or a node with a priority.
  var isSingular: Bool { isLeaf || priority != nil }
}
