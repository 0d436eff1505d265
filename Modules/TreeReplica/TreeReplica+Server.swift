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
      guard let request = tree.tagged[tag] else { return ReplicaOutcome() }
      return apply(parts(of: change, for: request), to: request, isMerge: change.isMerge)
    }
    let parts = parts(
      of: change, for: ListenRequest(path: change.path, query: .all, tag: nil))
    kept.keep(parts, tree)
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
    guard let view = tree.view(for: request) else { return ReplicaOutcome() }
    let overlay = overlay
    var outcome = ReplicaOutcome()
    guard request.query.isDefault else {
      let events = tree.withView(request.query, at: request.path) { view in
        view.confirm(isUnindexed: isUnindexed, overlay)
      }
      outcome.events = events ?? []
      let confirmed = tree.view(for: request)?.server.node
      kept.keepConfirmed(request, isChanged: confirmed != view.server.node, tree)
      return outcome
    }
    // What the listen's own view has is all there is, also for the views it serves.
    let node = view.confirmed
    tree.points.meet(PathTrie(node, at: request.path)) { place, _, change in
      outcome.events += place.updateViews { view in
        if case .whole(let node) = change { return view.confirm(node, overlay) }
        return view.apply(change, isTagged: false, isOwn: false, overlay)
      }
    }
    kept.keepConfirmed(request, isChanged: node != view.server.node, tree)
    return outcome
  }

  /// The connection is gone: from now on listeners hear what may be out of date.
  package mutating func disconnect() {
    ending.removeAll()
    var paths: [TreePath] = []
    tree.points.visit { path, _ in paths.append(path) }
    for path in paths {
      tree.points.update(at: path) { place in
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
    tree.points.meet(parts) { place, path, change in
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
    for window in windows { kept.keep(window) }
    return outcome
  }

  private mutating func apply(
    _ parts: PathTrie<TreeNode>, to request: ListenRequest, isMerge: Bool
  ) -> ReplicaOutcome {
    guard let below = parts.subtrie(at: request.path), let before = tree.view(for: request),
      !(isMerge && before.knowsNothing)
    else { return ReplicaOutcome() }
    var outcome = ReplicaOutcome()
    let overlay = overlay
    let isOwn = !ending.mayDeliver(to: before)
    outcome.events =
      tree.withView(request.query, at: request.path) { view in
        view.apply(
          below.value.map { .whole($0) } ?? .parts(below), isTagged: true, isOwn: isOwn, overlay)
      } ?? []
    if kept.cache != nil { kept.keepWindow(below, of: request, since: before, tree) }
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
      guard let view = tree.view(for: request), !ending.mayDeliver(to: view) else { break }
      parts[path] = (view.announced ?? view.server.node).applying(ranges)
    }
    return parts
  }
}
