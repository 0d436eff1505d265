package import TernCore
import TernQuery

/// Data that the server pushed.
package enum ServerChange: Sendable {
  /// Replaces what is at a path.
  case overwrite(TreePath, TreeNode)
  /// Replaces what is at several paths below a path.
  case merge(TreePath, [TreeMerge.Entry])
  /// Replaces the leaves in some ranges of paths below a path.
  case rangeMerge(TreePath, [TreeRangeMerge])

  package var path: TreePath {
    switch self {
    case .overwrite(let path, _), .merge(let path, _), .rangeMerge(let path, _): path
    }
  }

  /// `true` for a change that patches earlier data, path by path.
  fileprivate var isMerge: Bool {
    if case .merge = self { true } else { false }
  }
}

extension TreeReplica {
  /// Takes in a push.
  ///
  /// A merge is ignored where nothing is known yet: it was meant for an earlier listen at that
  /// place, and the first complete answer of this one is still to come.
  ///
  /// - Parameter tag: The tag of the filtered listen it is for; one that has ended is ignored.
  package mutating func applyServer(_ change: ServerChange, tag: Int? = nil) -> ReplicaOutcome {
    if let tag {
      guard let request = tagged[tag] else { return ReplicaOutcome() }
      return apply(parts(of: change, for: request), to: request, isMerge: change.isMerge)
    }
    let parts = parts(
      of: change, for: ListenRequest(path: change.path, query: .all, tag: nil))
    keep(parts)
    return apply(parts, isMerge: change.isMerge)
  }

  /// The server has answered a listen: all there is to say has been said.
  ///
  /// - Parameters:
  ///   - request: A listen that is held; the answer to an earlier, stopped one does not count.
  ///   - isUnindexed: Whether the server said that it has no index for the query; then it may send
  ///     the whole location, untagged.
  package mutating func completeListen(
    _ request: ListenRequest, isUnindexed: Bool = false
  ) -> ReplicaOutcome {
    guard let view = view(for: request) else { return ReplicaOutcome() }
    let overlay = overlay
    var outcome = ReplicaOutcome()
    guard request.query.isDefault else {
      let events = withView(request.query, at: request.path) { view in
        view.confirm(isUnindexed: isUnindexed, overlay)
      }
      outcome.events = events ?? []
      let confirmed = self.view(for: request)?.server.node
      keepConfirmed(request, isChanged: confirmed != view.server.node)
      return outcome
    }
    // What the listen's own view has is all there is, also for the views it serves.
    let node = view.confirmed
    points.meet(PathTrie(node, at: request.path)) { place, _, change in
      outcome.events += place.updateViews { view in
        if case .whole(let node) = change { return view.confirm(node, overlay) }
        return view.apply(change, isTagged: false, isOwn: false, overlay)
      }
    }
    keepConfirmed(request, isChanged: node != view.server.node)
    return outcome
  }

  /// The connection is gone: from now on listeners hear what may be out of date.
  package mutating func disconnect() {
    ending.removeAll()
    var paths: [TreePath] = []
    points.visit { path, _ in paths.append(path) }
    for path in paths {
      points.update(at: path) { place in
        _ = place.updateViews { view in
          view.disconnect()
          return []
        }
      }
    }
  }

  private mutating func apply(_ parts: PathTrie<TreeNode>, isMerge: Bool) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    var windows: [WindowChange] = []
    let overlay = overlay
    let ending = ending
    points.meet(parts) { place, path, change in
      let isAddressed = parts[path] != nil
      outcome.events += place.updateViews { view in
        if isMerge, view.knowsNothing { return [] }
        let before = view.server.node.children
        let isOwn = isAddressed && view.tag == nil && !ending.mayDeliver(to: view)
        let events = view.apply(change, isTagged: false, isOwn: isOwn, overlay)
        if view.isListening { windows.append(WindowChange(of: view, since: before)) }
        return events
      }
    }
    for window in windows { keep(window) }
    return outcome
  }

  private mutating func apply(
    _ parts: PathTrie<TreeNode>, to request: ListenRequest, isMerge: Bool
  ) -> ReplicaOutcome {
    guard let below = parts.subtrie(at: request.path), let before = view(for: request),
      !(isMerge && before.knowsNothing)
    else { return ReplicaOutcome() }
    var outcome = ReplicaOutcome()
    let overlay = overlay
    let isOwn = !ending.mayDeliver(to: before)
    outcome.events =
      withView(request.query, at: request.path) { view in
        view.apply(
          below.value.map { .whole($0) } ?? .parts(below), isTagged: true, isOwn: isOwn, overlay)
      } ?? []
    if cache != nil { keepWindow(below, of: request, since: before) }
    return outcome
  }

  /// Returns the nodes that a push replaces, by path from the root.
  private func parts(of change: ServerChange, for request: ListenRequest) -> PathTrie<TreeNode> {
    var parts = PathTrie<TreeNode>()
    switch change {
    case .overwrite(let path, let node):
      parts[path] = node
    case .merge(let path, let entries):
      for entry in entries { parts[path.appending(entry.path)] = entry.node }
    case .rangeMerge(let path, let ranges):
      // Ranges patch the announced data; the data announced by an earlier listen is unknown.
      guard let view = view(for: request), !ending.mayDeliver(to: view) else { break }
      parts[path] = (view.announced ?? view.server.node).applying(ranges)
    }
    return parts
  }
}

// MARK: Keeping the server's data

extension TreeReplica {
  private mutating func keep(_ parts: PathTrie<TreeNode>) {
    guard cache != nil else { return }
    parts.visit { path, node in
      cache?.overwrite(node, at: path, from: .push)
      if points[path]?.isListening == true { cache?.markComplete(.all, at: path) }
    }
  }

  /// Keeps that a query is complete, and its data again where others have written over it.
  ///
  /// - Parameter isChanged: Whether what was confirmed differs from what came since the listen.
  private mutating func keepConfirmed(_ request: ListenRequest, isChanged: Bool) {
    guard let cache, let node = view(for: request)?.server.node else { return }
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
    if !request.query.isDefault { keepWindow(of: request) }
    self.cache?.markComplete(request.query, at: request.path)
  }

  /// Keeps what a push changed in the window of a filtered query.
  private mutating func keepWindow(
    _ parts: PathTrie<TreeNode>, of request: ListenRequest, since earlier: ReplicaView
  ) {
    guard let view = view(for: request) else { return }
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
      return keepWindow(of: request)
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

  private mutating func keep(_ window: WindowChange) {
    if window.added.isEmpty && window.removed.isEmpty { return }
    cache?.changeWindow(
      of: window.query, at: window.path, added: window.added, removed: window.removed)
  }

  /// Keeps the windows of filtered queries from the moment they listen, so that what they know is
  /// not dropped before the server confirms it.
  mutating func keepWindows(of starts: [ListenRequest]) {
    for request in starts where request.tag != nil { keepWindow(of: request) }
  }

  /// Keeps which children are in the window of a filtered query.
  private mutating func keepWindow(of request: ListenRequest) {
    guard cache != nil, let node = view(for: request)?.server.node else { return }
    cache?.replaceWindow(
      of: request.query, at: request.path, keys: node.children.map { $0.key })
  }
}

/// The children that entered the window of a filtered query, and those that left it.
private struct WindowChange {
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
