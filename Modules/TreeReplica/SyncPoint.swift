import TernCore
import TernQuery

/// The views at one location, in order of creation.
struct SyncPoint: Sendable {
  var views: [ReplicaView] = []
  /// `true` while the location has a default listen, which serves all views that load all data.
  var isListening = false

  /// The view that stands for the whole location, if there is one.
  var wholeView: ReplicaView? { views.first { $0.query.loadsAllData } }

  func index(of query: TreeQuery) -> Int? { views.firstIndex { $0.query == query } }
}

extension PathTrie where Value == SyncPoint {
  /// Lets a change meet every view it concerns: those below it, those at it, those above it.
  ///
  /// Deepest locations come first. `body` gets the place, its path and the change as seen there.
  ///
  /// The order matters to listeners: events of deeper locations come before those of the locations
  /// that contain them.
  mutating func meet(
    _ change: PathTrie<TreeNode>, at path: TreePath = .root,
    _ body: (inout PathTrie<SyncPoint>, TreePath, ViewChange) -> Void
  ) {
    if let node = change.value { return meet(node, at: path, body) }
    for key in change.sortedKeys {
      guard let part = change.children[key], children[key] != nil else { continue }
      updateChild(key) { $0.meet(part, at: path.appending(key), body) }
    }
    if value != nil { body(&self, path, .parts(change)) }
  }

  private mutating func meet(
    _ node: TreeNode, at path: TreePath,
    _ body: (inout PathTrie<SyncPoint>, TreePath, ViewChange) -> Void
  ) {
    for key in sortedKeys {
      updateChild(key) { $0.meet(node.child(key), at: path.appending(key), body) }
    }
    if value != nil { body(&self, path, .whole(node)) }
  }

  /// Returns the data of live views below this path, by relative path; excludes the views at it.
  ///
  /// A live view knows more than an accepted write that its parents still have to assume.
  func liveBelow() -> [(path: TreePath, node: TreeNode)] {
    var found: [(path: TreePath, node: TreeNode)] = []
    for key in sortedKeys { children[key]?.collectLive(at: TreePath(unchecked: [key]), &found) }
    return found
  }

  /// Returns the data of live views at and below this path, by relative path.
  func pushed() -> [(path: TreePath, node: TreeNode)] {
    var found: [(path: TreePath, node: TreeNode)] = []
    collectLive(at: .root, &found)
    return found
  }

  private func collectLive(
    at path: TreePath, _ found: inout [(path: TreePath, node: TreeNode)]
  ) {
    for view in value?.views ?? [] where view.isLive && view.server.isComplete {
      if view.server.isWhole {
        found.append((path, view.server.node))
        return
      }
      for child in view.server.node.children {
        found.append((path.appending(child.key), child.node))
      }
    }
    for key in sortedKeys { children[key]?.collectLive(at: path.appending(key), &found) }
  }
}
