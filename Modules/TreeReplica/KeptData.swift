import TernCore
import TernQuery

/// The server's data on their way into the cache, if there is one.
///
/// A listen's data are kept as the views have them, so every call is told of the views.
///
/// Without a cache every call returns at once. The cache must end up with what the listeners have
/// in memory, also where pushes of several listens overlap; the views are therefore consulted after
/// they have changed.
struct KeptData: Sendable {
  var cache: (any ReplicaCache)?

  /// Keeps what a push replaced.
  mutating func keep(_ parts: PathTrie<TreeNode>, _ tree: SyncTree) {
    guard cache != nil else { return }
    parts.visit { path, node in
      cache?.overwrite(node, at: path, from: .push)
      if tree.points[path]?.isListening == true { cache?.markComplete(.all, at: path) }
    }
  }

  /// Keeps that a query is complete, and its data again where others have written over it.
  ///
  /// An answer without data confirms what the client announced. The rows are written again only if
  /// they may differ from that.
  ///
  /// - Parameter isChanged: Whether what was confirmed differs from what came since the listen.
  mutating func keepConfirmed(
    _ request: ListenRequest, isChanged: Bool, _ tree: SyncTree
  ) {
    guard let cache, let node = tree.view(for: request)?.server.node else { return }
    if isChanged || cache.needsRewrite(request.query, at: request.path) {
      if request.query.isDefault {
        self.cache?.overwrite(node, at: request.path, from: .push)
      } else {
        for child in node.children {
          self.cache?.overwrite(
            child.node, at: request.path.appending(child.key), from: .listen(request))
        }
      }
      self.cache?.markRewritten(request.query, at: request.path)
    }
    if !request.query.isDefault { keepWindow(of: request, tree) }
    self.cache?.markComplete(request.query, at: request.path)
  }

  /// Keeps what a push changed in the window of a filtered query.
  ///
  /// - Parameters:
  ///   - parts: What the push replaced, by path from the query's location.
  ///   - earlier: The view before the push; the difference to the present one is what entered and
  ///     left.
  mutating func keepWindow(
    _ parts: PathTrie<TreeNode>, of request: ListenRequest, since earlier: ReplicaView,
    _ tree: SyncTree
  ) {
    guard let view = tree.view(for: request) else { return }
    // A view that another listen serves may get late pushes, and a window may have no stored rows.
    // If the view knows everything, the other listen has delivered the change already.
    if !view.isListening, view.server.isWhole { return }
    let before = earlier.server.node
    let after = view.server.node
    if parts.value != nil || !view.isListening {
      for child in after.children {
        cache?.overwrite(
          child.node, at: request.path.appending(child.key), from: .listen(request))
      }
      cache?.markRewritten(request.query, at: request.path)
      return keepWindow(of: request, tree)
    }
    let window = WindowChange(of: view, since: before.children)
    for key in window.added {
      cache?.overwrite(
        after.child(key), at: request.path.appending(key), from: .listen(request))
    }
    parts.visit { path, node in
      guard let key = path.first, after.children[key] != nil, before.children[key] != nil else {
        return
      }
      cache?.overwrite(node, at: request.path.appending(path), from: .listen(request))
    }
    keep(window)
  }

  /// Keeps which children entered and left a window.
  mutating func keep(_ window: WindowChange) {
    if window.added.isEmpty && window.removed.isEmpty { return }
    cache?.changeWindow(
      of: window.query, at: window.path, added: window.added, removed: window.removed)
  }

  /// Keeps the windows of filtered queries from the moment they listen, so that what they know is
  /// not dropped before the server confirms it.
  mutating func keepWindows(of starts: [ListenRequest], _ tree: SyncTree) {
    for request in starts where request.tag != nil { keepWindow(of: request, tree) }
  }

  /// Keeps which children are in the window of a filtered query.
  mutating func keepWindow(of request: ListenRequest, _ tree: SyncTree) {
    guard cache != nil, let node = tree.view(for: request)?.server.node else { return }
    cache?.replaceWindow(
      of: request.query, at: request.path, keys: node.children.map { $0.key })
  }

  /// Keeps accepted data for later reads, except where a listen brings or brought it.
  mutating func keep(_ assignments: [TreeMerge.Entry], _ tree: SyncTree) {
    guard cache != nil else { return }
    for assignment in assignments where !tree.isPushed(assignment.path) {
      var node = assignment.node
      for (path, pushed) in tree.points.subtrie(at: assignment.path)?.pushed() ?? [] {
        node.setNode(pushed, at: path)
      }
      cache?.overwrite(node, at: assignment.path, from: .nobody)
      if !assignment.path.namesPriority { cache?.markComplete(.all, at: assignment.path) }
    }
  }
}

/// The children that entered the window of a filtered query, and those that left it.
struct WindowChange {
  let path: TreePath
  let query: TreeQuery
  private(set) var added: [TreeKey] = []
  private(set) var removed: [TreeKey] = []

  init(of view: ReplicaView, since before: ChildMap) {
    path = view.path
    query = view.query
    view.server.node.children.forEachDifference(from: before) { key, old, new in
      if old.isEmpty { added.append(key) }
      if new.isEmpty { removed.append(key) }
    }
  }
}
