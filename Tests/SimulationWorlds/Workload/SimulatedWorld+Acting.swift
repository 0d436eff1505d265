import TernClient
import TernCore
import TernQuery
import TernSync
import TernTreeReplica

extension SimulatedWorld {
  /// A client's application does something.
  func act(_ index: Int) {
    if isHealed { return }
    plan(.clientActs(index), after: chance.happens(0.03) ? 10_000...90_000 : 5...600)
    guard let run = clients[index].run else { return }
    switch chance.below(100) {
    case 0..<50: write(run)
    case 50, 51: changeHands(run)
    case 52..<60: transact(run)
    case 60..<66: deferWrite(run)
    case 66..<77: listen(run)
    case 77..<84: unlisten(run)
    case 84..<87: keep(run)
    case 87..<93: read(run)
    case 93..<95: switchNetwork(run, isOn: false)
    case 95..<98: switchNetwork(run, isOn: true)
    case 98: answerRejection(run)
    default: if chance.happens(0.2) { purge(run) }
    }
    if run.isDead { return }
    carryOut(run)
  }

  private func made(_ id: WriteID?, _ run: ClientRun) {
    if let id { run.pending[run.user, default: []].insert(id.number) }
  }

  private func write(_ run: ClientRun) {
    let write = someWrite()
    trace.note("c\(run.index) writes \(write)")
    made(run.machine.write(write), run)
  }

  private func someWrite() -> TreeWrite {
    switch chance.below(13) {
    case 0, 1, 2: return .set(WorkloadSpace.item(&chance), WorkloadSpace.node(&chance))
    case 3:
      let child = WorkloadSpace.item(&chance).appending(TreeKey(unchecked: "n"))
      return .set(child, TreeNode(WorkloadSpace.scalar(&chance)))
    case 4: return .set(WorkloadSpace.item(&chance), .empty)
    case 5:
      let priority = WorkloadSpace.item(&chance).appending(.priority)
      return .set(priority, chance.happens(0.3) ? .empty : TreeNode(.integer(1)))
    case 6: return pair()
    case 7, 8:
      return .set(
        WorkloadSpace.path("counters", chance.happens(0.5) ? "x" : "y"),
        TreeNode(.serverValue(.increment(.integer(Int64(1 + chance.below(3)))))))
    case 9:
      lastPush += 1
      return .set(WorkloadSpace.path("notes", "-n\(1_000 + lastPush)"), WorkloadSpace.node(&chance))
    case 10: return several()
    case 11:
      let place = WorkloadSpace.own(&chance).appending(TreeKey(unchecked: "diary"))
      return .set(place, WorkloadSpace.node(&chance))
    default:
      if chance.happens(0.4) { return .set(WorkloadSpace.path("locked", "door"), 1) }
      if chance.happens(0.3) {
        return .set(WorkloadSpace.path("items"), WorkloadSpace.node(&chance))
      }
      return .set(WorkloadSpace.path("when"), TreeNode(.serverValue(.timestamp)))
    }
  }

  private func pair() -> TreeWrite {
    let node = chance.happens(0.1) ? TreeNode.empty : TreeNode(.integer(Int64(chance.below(1_000))))
    return .merge(
      .root,
      TreeMerge(unchecked: [
        .init(path: WorkloadSpace.path("pair", "a"), node: node),
        .init(path: WorkloadSpace.path("pair", "b"), node: node),
      ]))
  }

  private func several() -> TreeWrite {
    var nodes: [TreePath: TreeNode] = [:]
    for _ in 0..<3 { nodes[WorkloadSpace.item(&chance).dropFirst()] = WorkloadSpace.node(&chance) }
    if chance.happens(0.1) { return .merge(WorkloadSpace.path("locked"), merge(nodes)) }
    return .merge(WorkloadSpace.path("items"), merge(nodes))
  }

  private func merge(_ nodes: [TreePath: TreeNode]) -> TreeMerge {
    TreeMerge(unchecked: nodes.sorted { $0.key < $1.key }.map { .init(path: $0, node: $1) })
  }

  // MARK: Listening and reading

  private func listen(_ run: ClientRun) {
    guard run.listeners.count < 12 else { return }
    listen(WorkloadSpace.view(&chance), run)
  }

  /// Starts the listeners that a program has from its start.
  func listenAgain(_ run: ClientRun) {
    for view in [
      ViewName(path: WorkloadSpace.path("items"), query: WorkloadSpace.query(&chance)),
      ViewName(path: WorkloadSpace.path("pair"), query: .all),
    ] {
      listen(view, run)
      carryOut(run)
    }
  }

  private func listen(_ view: ViewName, _ run: ClientRun) {
    trace.note("c\(run.index) listens \(view.path) \(view.query.id)")
    let id = run.machine.listen(at: view.path, query: view.query, for: .all)
    run.listeners[id] = Mirror(view: view)
  }

  private func unlisten(_ run: ClientRun) {
    let ids = run.listeners.keys.sorted { $0.registration < $1.registration }
    guard ids.count > 2, let id = chance.pick(ids) else { return }
    trace.note("c\(run.index) leaves \(run.listeners[id]?.view.path.text ?? "")")
    run.listeners[id] = nil
    run.endedListeners.insert(id)
    run.machine.unlisten(id)
  }

  private func keep(_ run: ClientRun) {
    let view = WorkloadSpace.view(&chance)
    if let index = run.kept.firstIndex(of: view) {
      run.kept.remove(at: index)
      run.machine.keepSynced(false, at: view.path, query: view.query)
    } else if WorkloadRules.mayRead(view.path, by: .nobody) {
      run.kept.append(view)
      run.machine.keepSynced(true, at: view.path, query: view.query)
    }
  }

  private func read(_ run: ClientRun) {
    let view = WorkloadSpace.view(&chance)
    trace.note("c\(run.index) reads \(view.path) \(view.query.id)")
    run.reads[run.machine.read(at: view.path, query: view.query)] = view
  }

  // MARK: The rest

  private func switchNetwork(_ run: ClientRun, isOn: Bool) {
    clients[run.index].isOfflineByWish = !isOn
    trace.note("c\(run.index) goes \(isOn ? "online" : "offline")")
    if isOn { run.machine.goOnline() } else { run.machine.goOffline() }
  }

  private func answerRejection(_ run: ClientRun) {
    guard let rejected = run.machine.queueStatus.rejected.first else { return }
    switch chance.below(3) {
    case 0: made(run.machine.retry(row: rejected.id), run)
    case 1:
      made(run.machine.retry(row: rejected.id, with: .set(WorkloadSpace.item(&chance), 7)), run)
    default: _ = run.machine.discard(row: rejected.id)
    }
  }

  private func purge(_ run: ClientRun) {
    trace.note("c\(run.index) purges")
    _ = run.machine.purge()
  }
}
