import Synchronization
import TernCommitLog
import TernLedger
import TernStorage

/// The reason a step of a node did not succeed.
enum NodeError: Error {
  case log(CommitLogError)
  case ledger(LedgerError)

  /// The error as a ledger tells it.
  var ledgerError: LedgerError {
    switch self {
    case .log(let error): .unavailable(reason: error.description)
    case .ledger(let error): error
    }
  }

  /// Runs an operation of the log.
  static func log<R>(
    _ body: () async throws(CommitLogError) -> R
  ) async throws(NodeError) -> R {
    do throws(CommitLogError) { return try await body() } catch { throw .log(error) }
  }

  /// Runs an operation of the copy.
  static func ledger<R>(
    _ body: () throws(LedgerError) -> R
  ) throws(NodeError) -> R {
    do throws(LedgerError) { return try body() } catch { throw .ledger(error) }
  }
}

extension SharedLedger {
  /// Waits, unless the task is cancelled.
  func pause(_ duration: Duration) async {
    try? await environment.clock.sleep(for: duration)
  }

  /// Does what is due, the checkpoint included: for worlds in which one thing happens at a time.
  ///
  /// - Returns: The time until something is due again.
  package func step() async -> Duration {
    let pause = await NodeLoop(ledger: self).attend().pause
    return await NodeDuties(ledger: self).foldLog() ? .zero : pause
  }

  func recover(from error: NodeError) -> Duration {
    defer { changes.resumeAll() }
    switch error {
    case .log(.truncated), .log(.regressed):
      state.withLock { state in
        if state.isFollowing { state.voidCopy("the log does not go on where the copy ends") }
      }
    case .log(let error): state.withLock { $0.note(error.description) }
    case .ledger(.storage(.corruptRecord(key: LedgerKey.replica))):
      state.withLock { $0.voidCopy("the node's copy does not go on as the log does") }
    case .ledger(let error):
      switch error {
      case .storage(.diskFull), .newerFormat, .unavailable:
        state.withLock { $0.note(error.description) }
      case .storage, .truncated, .foreignStore, .corrupt: state.withLock { $0.fail(error) }
      }
    }
    return options.retryPause
  }

  // MARK: - Following

  /// Reads the log, and looks at the lease when that is due.
  func follow() async throws(NodeError) {
    if state.withLock({ $0.isLeaseLeft }) {
      // Raises the epoch: what this node may have under way is decided then.
      try await NodeError.log { () async throws(CommitLogError) in
        try await log.releaseLease(options.shard, name: .leader, node: options.node)
      }
      state.withLock { $0.noteReleased() }
    }
    try await readLog(untilLook: true)
    try NodeError.ledger { () throws(LedgerError) in try copy?.maintain() }
    let now = uptime()
    if state.withLock({ $0.nextLook <= now }) { try await look(at: now) }
    try await following.letServe(self)
  }

  /// Applies what the log holds behind the copy.
  ///
  /// - Parameters:
  ///   - isForServer: True to go on until the copy has all that the log held at the call; false to
  ///     end after ``SharedLedgerLimits/pagesPerTurn`` pages.
  ///   - untilLook: True to end also when a look at the lease is due.
  func readLog(
    isForServer: Bool = false, untilLook: Bool = false
  ) async throws(NodeError) {
    let begun = uptime()
    var head: LogPosition?
    for _ in 0..<(isForServer ? .max : SharedLedgerLimits.pagesPerTurn) {
      guard let next = try await readPage(upTo: head, since: begun) else { return }
      // So much and no more: a leader that appends all the time is not waited for.
      head = isForServer ? head ?? next : next
      if untilLook, state.withLock({ $0.nextLook }) <= uptime() { return }
    }
  }

