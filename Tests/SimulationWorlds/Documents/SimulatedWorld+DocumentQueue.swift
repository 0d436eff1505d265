import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernLedger
import TernSync

// What becomes of batches: durable, accepted or rejected, each once.

extension SimulatedWorld {
  /// Takes note of a batch that the machine has made and shows from now on.
  func noteMade(_ change: QueueChange, _ ticket: UInt64, _ user: QueueUser, _ run: DocumentRun) {
    let payload: [UInt8]
    switch change {
    case .append(let bytes): payload = bytes
    case .retry(_, let bytes?): payload = bytes
    case .reject(let row, _): return noteTakenBack(row, user, run)
    default: return
    }
    guard
      let batch = DocumentBatchRecord.decode(
        payload, id: run.lastBatch, in: DocumentWorkloadSpace.database)
    else { return disagree("\(run.name) queues what is no batch") }
    if user != run.user || QueueUser(batch.user) != user {
      disagree("\(run.name) queues a batch of \(batch.user), written by \(run.user.id)")
    }
    run.news += 1
    run.tickets[ticket] = batch.id
    run.pending.append(PendingBatch(batch: batch))
  }

  /// Takes note of a batch that is rejected: it does not show any more from here on, and its end is
  /// told when the queue has it.
  private func noteTakenBack(_ row: UInt64, _ user: QueueUser, _ run: DocumentRun) {
    let id = documents.rows[QueueName(device: run.name, user: user)]?[row]
    guard let (name, _) = run.names.first(where: { $0.value == id }), run.take(name) != nil else {
      return disagree("\(run.name) rejects row \(row), which is not pending")
    }
    run.news += 1
    run.takenBack.insert(name)
  }

  /// A queue has changed, or not.
  func queued(
    _ job: SimulatedJob, _ result: QueueResult, of queue: QueueName, _ stream: UInt128,
    _ run: DocumentRun
  ) -> [String] {
    switch (job.change, result) {
    case (.append(let payload), .stored(let row, let sequence)),
      (.retry(_, let payload?), .stored(let row, let sequence)):
      guard
        let batch = DocumentBatchRecord.decode(payload, id: 0, in: DocumentWorkloadSpace.database)
      else { return ["row \(row) holds no batch"] }
      let id = CommitID(stream: stream, sequence: sequence)
      if documents.durable[id] != nil { return ["\(id) names two batches"] }
      documents.durable[id] = DocumentModel.DurableBatch(
        user: queue.user, mutations: batch.mutations, since: documents.moments.count - 1)
      documents.rows[queue, default: [:]][row] = id
      if let batch = run.tickets[job.ticket] { run.names[batch] = id }
      if case .retry(let old, _) = job.change { documents.rejectedRows[queue]?.remove(old) }
    case (.settle(let row), .changed), (.reject(let row, _), .changed):
      guard let id = documents.rows[queue]?[row] else { return ["row \(row) was never made"] }
      documents.durable[id]?.isSettled = true
      if case .reject = job.change { documents.rejectedRows[queue, default: []].insert(row) }
    case (.reject(let row, _), .failed):
      if let id = documents.rows[queue]?[row] { documents.durable[id]?.hasLostRejection = true }
    case (.discard(let row), .changed): documents.rejectedRows[queue]?.remove(row)
    default: break
    }
    return []
  }

  /// The server has accepted or rejected a batch, says the machine.
  func settled(_ batch: UInt64, _ status: DocumentStatus?, _ run: DocumentRun) {
    if run.takenBack.remove(batch) != nil { return told(batch, status, run) }
    guard let pending = run.take(batch) else {
      return disagree("\(run.name) settles batch \(batch) which is not pending")
    }
    run.news += 1
    guard let id = run.names[batch], let durable = documents.durable[id] else {
      // It could not be queued.
      if status?.code != .resourceExhausted {
        disagree("\(run.name) settles batch \(batch) which is not durable")
      }
      return
    }
    documents.durable[id]?.isAnswered = true
    switch (run.outcomes[id], status) {
    case (.committed(let version, let results)?, nil):
      check(id, durable, version, results, run)
      note(pending, version, results, run)
    default: disagree("\(run.name) settles \(id) as \(String(describing: status)) by itself")
    }
  }

