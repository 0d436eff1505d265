import Synchronization
import TernCommitLog
public import TernLedger
public import TernStorage

extension SharedLedger {
  public func read<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> R
  ) async throws(LedgerError) -> R {
    try openCopy().read(body)
  }

  /// Commits together with what other callers bring meanwhile: one append is under way, and all
  /// that came since shares the next.
  public func commit(_ commits: [Commit]) async throws(LedgerError) -> [CommitResult] {
    if commits.isEmpty { return [] }
    let request = enqueue(commits)
    await turn.take()
    defer { turn.give() }
    while request.result == nil { await commitGroup() }
    guard let result = request.result else { throw .storage(.abandoned) }
    return try result.get()
  }

  private func commitGroup() async {
    let group = takeGroup()
    do throws(LedgerError) {
      let all = group.flatMap(\.commits)
      var results = try await decideNow { _ throws(StorageError) in
        Decision(all, keeping: ())
      }.results[...]
      for request in group {
        request.result = .success(Array(results.prefix(request.commits.count)))
        results = results.dropFirst(request.commits.count)
      }
    } catch {
      for request in group { request.result = .failure(error) }
    }
  }

  public func decide<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) async throws(LedgerError) -> (results: [CommitResult], kept: R) {
    await turn.take()
    defer { turn.give() }
    return try await decideNow(body)
  }

  /// Decides on the copy, appends, and applies what was appended.
  private func decideNow<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) async throws(LedgerError) -> (results: [CommitResult], kept: R) {
    let term = try usableTerm()
    let (batch, results, kept) = try openCopy().draft(body)
    if batch.commits.isEmpty {
      // What was read has to be the newest when it is answered, too.
      _ = try usableTerm()
    } else {
      try await commit(batch, in: term)
    }
    return (results, kept)
  }

  private func usableTerm() throws(LedgerError) -> Term {
    let now = options.plantedFault == .ignoresAgeOfLease ? 0 : uptime()
    let (term, phase, reason) = state.withLock { state in
      (state.usableTerm(at: now), state.phase, state.reason)
    }
    if let term { return term }
    if phase == .leading {
      endTerm(Self.staleLease)
      throw .unavailable(reason: Self.staleLease)
    }
    throw .unavailable(reason: reason)
  }

  static let staleLease = "the shared log was out of reach for longer than the lease lasts"

  /// Makes a batch durable in the log, then applies it to the copy.
  private func commit(_ batch: ReplicatedBatch, in term: Term) async throws(LedgerError) {
    var (mark, tail) = state.withLock { ($0.mark, $0.tail) }
    if options.plantedFault == .appliesBeforeAppending {
      try openCopy().apply([(ReplicaMark(position: tail.next.number, id: nil), batch)])
    }
    for part in try BatchParts.split(batch.encode(), limit: options.partBytes) {
      let draft = LogBatch.Draft(id: environment.randomID(), payload: part)
      try await append(draft, after: tail, in: term)
      tail = tail.next
      mark = ReplicaMark(position: tail.number, id: draft.id)
    }
    do throws(LedgerError) {
      if options.plantedFault != .answersWithoutApplying {
        try openCopy().apply([(mark, batch)])
      }
    } catch {
      // It is durable, and this node cannot answer for it: another one, or this one once its copy
      // can be written again, has the outcome.
      let reason = "the node's copy could not be written: \(error)"
      endTerm(reason, waiting: options.leaseLifetime)
      throw .unavailable(reason: reason)
    }
    state.withLock { [mark, tail] in $0.advance(to: mark, tail: tail, id: mark.id) }
  }

  /// Appends until the outcome is known, for as long as the lease cannot have been taken over.
  private func append(
    _ draft: LogBatch.Draft, after tail: LogPosition, in term: Term
  ) async throws(LedgerError) {
    var attempts = AppendAttempts(draft, after: tail, in: term, to: log, options)
    while true {
      let begun = uptime()
      let outcome: AppendOutcome
      do throws(CommitLogError) {
        outcome = try await attempts.next()
      } catch {
        guard error.isTransient else { throw end("the shared log: \(error)") }
        state.withLock { state in
          if error == .unknownOutcome { state.figures.unknown += 1 }
          state.figures.retries += 1
        }
        let now = uptime()
        guard state.withLock({ $0.usableTerm(at: now) != nil }) else { throw end(Self.staleLease) }
        await pause(options.retryPause)
        continue
      }
      let renewed = attempts.isFound ? term.confirmed : origin(begun)
      state.withLock { $0.note(outcome, in: term, begun: renewed) }
      switch outcome {
      case .appended: return
      case .fenced: throw end("another node leads")
      case .behind: throw end("another node has appended to the log")
      }
    }
  }

  /// Ends the term; what was under way may or may not be in the log.
  private func end(_ reason: String) -> LedgerError {
    endTerm(reason)
    return .unavailable(reason: reason)
  }

  public func log(
    after version: Version, limit: Int
  ) async throws(LedgerError) -> [LogEntry] {
    try openCopy().log(after: version, limit: limit)
  }

  public func statistics() async throws(LedgerError) -> LedgerStatistics? {
    let read: (EmbeddedLedger) -> LedgerStatistics? = { $0.statistics() }
    return copy.flatMap(read)
  }

  /// Does nothing: a node maintains its copy whether it leads or not.
  public func maintain() async throws(LedgerError) {}

  public func waitForCommit(after version: Version) async {
    await copy?.waitForCommit(after: version)
  }
}