  /// Applies one page of the log. Between two pages others have their turn: behind a leader that
  /// appends all the time, a client's answer would wait for many otherwise.
  ///
  /// - Parameters:
  ///   - head: The position that is far enough; `nil` for the end of the log.
  ///   - begun: The uptime at which the copy is current once it is far enough.
  /// - Returns: The end of the log at a moment of the call; `nil` when nothing more is to be read.
  private func readPage(
    upTo head: LogPosition?, since begun: Int64
  ) async throws(NodeError) -> LogPosition? {
    await turn.take()
    defer { turn.give() }
    let (isFollowing, tail, id) = state.withLock { ($0.isFollowing, $0.tail, $0.tailID) }
    guard isFollowing else { return nil }
    if let head, tail >= head {
      following.noteCurrent(at: begun)
      return nil
    }
    let page = try await NodeError.log { () async throws(CommitLogError) in
      try await log.page(
        in: options.shard, after: tail, following: id, limit: SharedLedgerLimits.batchesPerRead)
    }
    guard let last = page.batches.last else {
      following.noteCurrent(at: begun)
      return nil
    }
    var next = assembler
    let placed = try NodeError.ledger { () throws(LedgerError) in try next.place(page.batches) }
    if options.plantedFault == .assemblesBeforeApplying { assembler = next }
    if !placed.isEmpty, await !following.take(placed) {
      try NodeError.ledger { () throws(LedgerError) in try openCopy().apply(placed) }
    }
    // Only now, with the position: a page whose batches could not be applied is read again.
    assembler = next
    state.withLock { state in
      state.advance(to: placed.last?.mark, tail: last.position, id: last.id)
      // Its leader has taken the lease since the latest look.
      if last.epoch > state.epoch { state.note(last.epoch) }
    }
    return page.head
  }

  // MARK: - The lease

  private func look(at now: Int64) async throws(NodeError) {
    let found = try await clocks.openLog(of: self)
    // What was found may be as young as the answer: it counts from then on.
    let (node, gap, seen) = (options.node, options.lookInterval * 4, uptime())
    let condition = state.withLock { state in
      state.nextLook = now + options.lookInterval.wholeMilliseconds
      return state.look(at: found, node: node, now: seen, longestGap: gap)
    }
    // A listener of ``changeOfLeader(after:)`` compares.
    changes.resumeAll()
    guard let condition else { return }
    let begun = uptime()
    let outcome = try await NodeError.log { () async throws(CommitLogError) in
      try await log.renewLease(
        options.shard,
        request: LeaseRequest(node: node, address: options.address, condition: condition))
    }
    guard case .held(let mark) = outcome else { return }
    // No other node can append any more: what is in the log now is all there is to apply.
    let head = try await clocks.openLog(of: self).position
    try await readLog()
    // Another leader may have moved the checkpoint since.
    duty.withLock { $0 = CheckpointDuty() }
    let (term, later) = (Term(epoch: mark.epoch, confirmed: begun), uptime())
    state.withLock { $0.elect(term, at: later, head: head) }
    changes.resumeAll()
  }

  /// Renews the lease when it is due.
  ///
  /// - Returns: The time until it may be due again.
  func keepLease() async throws(NodeError) -> Duration {
    let now = uptime()
    guard let term = state.withLock({ $0.term }) else { return .zero }
    let renewal = options.renewal.wholeMilliseconds
    if now - term.confirmed >= renewal {
      do throws(NodeError) { try await renew(term) } catch {
        let later = uptime()
        if !state.withLock({ $0.isFresh(at: later) }) { endTerm(Self.staleLease) }
        throw error
      }
    }
    try NodeError.ledger { () throws(LedgerError) in try copy?.maintain() }
    return min(options.renewal, options.lookInterval)
  }

  private func renew(_ term: Term) async throws(NodeError) {
    let begun = uptime()
    let outcome = try await NodeError.log { () async throws(CommitLogError) in
      try await log.renewLease(
        options.shard,
        request: LeaseRequest(node: options.node, address: options.address, condition: .held))
    }
    if case .held(let mark) = outcome, mark.epoch == term.epoch {
      state.withLock { $0.confirm(term.epoch, begun: origin(begun)) }
    } else {
      endTerm("another node leads")
    }
  }
}
