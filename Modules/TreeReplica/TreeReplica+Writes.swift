package import TernCore
import TernQuery

extension TreeReplica {
  /// Applies a local write at once, over whatever the server says until it answers.
  ///
  /// - Parameters:
  ///   - isVisible: Whether listeners see it; transactions can read hidden writes too.
  ///   - replaced: An earlier write this one takes the place of, in the same step, so that
  ///     listeners see one change; how a transaction runs again.
  ///   - id: The id of a write restored from a queue; restored writes come in their old order.
  ///   - now: The server's time as estimated here, in milliseconds since 1970.
  /// - Returns: The write's id, to name it in ``acknowledge(_:_:)``, and the events it causes.
  package mutating func plan(
    _ write: TreeWrite, isVisible: Bool = true, replacing replaced: WriteID? = nil,
    id: WriteID? = nil, now: Int64
  ) -> (id: WriteID, outcome: ReplicaOutcome) {
    var touched = PathTrie<TreeNode>()
    var written: [TreePath] = []
    if let old = replaced.flatMap({ overlay.remove($0) }), old.isVisible {
      touched.add(old.write)
      written += old.write.assignments.map(\.path)
    }
    let estimate = write.resolvingServerValues(now: now) { localNode(at: $0) ?? .empty }
    let pending = PendingWrite(
      id: makeWriteID(id), original: write, write: estimate, isVisible: isVisible)
    overlay.insert(pending)
    if isVisible {
      touched.add(estimate)
      written += estimate.assignments.map(\.path)
    }
    var outcome = refresh(touched)
    outcome.written = written
    return (pending.id, outcome)
  }

  /// Removes a write from the overlay after the server's verdict.
  ///
  /// The server pushes the effect of an accepted write first, if a listen covers it. Without a
  /// listen, the write's own data replaces the server's, except for unresolved server values.
  /// - Returns: The events it causes: none when the data already came, inverse ones when rejected.
  package mutating func acknowledge(_ id: WriteID, _ verdict: WriteVerdict) -> ReplicaOutcome {
    guard let pending = overlay.remove(id) else { return ReplicaOutcome() }
    var touched = PathTrie<TreeNode>()
    var outcome: ReplicaOutcome
    switch verdict {
    case .rejected:
      if pending.isVisible { touched.add(pending.write) }
      outcome = refresh(touched)
    case .accepted(let resolved):
      touched.add(resolved ?? pending.write)
      kept.keep(resolved?.assignments ?? pending.certain, tree)
      outcome = settle(touched)
    }
    if pending.isVisible { outcome.written = pending.write.assignments.map(\.path) }
    return outcome
  }

  /// Begins to plan and reject writes in one step: their calls return no events, so that listeners
  /// never see the states in between.
  ///
  /// Groups do not nest. Nothing else may happen before ``endWriteGroup()``: views are out of date.
  package mutating func beginWriteGroup() { grouped = PathTrie() }

  /// Ends the group.
  ///
  /// - Returns: The events that all of its writes cause together.
  package mutating func endWriteGroup() -> ReplicaOutcome {
    guard let touched = grouped.take() else { return ReplicaOutcome() }
    return refresh(touched)
  }

  private mutating func refresh(_ touched: PathTrie<TreeNode>) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    if grouped != nil {
      touched.visit { path, node in grouped?[path] = node }
      return outcome
    }
    let overlay = overlay
    tree.points.meet(touched) { place, _, change in
      outcome.events += place.updateViews { $0.refresh(change, overlay) }
    }
    return outcome
  }

  private mutating func settle(_ touched: PathTrie<TreeNode>) -> ReplicaOutcome {
    var outcome = ReplicaOutcome()
    let overlay = overlay
    tree.points.meet(touched) { place, _, change in
      let isLive = place.value?.views.allSatisfy(\.isLive) ?? true
      let fresher = isLive ? [] : place.liveBelow()
      outcome.events += place.updateViews { $0.settle(change, fresher: fresher, overlay) }
    }
    return outcome
  }
}

extension PathTrie where Value == TreeNode {
  /// Adds the places a write touches; a place inside another one is no place of its own.
  mutating func add(_ write: TreeWrite) {
    for assignment in write.assignments { self[assignment.path] = assignment.node }
  }
}

extension PathTrie where Value == SyncPoint {
  /// Edits every view at this place and gathers the events, view by view.
  mutating func updateViews(_ body: (inout ReplicaView) -> [TreeEvent]) -> [TreeEvent] {
    // Taken out and put back, so that nothing is shared and views are edited in place.
    guard var point = value.take() else { return [] }
    defer { value = point }
    var events: [TreeEvent] = []
    for index in point.views.indices { events += body(&point.views[index]) }
    return events
  }
}
