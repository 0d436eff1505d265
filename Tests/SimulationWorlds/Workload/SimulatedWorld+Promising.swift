import TernClient
import TernCore
import TernSync
import TernTransactions
import TernTreeReplica
import TernTreeWire

// Transactions and deferred writes: each counts once, and that is counted here.

extension SimulatedWorld {
  func transact(_ run: ClientRun) {
    let isDeclared = chance.happens(0.4)
    let operation: OperationID
    if isDeclared {
      trace.note("c\(run.index) votes")
      model.counters["votes", default: .init()].most += 1
      operation = run.machine.transact(
        "vote", at: WorkloadSpace.path("votes"), arguments: .empty,
        appliesLocally: chance.happens(0.5), { vote(.empty, $0) })
    } else {
      trace.note("c\(run.index) tallies")
      operation = run.machine.transact(
        at: WorkloadSpace.path("tally", "t"), appliesLocally: chance.happens(0.5), oneMore)
    }
    run.transactions[operation] = TransactionNote(
      counter: isDeclared ? "votes" : "tally", isDeclared: isDeclared)
  }

  func transactionEnded(_ id: OperationID, _ outcome: TransactionOutcome, _ run: ClientRun) {
    guard let note = run.transactions.removeValue(forKey: id) else { return }
    trace.note("c\(run.index) transaction \(note.counter) \(outcome)")
    switch outcome {
    case .committed:
      if note.isDeclared { return }
      model.counters[note.counter, default: .init()].least += 1
      model.counters[note.counter, default: .init()].most += 1
    case .abandoned: disagree("c\(run.index) gave up a transaction that never gives up")
    case .failed(.cancelled):
      if !note.isDeclared { model.lost(note.counter) }
    case .failed(.tooManyAttempts):
      if note.isDeclared { model.counters[note.counter, default: .init()].least -= 1 }
    case .failed(.notStored): break  // It was not committed, and will not be.
    case .failed(let error): disagree("c\(run.index) transaction failed: \(error)")
    }
  }

  /// Leaves a write for the end of the connection, or takes one back.
  func deferWrite(_ run: ClientRun) {
    let own = model.markers.indices.filter { model.markers[$0].client == run.index }
    if chance.happens(0.25), let index = chance.pick(own.suffix(3)) {
      let id = run.machine.cancelOnDisconnect(WorkloadSpace.path("gone", "m\(index)"))
      model.markers[index].isCancelled = true
      run.markers[id] = .cancel(index)
    } else if chance.happens(0.3) {
      let write = TreeWrite.set(WorkloadSpace.item(&chance), WorkloadSpace.node(&chance))
      run.markers[run.machine.onDisconnect(write)] = .other
    } else {
      let index = model.markers.count
      trace.note("c\(run.index) leaves marker \(index)")
      model.markers.append(ServerModel.Marker(client: run.index))
      let write = TreeWrite.set(
        WorkloadSpace.path("gone", "m\(index)"), TreeNode(.serverValue(.increment(1))))
      run.markers[run.machine.onDisconnect(write)] = .mark(index)
    }
  }

  func deferredAnswered(_ id: OperationID, isRegistered: Bool, _ run: ClientRun) {
    guard let request = run.markers.removeValue(forKey: id), isRegistered else { return }
    run.hasDisconnectPlan = true
    if case .mark(let index) = request { model.markers[index].confirmedOn = run.link?.id }
  }

  /// Looks at what goes out: which requests went over which link.
  func noteSent(_ frames: [[UInt8]], over link: SimulatedLink, _ run: ClientRun) {
    for frame in frames {
      guard let message = try? TreeClientMessage.decode(frame) else { continue }
      noteUser(message, over: link)
      guard case .request(_, let request) = message else { continue }
      switch request {
      case .onDisconnectSet(let path, _):
        if let index = marker(at: path) { model.markers[index].sentOver.append(link.id) }
      case .onDisconnectCancel(let path):
        if let index = marker(at: path) { model.markers[index].cancelSentOver.append(link.id) }
      default: continue
      }
    }
  }

  private func marker(at path: TreePath) -> Int? {
    guard path.keys.count == 2, path.first?.text == "gone", let name = path.last?.text else {
      return nil
    }
    return Int(name.dropFirst())
  }
}
