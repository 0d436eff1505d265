import TernClient
import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernLedger
import TernQuery
import TernSync
import TernTestKit

// Clients of documents at work.

extension SimulatedWorld {
  /// Starts a client's process over what its disks hold.
  func startDocumentClient(_ index: Int) {
    let client = documentClients[index]
    guard client.run == nil else { return }
    let ambient = client.ambient
    do {
      let shelf = WriteQueueRegistry(
        store: client.queueDisk.open(),
        of: DocumentBatchRecord.records(in: DocumentWorkloadSpace.database),
        limits: QueueLimits(writeCount: 60), ambient: ambient)
      guard let queue = openFirstQueue(shelf, of: client) else { return }
      let (pending, rejected) = batches(in: queue, of: client.user, after: 0)
      let cacheStore = client.cacheDisk.open()
      let cache = try DocumentCache(
        store: cacheStore, prefix: [], user: client.user.id, batches: pending.map(\.batch))
      let database = DocumentWorkloadSpace.database
      let machine = DocumentMachine(
        replica: DocumentReplica(cache: cache, database: database), database: database,
        user: client.user, stream: queue.client, pending: pending, rejected: rejected,
        nextSequence: queue.nextSequence, ambient: ambient)
      let run = DocumentRun(of: client, machine: machine, shelf: shelf, cacheStore: cacheStore)
      restored(queue, pending, of: client.user, run)
      client.run = run
      if let token = client.token { run.machine.setCredential(token) }
      run.machine.start()
      if client.isOfflineByWish { run.machine.setNetwork(isEnabled: false) }
      carryOut(run)
      listenToDocumentsAgain(run)
    } catch {
      disagree("d\(index) does not start: \(error)")
    }
  }

  /// A client's process is gone.
  func ended(_ client: SimulatedDocumentClient) {
    client.run = nil
    client.forEachPossible(documents) { $0.crashed() }
  }

  /// Marks a device's cached documents as stored on its disk.
  func synced(_ device: SimulatedDevice) {
    guard let client = device as? SimulatedDocumentClient else { return }
    client.forEachPossible(documents) { $0.synced() }
  }

  // MARK: Effects

  /// Carries out what a machine owes, as its session would, then looks whether all is well.
  func carryOut(_ run: DocumentRun) {
    repeat {
      perform(run.machine.drainEffects(), run)
      if let failure = run.machine.storeCache() { disagree("\(run.name) cache: \(failure)") }
      // What storing has met may have to be fetched anew.
    } while !perform(run.machine.drainEffects(), run)
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
    var jobs: [SimulatedJob] = []
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
        case .change(let change, let ticket, let user):
          // It is shown from here on.
          noteMade(change, ticket, user, run)
          jobs.append(SimulatedJob(ticket: ticket, change: change, user: user))
        default: carryOut(effect, run)
        }
      }
      effects = run.machine.drainEffects()
    }
    flush(&frames, run)
    run.jobs += jobs
    return first.isEmpty
  }

  private func carryOut(_ effect: DocumentClientEffect, _ run: DocumentRun) {
    switch effect {
    case .openLink(let number, _):
      run.forgetStream()
      plan(.connect(run, number: number), after: 0...20)
    case .startTimer(let timer, let delay):
      run.lastTimer += 1
      run.timers[timer] = run.lastTimer
      agenda.add(
        .documentTimer(run, timer, generation: run.lastTimer),
        at: clock.now + Int64(delay / .milliseconds(1)) + lateness())
    case .stopTimer(let timer): run.timers[timer] = nil
    case .snapshot(let id, let snapshot): heard(snapshot, id, run)
    case .failed(let id, let status): failed(id, status, run)
    case .settled(let batch, let status): settled(batch, status, run)
    case .answered(let id, let result): answered(id, result, run)
    case .called(let id, let result): called(id, result, run)
    case .writesSettled(let id, let isCancelled): waited(id, isCancelled, run)
    case .findOthers: findOthers(run)
    case .credential(.refused(let token, _)): refused(token, on: run.client)
    case .invalid(let batch, let error): disagree("\(run.name) \(batch) breaks a rule: \(error)")
    // The rest is not looked at here: what only sessions pass on.
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
    switch try? DocumentClientFrame.decode(frame) {
    case .open(let call, let opening)?:
      let method = DocumentMethod(rawValue: opening.method)
      run.methods[call] = method
      let bearer = opening.metadata.last { $0.name == "authorization" }?.value
      run.shown[call] = WorkloadTokens.user(of: bearer)
      if method == .listen {
        run.current = []
        run.confirmed = []
      }
    case .message(let call, let message)?:
      noteUser(message, of: call, run)
      noteLookup(message, of: call, run)
    default: break
    }
  }

  private func noteLookup(_ message: [UInt8], of call: UInt32, _ run: DocumentRun) {
    guard run.methods[call] == .listen,
      case .listen(.add(let target))? = try? DocumentRequest.decode(
        .listen, message, in: DocumentWorkloadSpace.database
      ).body, target.purpose == .limboResolution, case .documents(let keys) = target.subject
    else { return }
    run.lookups[target.id] = keys.first
  }

  /// Looks at what a client is told before it is.
  private func noteTold(_ frame: [UInt8], _ run: DocumentRun) {
    guard case .message(let call, let message)? = try? DocumentServerFrame.decode(frame),
      let method = run.methods[call], method == .listen || method == .write,
      let response = try? DocumentResponse.decode(
        method, message, DocumentNames(DocumentWorkloadSpace.database))
    else { return }
    if showsFrames { trace.note("  \(run.name) is told \(response)") }
    switch response {
    case .listen(.target(let change)): noteTold(change, run)
    case .write(let response):
      guard let stream = run.writeStreams[call] else { return }
      let outcomes: [DocumentWriteOutcome] =
        switch response.content {
        case .outcome(let outcome): [outcome]
        case .outcomes(let outcomes): outcomes
        case .handshake, .committed: []
        }
      for outcome in outcomes {
        run.outcomes[CommitID(stream: stream, sequence: outcome.sequence)] = outcome.verdict
      }
    default: break
    }
  }

  private func noteTold(_ change: WatchTargetChange, _ run: DocumentRun) {
    switch change.kind {
    case .current: run.current.formUnion(change.targets)
    case .removed(let status):
      run.current.subtract(change.targets)
      // A document that its user may not look up leaves the cache.
      for target in change.targets where status != nil {
        if let key = run.lookups[target] { run.client.possible(key, documents).forgotten() }
      }
    case .added, .reset: run.current.subtract(change.targets)
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
