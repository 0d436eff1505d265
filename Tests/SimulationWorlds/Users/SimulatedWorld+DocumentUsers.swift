import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernLedger
import TernSync

// Document clients with changing users: one user's writes are visible to no other user, and are
// sent only with that user's credentials.

extension SimulatedWorld {
  /// Sends the user's token to the server, as the user's session would.
  func showToken(_ run: DocumentRun) {
    let user = run.client.user
    guard user != run.user else { return run.machine.setCredential(run.client.token) }
    let opened = openQueue(of: user, run)
    if case .success(let queue)? = opened {
      let batches = batches(in: queue, of: user, after: run.lastBatch)
      restored(queue, batches.pending, of: user, run)
    }
    run.changeUser(to: user)
    if let failure = run.machine.switchUser(to: user, showing: run.client.token, opened) {
      refuseQueue(of: user, because: failure, run)
    }
  }

  /// Looks into the queues of those who have used the device before, as its session would.
  func findOthers(_ run: DocumentRun) {
    let others = run.shelf.openOthers()
    for (user, opened) in others {
      guard case .success(let queue) = opened else { continue }
      let batches = batches(in: queue, of: user, after: run.lastBatch)
      restored(queue, batches.pending, of: user, run)
    }
    for (user, failure) in run.machine.restore(others: others) {
      refuseQueue(of: user, because: failure, run)
    }
    run.client.forEachPossible(documents) { $0.forgotten() }
  }

  /// Reads what a queue holds.
  ///
  /// - Parameter last: The name of the last batch of this run.
  func batches(
    in queue: OpenedQueue, of user: QueueUser, after last: UInt64
  ) -> (pending: [DocumentQueuedBatch], rejected: [RejectedDocumentBatch]) {
    do throws(QueueError) {
      return try DocumentBatchRecord.batches(
        in: queue.rows, of: user, DocumentWorkloadSpace.database, after: last)
    } catch {
      disagree("a queue holds what is no batch: \(error)")
      return ([], [])
    }
  }

  /// Takes note of the batches of a queue that was opened.
  func restored(
    _ queue: OpenedQueue, _ pending: [DocumentQueuedBatch], of user: QueueUser, _ run: DocumentRun
  ) {
    run.streams[user] = queue.client
    let name = QueueName(device: run.name, user: user)
    for words in documents.restored(queue.rows, of: queue.client, name) {
      disagree("\(run.name): \(words)")
    }
    for queued in pending {
      run.lastBatch = max(run.lastBatch, queued.batch.id)
      run.names[queued.batch.id] = CommitID(stream: queue.client, sequence: queued.sequence)
    }
    run.restore(pending.map { PendingBatch(batch: $0.batch) }, of: user)
  }

  /// Looks whose batches go over a call, and who is shown with it.
  func noteUser(_ message: [UInt8], of call: UInt32, _ run: DocumentRun) {
    guard run.methods[call] == .write,
      case .write(let request)? = try? DocumentRequest.decode(
        .write, message, in: DocumentWorkloadSpace.database
      ).body
    else { return }
    if showsFrames { trace.note("  \(run.name) says \(request.content)") }
    switch request.content {
    case .handshake(let stream): run.writeStreams[call] = stream
    case .outcomes: break
    case .writes(_, let mark):
      guard let mark, let stream = mark.stream ?? run.writeStreams[call] else { return }
      let id = CommitID(stream: stream, sequence: mark.sequence)
      let shown = run.shown[call] ?? .nobody
      if let owner = documents.durable[id]?.user, owner != shown {
        disagree("\(run.name) sends \(id) of \(owner.id) as \(shown.id)")
      }
    }
  }
}
