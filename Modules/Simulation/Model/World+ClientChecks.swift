import TernClient
import TernCore
import TernQuery
import TernTreeEngine

extension World {
  /// Checks everything a client shows.
  func checkClient(_ run: ClientRun) {
    guard disagreements.isEmpty else { return }
    let writes = run.machine.visibleWrites
    var seen: Set<ViewName> = []
    for (id, mirror) in run.listeners.sorted(by: { $0.key.registration < $1.key.registration }) {
      guard let view = run.machine.viewState(at: mirror.view.path, query: mirror.view.query) else {
        disagree("c\(run.index) has lost a listener at \(mirror.view.path)")
        continue
      }
      check(mirror, view, id, run)
      if seen.insert(mirror.view).inserted { check(view, mirror.view, writes, run) }
    }
    if run.machine.unansweredWrites > 8 {
      disagree("c\(run.index) has \(run.machine.unansweredWrites) writes on their way, limit 8")
    }
  }

  /// What a listener heard adds up to what it is shown.
  private func check(_ mirror: Mirror, _ view: ViewState, _ id: ListenerID, _ run: ClientRun) {
    let place = "c\(run.index) \(mirror.view.path) \(mirror.view.query.id)"
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
    _ view: ViewState, _ name: ViewName, _ writes: [TreeWrite], _ run: ClientRun
  ) {
    guard view.isComplete else { return }
    // Of what lies outside its window a filtered view knows nothing, so what moves in and out
    // by writes that wait is only known to the server.
    if !name.query.loadsAllData, view.hasPendingWrites { return }
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
      expected = shown(name, at: version, writes)
      if expected == view.node { return }
    }
    disagree(
      """
      c\(run.index) shows \(view.node) at \(name.path) \(name.query.id), \
      expected \(expected) of v\(versions.upperBound) with \(writes)
      """)
  }

  private func shown(_ name: ViewName, at version: UInt64, _ writes: [TreeWrite]) -> TreeNode {
    var root = model.states[Int(min(version, model.version))]
    for write in writes { root.apply(write) }
    return name.query.window(of: root.node(at: name.path))
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
    guard !answer.isFromCache, !answer.hasPendingWrites, let told = run.told else { return }
    let versions = run.reading.map { min($0.lowerBound, told.lowerBound)...$0.upperBound } ?? told
    if versions.contains(where: { shown(name, at: $0, []) == answer.node }) { return }
    disagree(
      "c\(run.index) reads \(answer.node) at \(name.path) \(name.query.id), at none of \(versions)")
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
