package import TernCore
package import TernQuery

/// The state that the listeners of one query see.
package struct ViewState: Sendable {
  /// The result of the query, as far as it is known.
  package let node: TreeNode
  /// `true` if all of the result is known; value listeners have received it then.
  package let isComplete: Bool
  /// `true` if the result is older than the listen that covers the query.
  package let isFromCache: Bool
  /// `true` once the server has answered that listen, and so pushes every change.
  package let isLive: Bool
  /// The places at and below the location whose writes wait for the server.
  package let pending: PendingPaths
}

extension TreeReplica {
  /// The result of a query when everything in it is known from listeners, else `nil`.
  package func value(at path: TreePath, query: TreeQuery = .all) -> TreeNode? {
    known(at: path, query: query)?.node
  }

  /// The same only when the server has told of every change up to now, or when pending writes
  /// decide everything.
  package func currentValue(at path: TreePath, query: TreeQuery = .all) -> TreeNode? {
    known(at: path, query: query).flatMap { $0.isCurrent ? $0.node : nil }
  }

  private func known(
    at path: TreePath, query: TreeQuery
  ) -> (node: TreeNode, isCurrent: Bool)? {
    let isDecided = overlay.covers(path)
    if let index = tree.points[path]?.index(of: query), let view = tree.points[path]?.views[index],
      view.isComplete
    {
      return (view.window, view.isLive || isDecided)
    }
    let seed = tree.viewSeed(path)
    guard let node = overlay.resolve(at: path, base: seed?.base.node) else { return nil }
    return (query.window(of: node), seed?.isCurrent == true || isDecided)
  }

  /// Returns the state that the listeners of a query see now; `nil` when it has no listeners.
  package func state(at path: TreePath, query: TreeQuery = .all) -> ViewState? {
    guard let view = tree.points[path]?.views.first(where: { $0.query == query }) else {
      return nil
    }
    return ViewState(
      node: view.window, isComplete: view.isComplete, isFromCache: view.isFromCache,
      isLive: view.isLive, pending: overlay.pending.at(path))
  }

  /// The result of a query from listeners, or else as it was when it was last synced.
  ///
  /// What a read answers when the server cannot be asked.
  package mutating func cachedValue(at path: TreePath, query: TreeQuery = .all) -> TreeNode? {
    if let node = value(at: path, query: query) { return node }
    guard let stored = kept.cache?.load(query.normalized, at: path), stored.isComplete else {
      return nil
    }
    return answer(stored.node, at: path, query: query)
  }

  /// Takes in the server's answer to a one-shot read.
  ///
  /// It is kept for later reads, but not shown to listeners: their own listens tell them.
  /// - Returns: The answer with the pending writes applied.
  package mutating func applyRead(
    _ node: TreeNode, at path: TreePath, query: TreeQuery = .all
  ) -> TreeNode {
    if tree.serverKnows(path)?.isLive != true {
      if query.loadsAllData {
        kept.cache?.overwrite(node, at: path, from: .nobody)
      } else {
        for child in node.children {
          kept.cache?.overwrite(child.node, at: path.appending(child.key), from: .nobody)
        }
        kept.cache?.replaceWindow(of: query, at: path, keys: node.children.map { $0.key })
      }
      kept.cache?.markComplete(query.normalized, at: path)
    }
    return answer(node, at: path, query: query)
  }

  /// Returns the input of a transaction: all known data at `path`, hidden writes included.
  ///
  /// - Parameter excluded: The writes of the transactions that are about to run again.
  /// - Returns: `nil` when nothing complete is known.
  package mutating func transactionInput(
    at path: TreePath, excluding excluded: Set<WriteID> = []
  ) -> TreeNode? {
    overlay.resolve(at: path, base: serverBase(at: path), sight: .all(excluding: excluded))
  }

  /// Returns the known node at `path` with the visible writes applied.
  mutating func localNode(at path: TreePath) -> TreeNode? {
    if let node = overlay.resolve(at: path, base: nil) { return node }
    return overlay.resolve(at: path, base: serverBase(at: path))
  }

  private mutating func serverBase(at path: TreePath) -> TreeNode? {
    if let known = tree.serverKnows(path) { return known.node }
    let owner = path.namesPriority ? path.parent ?? .root : path
    guard let stored = kept.cache?.known(at: owner) else { return nil }
    return path.namesPriority ? stored.child(.priority) : stored
  }

  /// Applies the pending writes to a query's result that came from outside a view.
  private func answer(_ node: TreeNode, at path: TreePath, query: TreeQuery) -> TreeNode {
    let cache = ServerCache(node: node, isComplete: true, isFiltered: !query.loadsAllData)
    let seed = ViewSeed(server: cache, assumed: nil, isLive: true)
    return ReplicaView(path: path, query: query, tag: nil, seed: seed, overlay: overlay).window
  }
}