  /// The application is told that a batch was rejected.
  private func told(_ batch: UInt64, _ status: DocumentStatus?, _ run: DocumentRun) {
    if let id = run.names[batch], status?.code == .unknown,
      documents.durable[id]?.hasLostRejection == true
    {
      // The server was let pass over it, and cannot say any more that it was rejected.
      documents.durable[id]?.isAnswered = true
      if documents.applied[id] != nil { disagree("\(run.name) does not know of \(id), made") }
      return
    }
    guard let id = run.names[batch], let durable = documents.durable[id],
      case .rejected(let told)? = run.outcomes[id], let status
    else { return disagree("\(run.name) settles batch \(batch) as rejected by itself") }
    documents.durable[id]?.isAnswered = true
    documents.durable[id]?.wasToldRejected = durable.isSettled
    if told != status { disagree("\(run.name) is told \(told), says \(status)") }
    check(id, durable, rejected: status, run)
  }

  private func check(
    _ id: CommitID, _ durable: DocumentModel.DurableBatch, _ version: DocumentVersion,
    _ results: [DocumentWriteResult], _ run: DocumentRun
  ) {
    if let applied = documents.applied[id] {
      let isSame =
        applied.version == version && applied.results.map(\.version) == results.map(\.version)
      if !isSame { disagree("\(run.name) is told \(version), \(results) of \(id): \(applied)") }
      return
    }
    // What changes nothing leaves no trace; there must have been a moment when it was so.
    let hasSuch = documents.couldEnd(durable) { moment, outcome in
      guard case .success(let made) = outcome else { return false }
      return made.documents == moment.documents
    }
    if !hasSuch {
      disagree(
        "\(run.name) takes \(id) for made, and it is not: \(durable.mutations.map { words($0) })")
    }
  }

  private func check(
    _ id: CommitID, _ durable: DocumentModel.DurableBatch, rejected status: DocumentStatus,
    _ run: DocumentRun
  ) {
    if documents.applied[id] != nil {
      return disagree("\(run.name) takes \(id) for rejected, and it was made")
    }
    let isJust = documents.couldEnd(durable) { _, outcome in
      guard case .failure(let expected) = outcome else { return false }
      return expected.code == status.code
    }
    if !isJust {
      disagree(
        "\(run.name): \(id) \(durable.mutations.map { words($0) }) was rejected with \(status) for no reason"
      )
    }
  }

  private func note(
    _ batch: DocumentBatch, _ version: DocumentVersion, _ results: [DocumentWriteResult],
    _ run: DocumentRun
  ) {
    for key in batch.keys {
      var own = version
      for (mutation, result) in zip(batch.mutations, results) where mutation.key == key {
        own = result.version ?? version
      }
      run.client.accepted[key] = own
      run.client.possible(key, documents).acknowledged(
        AcknowledgedBatch(
          batch: batch, version: own, values: results.map(\.transformResults)))
    }
  }
}

extension DocumentModel {
  /// Compares what a queue holds after a start with what was durable. A rejection that it holds is
  /// told by it, also if the run that heard of it ended before it said so.
  mutating func restored(
    _ held: [QueuedWrite], of stream: UInt128, _ queue: QueueName
  ) -> [String] {
    var found: [UInt64] = []
    var rejected: Set<UInt64> = []
    for row in held {
      switch row.state {
      case .pending(let sequence): found.append(sequence)
      case .rejected: rejected.insert(row.id)
      case .kept: break
      }
    }
    var wrong: [String] = []
    let expected = durable.filter { $0.key.stream == stream && !$0.value.isSettled }
      .map(\.key.sequence).sorted()
    if found != expected {
      wrong.append("the queue came back with \(found), durable were \(expected)")
    }
    let known = rejectedRows[queue] ?? []
    if rejected != known {
      wrong.append("the queue came back with \(rejected) rejected, were \(known)")
    }
    for row in rejected {
      guard let id = rows[queue]?[row] else { continue }
      durable[id]?.isAnswered = true
      durable[id]?.wasToldRejected = true
      if applied[id] != nil { wrong.append("row \(row) says that \(id) was rejected; it was made") }
    }
    return wrong
  }
}
