import TernCore
import TernDocumentAuthority
import TernSecurity
import TernStorage

/// A read whose work may be long: it needs one state of the store, and is finished in the machine.
struct LongRead<Answer> {
  /// The accesses that it was judged by; judged again when other rules come into force meanwhile.
  let accesses: [DocumentAccess]
  /// The version that rules read documents at.
  let time: DocumentVersion?
  /// Reads. May run on any thread.
  let read: @Sendable (any StoreReader) throws(StorageError) -> LongReadValue
  /// Makes the answer of what was read.
  let finish: (LongReadValue, inout ServerBatch) throws(StorageError) -> Answer

  /// - Parameters:
  ///   - read: Returns what was read, and about how many bytes of memory that takes.
  ///   - finish: Makes the answer of it.
  init<Value: Sendable>(
    judgedBy accesses: [DocumentAccess], at time: DocumentVersion?,
    _ read: @escaping @Sendable (any StoreReader) throws(StorageError) -> (Value, bytes: Int),
    finish: @escaping (Value, inout ServerBatch) throws(StorageError) -> Answer
  ) {
    self.accesses = accesses
    self.time = time
    self.read = { reader throws(StorageError) in
      let (value, bytes) = try read(reader)
      return LongReadValue(value: value, bytes: bytes)
    }
    self.finish = { result, batch throws(StorageError) in
      guard let value = result.value as? Value else { throw .abandoned }
      return try finish(value, &batch)
    }
  }
}

/// The result of a read, and about how many bytes of memory it takes.
struct LongReadValue: Sendable {
  let value: any Sendable
  let bytes: Int
}

/// The reply to a request: an answer, or a read that it is made of.
enum DocumentReply {
  case ready(DocumentAnswer)
  case reading(LongRead<DocumentAnswer>)
  /// It is made portion by portion: see ``DocumentGets``.
  case underWay
}

/// A read of a call that goes on beside the server's executor.
struct PendingRead {
  var job: ReadJob
  /// The target that is to be watched; `nil` for other calls than listens.
  let target: Int32?
  /// The generation of the rules that have allowed it.
  let rulesGeneration: UInt64
  let accesses: [DocumentAccess]
  let time: DocumentVersion?
  let finish:
    (Result<LongReadValue, DocumentStatus>, inout ServerBatch) throws(StorageError) -> Void
}

/// Carries out reads: at once when they take few rows, else beside the server's executor.
struct LongReads {
  let context: ServerContext
  let registry: DatabaseRegistry

  /// Carries out a read.
  ///
  /// - Parameters:
  ///   - target: The target that it is for, of a listen call.
  ///   - isBeside: Whether it is known to take many rows.
  ///   - end: Called with the answer, or the reason why there is none; in a later batch when the
  ///     read takes many rows.
  func begin<Answer>(
    _ read: LongRead<Answer>, of call: DocumentCall, for target: Int32? = nil,
    isBeside: Bool = false, _ batch: inout ServerBatch,
    end: @escaping (Result<Answer, DocumentStatus>, inout ServerBatch) throws(StorageError) -> Void
  ) throws(StorageError) {
    let user = call.identity.userID
    let charge = ReadCharge(context.budget, address: call.link.address, user: user)
    if !isBeside, let value = try batch.read(charge, read.read) {
      return try end(.success(try read.finish(value, &batch)), &batch)
    }
    let body = read.read
    let job = ReadJob(
      slot: call.slot, address: call.link.address,
      ReadCharge(context.budget, address: call.link.address, user: user)
    ) { reader, _ throws(StorageError) in try body(reader) }
    call.readings.append(
      PendingRead(
        job: job, target: target, rulesGeneration: registry.rulesGeneration,
        accesses: read.accesses, time: read.time
      ) { outcome, batch throws(StorageError) in
        switch outcome {
        case .success(let value): try end(.success(try read.finish(value, &batch)), &batch)
        case .failure(let status): try end(.failure(status), &batch)
        }
      })
    batch.add(job)
  }

  private static let failed = DocumentStatus(
    .unavailable, "The documents cannot be read now. Try again.")

  private static func result(
    of job: ReadJob
  ) throws(StorageError) -> Result<LongReadValue, DocumentStatus> {
    switch job.outcome {
    case .value(let value)?: return .success(value)
    case .rejected(let reason)?: return .failure(reason.status)
    // Damage is told as such; other failures of a store are those of the moment.
    case .failed(let error)? where error.isCorruption: throw error
    case .failed?, nil: return .failure(failed)
    }
  }

  /// Goes on with the call of a read that is done.
  ///
  /// - Throws: The error of the store, which ends the call or the target.
  func finish(
    _ job: ReadJob, _ session: Session, _ batch: inout ServerBatch,
    fail: (DocumentCall, PendingRead, StorageError, inout ServerBatch) throws(StorageError) -> Void
  ) throws(StorageError) {
    for call in (session.documents?.calls ?? [:]).values {
      guard let index = call.readings.firstIndex(where: { $0.job === job }),
        let database = call.database
      else { continue }
      let pending = call.readings.remove(at: index)
      // One that was read for another link is charged there.
      if job.slot == call.slot { batch.charge(rows: job.rows, of: .slot(call.slot)) }
      for slot in database.prefetches.finish(job) { batch.add(job, for: slot) }
      do throws(StorageError) {
        if pending.rulesGeneration != registry.rulesGeneration, !pending.accesses.isEmpty,
          let denial = try registry.judge.denial(
            of: pending.accesses, at: pending.time, call, database, batch)
        {
          try pending.finish(.failure(denial), &batch)
        } else {
          try pending.finish(try Self.result(of: job), &batch)
        }
      } catch {
        try fail(call, pending, error, &batch)
      }
      return
    }
  }
}
