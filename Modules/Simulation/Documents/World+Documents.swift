import TernClient
import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernLedger
import TernQuery
import TernSync
import TernTestKit

// Clients of documents at work.

extension World {
  /// Starts a client's process over what its disks hold.
  func startDocumentClient(_ index: Int) {
    let client = documentClients[index]
    guard client.run == nil else { return }
    let ambient = client.ambient
    do {
      let (queue, rows) = try WriteQueue.open(
        client.queueDisk.open(), limits: QueueLimits(writeCount: 60),
        newClient: ambient.randomID())
      let (pending, refused) = restored(rows)
      for words in documents.restored(rows, of: queue.client, client.name) {
        disagree("d\(index): \(words)")
      }
      let cacheStore = client.cacheDisk.open()
      let cache = try DocumentCache(
        store: cacheStore, prefix: [], batches: pending.map(\.batch))
      let database = DocumentPlayground.database
      let machine = DocumentMachine(
        replica: DocumentReplica(cache: cache, database: database), database: database,
        stream: queue.client, pending: pending, refused: refused,
        nextSequence: queue.nextSequence, ambient: ambient)
      let run = DocumentRun(of: client, machine: machine, queue: queue, cacheStore: cacheStore)
      run.pending = pending.map { PendingBatch(batch: $0.batch) }
      for queued in pending {
        run.names[queued.batch.id] = CommitID(stream: queue.client, sequence: queued.sequence)
      }
      client.run = run
      run.machine.start()
      if client.isOfflineByWish { run.machine.setNetwork(isEnabled: false) }
      carryOut(run)
      listenToDocumentsAgain(run)
    } catch {
      disagree("d\(index) does not start: \(error)")
    }
  }

  private func restored(
    _ rows: [QueuedWrite]
  ) -> (pending: [DocumentQueuedBatch], refused: [RefusedDocumentBatch]) {
    var pending: [DocumentQueuedBatch] = []
    var refused: [RefusedDocumentBatch] = []
    for row in rows {
      let id = UInt64(pending.count + 1)
      guard
        let batch = DocumentBatchRecord.decode(
          row.payload, id: id, in: DocumentPlayground.database)
      else {
        disagree("row \(row.id) holds no batch")
        continue
      }
      switch row.state {
      case .pending(let sequence):
        pending.append(DocumentQueuedBatch(batch: batch, row: row.id, sequence: sequence))
      case .rejected(let reason):
        refused.append(
          RefusedDocumentBatch(id: row.id, mutations: batch.mutations, reason: reason))
      case .kept: disagree("row \(row.id) is kept")
      }
    }
    return (pending, refused)
  }

  /// A client's process is gone.
  func ended(_ client: SimulatedDocumentClient) {
    client.run = nil
    client.forEachPossible(documents) { $0.crashed() }
  }

  /// What a device's cache holds is on its disk.
  func synced(_ device: SimulatedDevice) {
    guard let client = device as? SimulatedDocumentClient else { return }
    client.forEachPossible(documents) { $0.synced() }
  }

  // MARK: Effects

  /// Carries out what a machine owes, as its session would, then looks whether all is well.
  func carryOut(_ run: DocumentRun) {
    repeat {
      perform(run.machine.takeEffects(), run)
      if let failure = run.machine.storeCache() { disagree("\(run.name) cache: \(failure)") }
      // What storing has met may have to be fetched anew.
    } while !perform(run.machine.takeEffects(), run)
    if !run.jobs.isEmpty, !run.isWriting {
      run.isWriting = true
      plan(.queueWrites(run), after: 0...3)
    }
    checkDocuments(run)
  }

  /// - Returns: Whether there was nothing to do.
  @discardableResult
  private func perform(_ first: [DocumentClientEffect], _ run: DocumentRun) -> Bool {
    var frames: [[UInt8]] = []
    var jobs: [(ticket: UInt64, change: QueueChange)] = []
    var effects = first
    while !effects.isEmpty {
      for effect in effects {
        switch effect {
        case .send(let frame):
          noteSent(frame, run)
          frames.append(frame)
        case .closeLink(let number):
          flush(&frames, run)
          closeLink(number, run)
        case .change(let change, let ticket, _):
          // It is shown from here on.
          noteMade(change, ticket, run)
          jobs.append((ticket, change))
        default: carryOut(effect, run)
        }
      }
      effects = run.machine.takeEffects()
    }
    flush(&frames, run)
    run.jobs += jobs
    return first.isEmpty
  }

