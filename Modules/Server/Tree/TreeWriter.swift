import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// Decides writes of one requester to one database of trees.
///
/// A value for one request: it owns no state, and all effects go to the batch. Numbered writes are
/// exactly-once: the outcome is stored under the writer's number in the commit that has the effect,
/// and a repetition gets the stored outcome.
struct TreeWriter {
  let access: TreeAccess

  private var namespace: Namespace { access.namespace }

  /// The decision about a write.
  ///
  /// The three outcomes are counted apart, and answered with different statuses.
  enum Verdict {
    /// It is made, with its server values resolved.
    case accepted(TreeWrite)
    case refused(TreeStatus, String)
    /// The rules forbid it.
    case denied(AccessRefusal)
  }

  /// Carries out a write, or says why not; a repetition gets the same answer.
  ///
  /// - Parameters:
  ///   - expectedHash: The hash of the data that the write replaces; `nil` for an unconditional
  ///     write. Firebase's clients send it for transactions.
  ///   - mark: The writer's number for this write, if it has one, and the numbers it has
  ///     acknowledged.
  /// - Throws: Storage errors that are not about corrupt rows. They end the batch, and nothing of
  ///   it is committed.
  func write(
    _ write: TreeWrite, expectedHash: String?, _ mark: WriteHeader, _ call: TreeCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    var key: IdempotencyKey?
    if let stamp = mark.stamp {
      guard let stream = stamp.stream ?? call.session.stream else {
        let text = "A numbered write needs a stream."
        return batch.respond(.init(.failed, detail: text), to: call)
      }
      let found = IdempotencyKey(
        id: CommitID(stream: stream, sequence: stamp.sequence),
        payloadHash: PayloadHash(write, expectedHash: expectedHash).value,
        acknowledged: mark.acknowledged ?? 0)
      do throws(StorageError) {
        let passed = call.session.refused.passed(by: found)
        if let earlier = try batch.state(of: stream).verdict(on: passed) {
          batch.metrics.treeWrites.repeated += 1
          return batch.respond(Self.response(to: earlier), to: call)
        }
      } catch {
        return batch.respond(try Self.lostStream(error), to: call)
      }
      key = found
    }
    // Repetitions were answered above: a full disk does not change an outcome that is stored
    // already.
    guard batch.diskSpace.allows(write) else {
      batch.metrics.treeWrites.unavailable += 1
      return batch.respond(.init(.unavailable, detail: RefusalText.full), to: call)
    }
    let verdict = try verdict(on: write, expectedHash, key, &batch, from: call.session)
    switch verdict {
    case .accepted: batch.respond(.init(.ok, version: batch.version), to: call)
    case .refused(let status, let detail): refuse(status, detail, key, call, &batch)
    case .denied(let refusal): refuse(.permissionDenied, refusal.text, key, call, &batch)
    }
  }

  /// Judges a write, and makes it if it may be made. One that meets damage is refused, and changes
  /// nothing.
  ///
  /// - Parameters:
  ///   - key: The number under which the outcome is stored; `nil` for writes that are never
  ///     repeated.
  ///   - session: The session of a numbered write, which holds rejections that are not stored yet.
  func verdict(
    on write: TreeWrite, _ expectedHash: String?, _ key: IdempotencyKey?,
    _ batch: inout ServerBatch, from session: Session? = nil
  ) throws(StorageError) -> Verdict {
    let verdict = try decide(on: write, expectedHash, key, &batch, from: session)
    batch.metrics.treeWrites.count(verdict)
    return verdict
  }

  /// Judges a write, and commits it if it is accepted.
  ///
  /// The changes are applied to the batch's view here, before the commit is added. Whatever throws
  /// before `apply` returns leaves the view unchanged, so the write can be rejected alone.
  private func decide(
    on write: TreeWrite, _ expectedHash: String?, _ key: IdempotencyKey?,
    _ batch: inout ServerBatch, from session: Session?
  ) throws(StorageError) -> Verdict {
    let (verdict, mutations): (Verdict, [Mutation])
    do throws(StorageError) {
      verdict = try judge(write, expectedHash: expectedHash, batch)
      guard case .accepted(let resolved) = verdict else { return verdict }
      mutations = try namespace.authority.apply(
        resolved, to: batch.changes, knowing: namespace.places)
    } catch {
      if error.isExcess { return .refused(.failed, RefusalText.excess(error)) }
      guard error.isCorruption else { throw error }
      return .refused(.failed, RefusalText.damaged)
    }
    if case .accepted(let resolved) = verdict {
      if let key, let session { batch.store(&session.refused, before: key) }
      try commit(resolved, mutations, key, &batch)
    }
    return verdict
  }

