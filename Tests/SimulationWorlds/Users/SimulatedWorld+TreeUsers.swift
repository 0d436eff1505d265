import TernClient
import TernCore
import TernLedger
import TernSync
import TernTreeReplica
import TernTreeWire

// Tree clients with changing users: one user's writes are visible to no other user, and are sent
// only with that user's credentials.

extension SimulatedWorld {
  /// Sends the user's token to the server, as the user's session would.
  func showToken(_ run: ClientRun) {
    let user = run.device.user
    guard user != run.user else { return run.machine.setCredential(run.device.token) }
    let opened = openQueue(of: user, run)
    if case .success(let queue)? = opened { restored(queue, of: user, run) }
    run.user = user
    let (lost, failure) = run.machine.switchUser(to: user, showing: run.device.token, opened)
    if let failure { refuseQueue(of: user, because: failure, run) }
    for transaction in lost { trace.note("\(run.name) lost \(transaction.path)") }
    declareVote(run)
    noteRestored(opened, run)
  }

  /// Looks whether a queue that was opened holds what was durable.
  func restored(_ queue: OpenedQueue, of user: QueueUser, _ run: ClientRun) {
    run.streams[user] = queue.client
    for words in model.restored(queue.rows, of: queue.client) { disagree("\(run.name): \(words)") }
  }

  /// Says what the declared transaction does; those that have waited for that go on.
  func declareVote(_ run: ClientRun) {
    for operation in run.machine.declare("vote", vote) {
      run.transactions[operation] = TransactionNote(counter: "votes", isDeclared: true)
    }
  }

  /// Checks that the pending writes are those of the device's current user.
  func noteRestored(_ opened: Result<OpenedQueue, QueueError>?, _ run: ClientRun) {
    let pending = Set(run.machine.queueStatus.pending.map(\.id))
    if case .success(let queue)? = opened {
      let count = queue.rows.count { if case .pending = $0.state { true } else { false } }
      if pending.count != count { disagree("\(run.name) has \(pending.count) of \(count) writes") }
      run.pending[run.user] = pending
    } else if case .failure? = opened {
      if !pending.isEmpty { disagree("\(run.name) has \(pending.count) writes, and no queue") }
      run.pending[run.user] = []
    } else if pending != run.pending[run.user] ?? [] {
      disagree(
        "\(run.name) has \(pending) of \(run.user.id), were \(run.pending[run.user] ?? [])")
    }
  }

  /// Checks that no writes show except those of the device's current user.
  func checkShown(_ run: ClientRun) {
    let shown = run.look { $0.visibleWrites.count }
    let own = (run.pending[run.user] ?? []).count + run.transactions.count
    if shown > own { disagree("\(run.name) shows \(shown) writes, \(run.user.id) has \(own)") }
  }

  /// Takes note of who is shown and what is listened to over a link, and looks whose writes go over
  /// it.
  func noteUser(_ message: TreeClientMessage, over link: SimulatedLink) {
    switch message {
    case .open(let opening): link.stream = opening.stream
    case .request(_, .auth(let credential)):
      link.shown = WorkloadTokens.user(of: credential.token)
      link.everShown.insert(link.shown)
    case .request(_, .unauth): link.shown = .nobody
    case .request(_, .listen(let listen)):
      if listen.path.isRoot { link.hasListenedToRoot = true }
    case .request(_, .put(_, _, _, let mark)), .request(_, .merge(_, _, let mark)):
      guard let stamp = mark.stamp, let stream = stamp.stream ?? link.stream else { return }
      let id = CommitID(stream: stream, sequence: stamp.sequence)
      if let owner = model.durable[id]?.user, owner != link.shown {
        disagree("\(link.process.name) sends \(id) of \(owner.id) as \(link.shown.id)")
      }
    default: break
    }
  }
}