  private func carryOut(_ effect: DocumentClientEffect, _ run: DocumentRun) {
    switch effect {
    case .openLink(let number):
      run.forgetStream()
      plan(.connect(run, number: number), after: 0...20)
    case .startTimer(let timer, let delay):
      run.lastTimer += 1
      run.timers[timer] = run.lastTimer
      agenda.add(
        .documentTimer(run, timer, generation: run.lastTimer),
        at: clock.now + Int64(delay / .milliseconds(1)))
    case .stopTimer(let timer): run.timers[timer] = nil
    case .snapshot(let id, let snapshot): heard(snapshot, id, run)
    case .failed(let id, let status): failed(id, status, run)
    case .settled(let batch, let status): settled(batch, status, run)
    case .answered(let id, let result): answered(id, result, run)
    case .called(let id, let result): called(id, result, run)
    case .writesSettled(let id, let isCancelled): waited(id, isCancelled, run)
    // A client of this world has one user.
    case .findOthers: _ = run.machine.restore(others: [])
    case .invalid(let batch, let error): disagree("\(run.name) \(batch) breaks a rule: \(error)")
    // The rest is not looked at here: wishes about tokens, and what only sessions pass on.
    default: break
    }
  }

  func fired(_ timer: DocumentTimer, _ generation: Int, _ run: DocumentRun) {
    guard !run.isDead, run.timers[timer] == generation else { return }
    run.timers[timer] = nil
    run.machine.timerFired(timer)
    if timer == .evict { run.client.forEachPossible(documents) { $0.forgotten() } }
    carryOut(run)
  }

  func arrived(_ chunk: Chunk, over link: SimulatedLink, at run: DocumentRun) {
    run.before = (run.version, run.confirmed)
    defer { run.before = nil }
    for frame in chunk.frames { noteTold(frame, run) }
    run.machine.received(chunk.frames, on: link.number)
    carryOut(run)
  }

  // MARK: What is said

  /// Remembers which call is which.
  private func noteSent(_ frame: [UInt8], _ run: DocumentRun) {
    guard case .open(let call, let opening)? = try? DocumentClientFrame.decode(frame) else {
      return
    }
    let method = DocumentMethod(rawValue: opening.method)
    run.methods[call] = method
    if method == .listen {
      run.current = []
      run.confirmed = []
    }
  }

  /// Looks at what a client is told before it is.
  private func noteTold(_ frame: [UInt8], _ run: DocumentRun) {
    guard case .message(let call, let message)? = try? DocumentServerFrame.decode(frame),
      let method = run.methods[call], method == .listen || method == .write,
      let response = try? DocumentResponse.decode(
        method, message, DocumentNames(DocumentPlayground.database))
    else { return }
    if showsFrames { trace.note("  \(run.name) is told \(response)") }
    switch response {
    case .listen(.target(let change)): noteTold(change, run)
    case .write(let response):
      switch response.content {
      case .outcome(let outcome): run.outcomes[outcome.sequence] = outcome.verdict
      case .outcomes(let outcomes):
        for outcome in outcomes { run.outcomes[outcome.sequence] = outcome.verdict }
      case .handshake, .committed: break
      }
    default: break
    }
  }

  private func noteTold(_ change: WatchTargetChange, _ run: DocumentRun) {
    switch change.kind {
    case .current: run.current.formUnion(change.targets)
    case .added, .removed, .reset: run.current.subtract(change.targets)
    case .none:
      guard change.targets.isEmpty, let time = change.readTime else { return }
      run.confirmed = run.current
      if let last = run.told.last, time < last {
        return disagree("\(run.name) is told \(time.microseconds) after \(last.microseconds)")
      }
      run.news += 1
      if time != run.told.last { run.told.append(time) }
    }
  }

  /// A frame in words.
  static func frameWords(_ frame: [UInt8]) -> String {
    if frame.first == UInt8(ascii: "{") { return String(decoding: frame, as: UTF8.self) }
    if case .open(let call, let opening)? = try? DocumentClientFrame.decode(frame) {
      return "\(call) calls \(opening.method)"
    }
    return "\(frame.count) bytes of kind \(frame.first ?? 0)"
  }
}
