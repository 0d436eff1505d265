import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTreeEngine
import TernTreeWire

extension ServerMachine {
  /// What was decided about a write.
  enum Verdict {
    /// It is made, with its server values resolved.
    case accepted(TreeWrite)
    case refused(TreeStatus, String)
    /// The rules forbid it.
    case denied(AccessRefusal)
  }

  /// Carries out a write, or says why not; whoever sends it again gets the same answer.
  mutating func write(
    _ write: TreeWrite, expectedHash: String?, _ mark: WriteMark, _ call: ServerCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    var claim: CommitClaim?
    if let stamp = mark.stamp {
      guard let stream = stamp.stream ?? call.session.stream else {
        let text = "A numbered write needs a stream."
        return respond(.init(.failed, detail: text), to: call, &batch)
      }
      let found = CommitClaim(
        id: CommitID(stream: stream, sequence: stamp.sequence),
        payloadHash: PayloadHash(write, expectedHash: expectedHash).value,
        acknowledged: mark.acknowledged ?? 0)
      do throws(StorageError) {
        let passed = call.session.refused.passed(by: found)
        if let earlier = try state(of: stream, &batch).verdict(on: passed) {
          return respond(Self.response(to: earlier), to: call, &batch)
        }
      } catch {
        return respond(try Self.lostStream(error), to: call, &batch)
      }
      claim = found
    }
    guard hasRoom(for: write) else {
      return respond(.init(.unavailable, detail: Self.fullText), to: call, &batch)
    }
    let requester = call.session.requester(in: call.namespace)
    let verdict = try verdict(
      on: write, expectedHash, requester, claim, call.namespace, &batch, from: call.session)
    switch verdict {
    case .accepted: respond(.init(.ok, version: batch.version), to: call, &batch)
    case .refused(let status, let detail): refuse(status, detail, claim, call, &batch)
    case .denied(let refusal): refuse(.permissionDenied, refusal.text, claim, call, &batch)
    }
  }

  /// Judges a write, and makes it if it may be made. One that meets damage is refused, and changes
  /// nothing.
  mutating func verdict(
    on write: TreeWrite, _ expectedHash: String?, _ requester: Requester, _ claim: CommitClaim?,
    _ namespace: Namespace, _ batch: inout ServerBatch, sizeLimit: WriteSizeLimit? = nil,
    from session: Session? = nil
  ) throws(StorageError) -> Verdict {
    let (verdict, mutations): (Verdict, [Mutation])
    do throws(StorageError) {
      verdict = try judge(
        write, expectedHash: expectedHash, requester, namespace, batch, sizeLimit: sizeLimit)
      guard case .accepted(let resolved) = verdict else { return verdict }
      mutations = try namespace.authority.apply(
        resolved, to: batch.changes, knowing: namespace.places)
    } catch {
      if error.isExcess { return .refused(.failed, Self.excessText(error)) }
      guard error.isCorruption else { throw error }
      return .refused(.failed, Self.damageText)
    }
    if case .accepted(let resolved) = verdict {
      if let claim, let session { store(&session.refused, before: claim, &batch) }
      try commit(resolved, mutations, claim, in: namespace, &batch)
    }
    return verdict
  }

