import TernCore
import TernQuery
import TernTreeEngine

/// Everybody who listens to the same query at the same path.
final class ListenGroup {
  let node: ListenNode
  let query: TreeQuery
  /// What a filtered query shows now; `nil` for listens to everything.
  var window: QueryWindow?
  /// Whether the window was filled.
  var isLoaded = false
  /// The hash of what the group shows, once somebody has asked for it; `nil` again as soon as that
  /// may have changed.
  var shownHash: String?
  /// The links of those without a tag.
  private(set) var plainSlots: [Int] = []
  /// The links of those with a tag, and their tags.
  private(set) var tagged: [(slot: Int, tag: Int64)] = []

  init(_ query: TreeQuery, at node: ListenNode) {
    self.query = query
    self.node = node
    window = query.loadsAllData ? nil : QueryWindow(query)
  }

  var isEmpty: Bool { plainSlots.isEmpty && tagged.isEmpty }

  func add(_ slot: Int, tag: Int64?) {
    remove(slot)
    if let tag { tagged.append((slot, tag)) } else { plainSlots.append(slot) }
  }

  func remove(_ slot: Int) {
    if let index = plainSlots.firstIndex(of: slot) {
      plainSlots.swapAt(index, plainSlots.count - 1)
      plainSlots.removeLast()
    }
    if let index = tagged.firstIndex(where: { $0.slot == slot }) {
      tagged.swapAt(index, tagged.count - 1)
      tagged.removeLast()
    }
  }
}

/// A place that somebody listens at, or that lies above one.
final class ListenNode {
  let path: TreePath
  /// In the order in which they were first asked for.
  var groups: [ListenGroup] = []
  fileprivate(set) var children: [TreeKey: ListenNode] = [:]
  fileprivate weak var parent: ListenNode?

  init(_ path: TreePath, below parent: ListenNode? = nil) {
    self.path = path
    self.parent = parent
  }

  /// The places below, in key order.
  var sortedChildren: [ListenNode] {
    children.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// Finds the listens that cover a path in as many steps as the path has segments.
final class ListenIndex {
  let root = ListenNode(.root)

  /// The group of a query at a path, made if there is none.
  func group(of query: TreeQuery, at path: TreePath) -> ListenGroup {
    var node = root
    for key in path.keys {
      if let child = node.children[key] {
        node = child
      } else {
        let child = ListenNode(node.path.appending(key), below: node)
        node.children[key] = child
        node = child
      }
    }
    if let group = node.groups.first(where: { $0.query == query }) { return group }
    let group = ListenGroup(query, at: node)
    node.groups.append(group)
    return group
  }

  /// The group of a query at a path, if somebody is in it.
  func existingGroup(of query: TreeQuery, at path: TreePath) -> ListenGroup? {
    var node = root
    for key in path.keys {
      guard let child = node.children[key] else { return nil }
      node = child
    }
    return node.groups.first { $0.query == query }
  }

  /// Forgets a group that nobody is in, and the places that led only to it.
  func removeIfEmpty(_ group: ListenGroup) {
    guard group.isEmpty else { return }
    group.node.groups.removeAll { $0 === group }
    var node = group.node
    while node.groups.isEmpty, node.children.isEmpty, let parent = node.parent,
      let key = node.path.last
    {
      parent.children[key] = nil
      node = parent
    }
  }
}
