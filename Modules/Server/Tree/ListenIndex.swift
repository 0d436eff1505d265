import TernCore
import TernQuery

/// A path with listeners, or above one.
///
/// Nodes form a tree below the index's root. A node exists while it has groups or children; its
/// parent is a weak reference to avoid a cycle.
final class ListenNode {
  let path: TreePath
  /// In the order in which they were first asked for, as long as none was removed.
  private(set) var groups: [ListenGroup] = []
  fileprivate(set) var children: [TreeKey: ListenNode] = [:] {
    didSet { childrenInOrder = nil }
  }
  /// The nodes of ``children`` in key order, once they were asked for.
  private var childrenInOrder: [ListenNode]?
  fileprivate weak var parent: ListenNode?
  /// The groups by their query; `nil` while there are few of them.
  private var groupsByQuery: [TreeQuery: ListenGroup]?

  /// Up to this many groups are searched one by one.
  ///
  /// Queries at one path rarely differ in more ways.
  private static let fewGroups = 8

  init(_ path: TreePath, below parent: ListenNode? = nil) {
    self.path = path
    self.parent = parent
  }

  /// The places below, in key order. Sorted once for all writes until a child comes or goes.
  var sortedChildren: [ListenNode] {
    if children.count < 2 { return Array(children.values) }
    if let childrenInOrder { return childrenInOrder }
    let sorted = children.sorted { $0.key < $1.key }.map(\.value)
    childrenInOrder = sorted
    return sorted
  }

  /// The group of a query, if there is one. Takes constant time.
  func group(of query: TreeQuery) -> ListenGroup? {
    if let groupsByQuery { return groupsByQuery[query] }
    return groups.first { $0.query == query }
  }

  fileprivate func add(_ group: ListenGroup) {
    group.place = groups.count
    groups.append(group)
    groupsByQuery?[group.query] = group
    if groupsByQuery == nil, groups.count > Self.fewGroups {
      groupsByQuery = Dictionary(groups.map { ($0.query, $0) }) { first, _ in first }
    }
  }

  /// - Returns: Whether the group was there.
  fileprivate func remove(_ group: ListenGroup) -> Bool {
    guard groups.indices.contains(group.place), groups[group.place] === group else { return false }
    groupsByQuery?[group.query] = nil
    groups.swapAt(group.place, groups.count - 1)
    groups.removeLast()
    if group.place < groups.count { groups[group.place].place = group.place }
    if groups.isEmpty { groupsByQuery = nil }
    return true
  }
}

/// Finds the listens that cover a path in as many steps as the path has segments.
///
/// A lookup walks the path from the root, so its cost is the number of segments, whatever the
/// number of listens. Each database has one index; see ``Namespace/listens``.
final class ListenIndex {
  let root = ListenNode(.root)
  /// The number of groups: of distinct queries that are listened to.
  private(set) var groupCount = 0

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
    if let group = node.group(of: query) { return group }
    let group = ListenGroup(query, at: node)
    node.add(group)
    groupCount += 1
    return group
  }

  /// Returns the group of a query at a path, if it has members.
  func existingGroup(of query: TreeQuery, at path: TreePath) -> ListenGroup? {
    var node = root
    for key in path.keys {
      guard let child = node.children[key] else { return nil }
      node = child
    }
    return node.group(of: query)
  }

  /// Forgets a group without members, and the nodes that led only to it.
  func removeIfEmpty(_ group: ListenGroup) {
    guard group.isEmpty else { return }
    if group.node.remove(group) { groupCount -= 1 }
    var node = group.node
    while node.groups.isEmpty, node.children.isEmpty, let parent = node.parent,
      let key = node.path.last
    {
      parent.children[key] = nil
      node = parent
    }
  }
}