  /// Decides whether a write may be made now.
  func judge(
    _ write: TreeWrite, expectedHash: String?, _ requester: Requester, _ namespace: Namespace,
    _ batch: borrowing ServerBatch, sizeLimit: WriteSizeLimit?
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
      if let refusal = try readRefusal(of: node, .all, by: requester, namespace, batch) {
        return .denied(refusal)
      }
      if try !authority.holds(
        expectedHash, at: write.path, in: Snapshot(reader), knowing: namespace.hashes)
      {
        return .refused(.dataStale, "The data has changed")
      }
    }
    if let refusal = try preliminaryRefusal(of: write, requester, namespace, batch) {
      return .denied(refusal)
    }
    let resolved = try authority.resolve(write, now: batch.now, in: Snapshot(reader))
    if let refusal = try refusal(of: resolved.assignments, requester, namespace, batch) {
      return .denied(refusal)
    }
    if try isTooLarge(resolved, sizeLimit, requester, namespace, batch) {
      return .refused(.failed, WriteSizeLimit.excess)
    }
    return .accepted(resolved)
  }

  /// Returns the denial of a write with server values that can be told without reading what they
  /// add to; `nil` for every other write.
  func preliminaryRefusal(
    of write: TreeWrite, _ requester: Requester, _ namespace: Namespace,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    let assignments = write.assignments
    guard assignments.contains(where: { $0.node.containsServerValues }) else { return nil }
    let reading = TreeReading(namespace.rows, batch.reader)
    let denial = authorizer(of: namespace).preliminaryRefusal(
      ofWriting: assignments.map(\.path), by: requester, now: batch.now, in: reading.state)
    try reading.finish()
    return denial
  }

  /// Asks the authorizer about a write; `nil` when it may be made.
  func refusal(
    of assignments: [TreeMerge.Entry], _ requester: Requester, _ namespace: Namespace,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> AccessRefusal? {
    let reading = TreeReading(namespace.rows, batch.reader)
    let verdict = authorizer(of: namespace).writeRefusal(
      assignments, by: requester, now: batch.now, in: reading.state)
    try reading.finish()
    return verdict
  }

  /// Stores a write whose server values are resolved, and tells everybody who listens.
  private mutating func commit(
    _ write: TreeWrite, _ mutations: [Mutation], _ claim: CommitClaim?, in namespace: Namespace,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    let record = TreeRecord(of: write.assignments, in: namespace.rows)
    batch.add(Commit(claim: claim, mutations: mutations, record: record.encode()))
    if let claim { self.record(claim, batch.version, []) }
    var fanOut = FanOut(of: write, in: namespace, batch)
    try fanOut.deliver(to: &batch)
  }

  private mutating func refuse(
    _ status: TreeStatus, _ detail: String, _ claim: CommitClaim?, _ call: ServerCall,
    _ batch: inout ServerBatch
  ) {
    var version: Version?
    if let claim {
      let outcome = StoredOutcome(status: status, detail: detail).encode()
      guard hasStanding(call.session.identity, claim) else {
        call.session.refused.note(claim, outcome)
        return respond(.init(status, detail: detail), to: call, &batch)
      }
      store(&call.session.refused, before: claim, &batch)
      batch.add(Commit(claim: claim, mutations: [], record: [], outcome: outcome))
      record(claim, batch.version, outcome)
      version = batch.version
    }
    respond(.init(status, detail: detail, version: version), to: call, &batch)
  }

  /// What is known about a stream, the batch's own writes included.
  mutating func state(
    of stream: UInt128, _ batch: inout ServerBatch
  ) throws(StorageError) -> StreamState {
    if let state = streams[stream] { return state }
    let reader = batch.reader
    let state = try LedgerSnapshot(reader, version: batch.version).stream(stream) ?? StreamState()
    streams[stream] = state
    streamBytes += state.byteCount
    return state
  }

  mutating func record(_ claim: CommitClaim, _ version: Version, _ outcome: [UInt8]) {
    let before = streams[claim.id.stream]?.byteCount ?? 0
    streams[claim.id.stream, default: StreamState()].record(claim, version, outcome)
    streamBytes += (streams[claim.id.stream]?.byteCount ?? 0) - before
  }

  /// Says what became of past writes of a stream.
  mutating func tellOutcomes(
    _ stream: UInt128?, _ first: UInt64, _ last: UInt64, _ call: ServerCall,
    _ batch: inout ServerBatch
  ) throws(StorageError) {
    guard let stream else {
      return respond(.init(.failed, detail: "There is no stream."), to: call, &batch)
    }
    let state: StreamState
    do throws(StorageError) { state = try self.state(of: stream, &batch) } catch {
      return respond(try Self.lostStream(error), to: call, &batch)
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
    respond(.outcomes(outcomes), to: call, &batch)
  }

  /// The rejection of a write that makes a row longer than stores take.
  static func excessText(_ error: StorageError) -> String {
    "What is written cannot be stored: \(error)"
  }

  /// What a client is told about whose writes nothing can be read.
  static let lostStreamText = "What is known of this client's writes is damaged on the server."

  private static func lostStream(_ error: StorageError) throws(StorageError) -> TreeResponse {
    guard error.isCorruption else { throw error }
    return .init(.failed, detail: lostStreamText)
  }

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

/// The answer to a write as the ledger keeps it: empty for a plain success.
struct StoredOutcome: Equatable {
  var status: TreeStatus
  var detail: String

  init(status: TreeStatus, detail: String) {
    self.status = status
    self.detail = detail
  }

  init(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    let status = reader.counted().map { String(decoding: $0, as: UTF8.self) }
    let detail = reader.counted().map { String(decoding: $0, as: UTF8.self) }
    self.init(status: status.map { TreeStatus(rawValue: $0) } ?? .ok, detail: detail ?? "")
  }

  /// At most ``LedgerLimits/outcomeBytes``: a long detail is cut.
  func encode() -> [UInt8] {
    if status == .ok, detail.isEmpty { return [] }
    var writer = ByteWriter()
    writer.append(counted: Array(status.rawValue.utf8))
    writer.append(counted: Array(detail.utf8.prefix(LedgerLimits.outcomeBytes / 2)))
    return writer.bytes
  }
}
