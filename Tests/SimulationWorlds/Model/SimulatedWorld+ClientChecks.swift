import TernClient
import TernCore
import TernQuery
import TernSync
import TernTreeReplica
import TernTreeWire

extension SimulatedWorld {
  /// Checks everything a client shows.
  func checkClient(_ run: ClientRun) {
    guard disagreements.isEmpty else { return }
    let mirrors = run.listeners.sorted { $0.key.registration < $1.key.registration }
    let (views, unanswered) = run.look { machine in
      let views = mirrors.map { _, mirror in
        machine.viewState(at: mirror.view.path, query: mirror.view.query)
      }
      return (views, machine.unansweredWrites)
    }
    var truth = ShownTrees(writes: run.look { $0.visibleWrites })
    var seen: Set<ViewName> = []
    for ((_, mirror), view) in zip(mirrors, views) {
      guard let view else {
        disagree("c\(run.index) has lost a listener at \(mirror.view.path)")
        continue
      }
      check(mirror, view, run)
      if seen.insert(mirror.view).inserted { check(view, mirror.view, &truth, run) }
    }
    checkShown(run)
    if unanswered > 8 {
      disagree("c\(run.index) has \(unanswered) writes on their way, limit 8")
    }
  }

  /// Checks that a listener's events add up to its current view.
  private func check(_ mirror: Mirror, _ view: ViewState, _ run: ClientRun) {
    var place: String { "c\(run.index) \(mirror.view.path) \(mirror.view.query.id)" }
    let children = view.node.children
    let isSame =
      children.count == mirror.children.count
      && children.allSatisfy { mirror.children[$0.key] == $0.node }
    if !isSame {
      disagree("\(place) shows \(view.node), its listener heard \(mirror.children)")
    }
    guard view.isComplete else { return }
    if mirror.value != view.node {
      disagree(
        "\(place) is \(view.node), its listener was told \(String(describing: mirror.value))")
    }
  }

  /// A complete view is the query over what the client was told, with its own writes.
  private func check(
    _ view: ViewState, _ name: ViewName, _ truth: inout ShownTrees, _ run: ClientRun
  ) {
    guard view.isComplete else { return }
    // Of what lies outside its window a filtered view knows nothing, so what moves in and out
    // by writes that wait is only known to the server.
    if !name.query.loadsAllData, !view.pending.isEmpty { return }
    let versions: ClosedRange<UInt64>
    if view.isLive, let told = run.told {
      versions = told
    } else if let frozen = run.frozen, frozen.views.contains(name) {
      versions = frozen.version...frozen.version
    } else {
      return
    }
    var expected = TreeNode.empty
    for version in versions {
      expected = truth.result(of: name, at: version, model)
      if expected == view.node { return }
    }
    disagree(
      """
      c\(run.index) shows \(view.node) at \(name.path) \(name.query.id), \
      expected \(expected) of v\(versions.upperBound) with \(truth.writes)
      """)
  }

  /// Checks that a client is pushed nothing that none of the users it has shown may read.
  func checkPermissions(_ frames: [[UInt8]], over link: SimulatedLink, _ run: ClientRun) {
    for frame in frames {
      let path: TreePath
      switch try? TreeServerMessage.decode(frame) {
      case .put(let push): path = push.path
      case .merge(let push): path = push.path
      case .rangeMerge(let push): path = push.path
      default: continue
      }
      // A listen at the root covers everything; who may have that one may have all.
      if !link.hasListenedToRoot,
        link.everShown.allSatisfy({ !WorkloadRules.mayRead(path, by: $0) })
      {
        disagree("c\(run.index) is pushed \(path), which nobody who was there may read")
      }
    }
  }

  /// Checks that a client is told of a write at the latest with its acknowledgement.
  func checkAcknowledgement(_ change: QueueChange, of user: QueueUser, _ run: ClientRun) {
    guard case .settle(let row) = change, let told = run.told?.upperBound,
      let version = model.version(ofRow: row, of: QueueName(device: run.name, user: user)),
      version > told
    else { return }
    disagree("c\(run.index) is told of its write as of v\(version), and of the data as of v\(told)")
  }

  /// The connection is gone: live views stay as they are until there is another one.
  func connectionEnded(_ run: ClientRun) {
    defer { run.told = nil }
    guard let told = run.told, told.lowerBound == told.upperBound, !run.hasDisconnectPlan else {
      run.frozen = nil
      run.hasDisconnectPlan = false
      return
    }
    let live = Set(run.listeners.values.map(\.view)).filter {
      run.machine.viewState(at: $0.path, query: $0.query)?.isLive == true
    }
    run.frozen = (told.upperBound, live.sorted { $0.path < $1.path })
  }

  // MARK: What was heard

  func heard(_ events: [TreeEvent], _ run: ClientRun) {
    for event in events {
      let id = ListenerID(tree: .shared, registration: event.registration)
      if run.endedListeners.contains(id) {
        disagree("c\(run.index) \(event.path) hears \(event.change) after its end")
      }
      guard var mirror = run.listeners[id] else { continue }
      if !mirror.take(event.change) {
        disagree("c\(run.index) \(event.path) hears \(event.change), has \(mirror.children)")
      }
      if event.change.kind == .value, event.path.text == "pair" {
        checkPairs(TreeNode.empty.setting(event.change.node, at: event.path), "c\(run.index)")
      }
      run.listeners[id] = mirror
    }
  }

  func readEnded(
    _ id: OperationID, _ result: Result<ReadAnswer, ReadError>, _ run: ClientRun
  ) {
    guard let name = run.reads.removeValue(forKey: id), case .success(let answer) = result else {
      return
    }
    guard !answer.isFromCache, answer.pending.isEmpty, let told = run.told else { return }
    let versions = run.reading.map { min($0.lowerBound, told.lowerBound)...$0.upperBound } ?? told
    var truth = ShownTrees(writes: [])
    if versions.contains(where: { truth.result(of: name, at: $0, model) == answer.node }) { return }
    disagree(
      "c\(run.index) reads \(answer.node) at \(name.path) \(name.query.id), at none of \(versions)")
  }
}

/// The server's trees with a client's writes over them, each worked out once.
private struct ShownTrees {
  let writes: [TreeWrite]
  private var trees: [UInt64: TreeNode] = [:]

  init(writes: [TreeWrite]) { self.writes = writes }

  /// Returns the result of a query over the tree of a version.
  mutating func result(
    of name: ViewName, at version: UInt64, _ model: borrowing ServerModel
  ) -> TreeNode {
    let version = min(version, model.version)
    if trees[version] == nil {
      var tree = model.states[Int(version)]
      for write in writes { tree.apply(write) }
      trees[version] = tree
    }
    return name.query.window(of: (trees[version] ?? .empty).node(at: name.path))
  }
}

extension Mirror {
  /// Adds an event up; `false` when it cannot follow the ones before.
  fileprivate mutating func take(_ change: TreeChange) -> Bool {
    guard let key = change.key else {
      value = change.node
      return true
    }
    let known = children[key]
    switch change.kind {
    case .added:
      children[key] = change.node
      return known == nil
    case .removed:
      children[key] = nil
      return known == change.node
    case .changed:
      children[key] = change.node
      return known != nil && known != change.node
    case .moved: return known != nil
    case .value: return false
    }
  }
}