  /// Decides whether a write may be made now.
  ///
  /// The order is that of what an answer reveals: form, then the right to compare, then the rules
  /// by paths alone, then the rules with resolved values, then the size. A requester without the
  /// right to read never learns the result or the cost of a comparison.
  ///
  /// - Returns: `accepted` with resolved server values; nothing is stored yet.
  func judge(
    _ write: TreeWrite, expectedHash: String?, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> Verdict {
    let authority = namespace.authority
    do throws(TreeRejection) {
      try authority.check(write)
    } catch {
      return .refused(.failed, error.text)
    }
    let reader = batch.reader
    if let expectedHash {
      // The comparison tells what is stored, so it is a read: neither its answer nor its cost may
      // reach a requester that may not read there. Source: Docs/Decisions/0023.
      let node = write.path.namesPriority ? write.path.parent ?? .root : write.path
      if let refusal = try access.readRefusal(of: node, .all, batch) {
        return .denied(refusal)
      }
      // Counted: the rows are charged to the client.
      let (counted, limit) = (batch.counted, batch.pushes.readBytes)
      guard
        let isHeld = try authority.holds(
          expectedHash, at: write.path, limitBytes: limit, in: Snapshot(counted),
          knowing: namespace.hashes)
      else { return .refused(.tooBig, RefusalText.incomparable(limitBytes: limit)) }
      if !isHeld { return .refused(.dataStale, "The data has changed") }
    }
    if let refusal = try access.preliminaryRefusal(of: write, batch) {
      return .denied(refusal)
    }
    let resolved = try authority.resolve(write, now: batch.now, in: Snapshot(reader))
    if let refusal = try access.writeRefusal(of: resolved.assignments, batch) {
      return .denied(refusal)
    }
    if try access.isTooLarge(resolved, batch) {
      return .refused(.failed, WriteSizeLimit.excess)
    }
    return .accepted(resolved)
  }

  /// Stores a write whose server values are resolved, and tells its listeners.
  ///
  /// The commit comes before the fan-out: pushes carry the version that the commit gets.
  private func commit(
    _ write: TreeWrite, _ mutations: [Mutation], _ key: IdempotencyKey?,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    let record = TreeRecord(of: write.assignments, in: namespace.rows)
    batch.add(Commit(claim: key, mutations: mutations, record: record.encode()))
    if let key { batch.record(key, []) }
    try FanOut.deliver(write, in: namespace, &batch)
  }

  /// Answers with a rejection, and stores it as the outcome of a numbered write.
  ///
  /// Anonymous clients without an accepted write have no *standing*: their rejections stay in
  /// memory, because any client could otherwise fill the disk with the outcomes of invented
  /// writers. They are stored as soon as a later write of the same writer is.
  private func refuse(
    _ status: TreeStatus, _ detail: String, _ key: IdempotencyKey?, _ call: TreeCall,
    _ batch: inout ServerBatch
  ) {
    var version: Version?
    if let key {
      let outcome = StoredOutcome(status: status, detail: detail).encode()
      guard batch.hasStanding(call.session.identity, key) else {
        call.session.refused.note(key, outcome)
        return batch.respond(.init(status, detail: detail), to: call)
      }
      batch.store(&call.session.refused, before: key)
      batch.add(Commit(claim: key, mutations: [], record: [], outcome: outcome))
      batch.record(key, outcome)
      version = batch.version
    }
    batch.respond(.init(status, detail: detail, version: version), to: call)
  }

  /// Says what became of past writes of a stream.
  ///
  /// A client asks after a reconnect, for writes whose answers it has missed. Numbers that the
  /// ledger no longer keeps, or that it never saw, are left out.
  ///
  /// - Parameters:
  ///   - stream: The writer; `nil` when neither the request nor the session names one.
  ///   - first: The first number asked for.
  ///   - last: The last number asked for. The range is cut to the outcomes that exist, so a large
  ///     one costs nothing.
  func tellOutcomes(
    _ stream: UInt128?, _ first: UInt64, _ last: UInt64, _ call: TreeCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let stream else {
      return batch.respond(.init(.failed, detail: "There is no stream."), to: call)
    }
    let state: StreamState
    do throws(StorageError) { state = try batch.state(of: stream) } catch {
      return batch.respond(try Self.lostStream(error), to: call)
    }
    var outcomes: [TreeResponse.Outcome] = []
    let known = max(first, state.first)
    if known <= min(last, state.last) {
      for sequence in known...min(last, state.last) {
        guard let outcome = state[sequence] else { continue }
        let stored = StoredOutcome(outcome.detail)
        outcomes.append(
          .init(
            sequence: sequence, status: stored.status, detail: stored.detail,
            version: outcome.version))
      }
    }
    batch.respond(.outcomes(outcomes), to: call)
  }

  /// Returns the rejection for a writer whose record is corrupt.
  ///
  /// - Throws: The error itself unless it is about corrupt rows.
  private static func lostStream(_ error: StorageError) throws(StorageError) -> TreeResponse {
    guard error.isCorruption else { throw error }
    return .init(.failed, detail: RefusalText.lostWriter)
  }

  /// Returns the answer to a repeated write.
  ///
  /// `gap` asks the client to send from the expected number on, and `unavailable` to repeat the
  /// write; all other statuses are final.
  private static func response(to earlier: CommitResult) -> TreeResponse {
    switch earlier {
    case .committed(let version): return .init(.ok, version: version)
    case .duplicate(let version, let outcome):
      let stored = StoredOutcome(outcome)
      return .init(stored.status, detail: stored.detail, version: version)
    case .gap(let expected): return .init(.gap, detail: "expected \(expected)")
    case .mismatch: return .init(.failed, detail: "Another write has this number.")
    case .forgotten: return .init(.failed, detail: "The outcome was forgotten as known.")
    case .conflict, .failedPrecondition, .exceedsLimit:
      return .init(.unavailable, detail: "Try again.")
    }
  }
}

extension ServerMetrics.Writes {
  /// Counts a verdict.
  fileprivate mutating func count(_ verdict: TreeWriter.Verdict) {
    switch verdict {
    case .accepted: accepted += 1
    case .refused(.dataStale, _): stale += 1
    case .refused: rejected += 1
    case .denied: denied += 1
    }
  }
}
