public import TernStorage

/// The number of a commit; the first is 1, and no number is left out.
public typealias Version = UInt64

/// Names a write for ever: the stream it belongs to and its place there.
public struct CommitID: Hashable, Sendable {
  /// The id of the writer, which draws it at random.
  public var stream: UInt128
  /// 1 for the first write of the stream, then one more each time.
  public var sequence: UInt64

  /// The write numbered `sequence` of a stream.
  public init(stream: UInt128, sequence: UInt64) {
    self.stream = stream
    self.sequence = sequence
  }
}

/// The key that makes a commit happen exactly once: writer and sequence number.
public struct IdempotencyKey: Hashable, Sendable {
  /// The write's name.
  public var id: CommitID
  /// Two writes under one name are the same write when their hashes are equal.
  public var payloadHash: UInt64
  /// The writer knows all outcomes up to this sequence; they may be forgotten.
  public var acknowledged: UInt64

  /// A write under a name, with what its writer knows.
  public init(id: CommitID, payloadHash: UInt64, acknowledged: UInt64 = 0) {
    self.id = id
    self.payloadHash = payloadHash
    self.acknowledged = acknowledged
  }
}

/// Changes to be made together or not at all, with what they were decided on.
public struct Commit: Sendable {
  /// The write's idempotency key: writer and sequence number. `nil` for writes that are never
  /// retried.
  public var claim: IdempotencyKey?
  /// The version the ranges in ``reads`` were read at.
  public var readVersion: Version
  /// The ranges that the decision depends on: the commit fails when any of it has changed since.
  public var reads: [KeyRange]
  /// The conditions that must hold when the commit is applied.
  public var preconditions: [Precondition]
  /// The changes, applied in order. Keys begin with a byte of at least
  /// ``LedgerLimits/firstOwnByte``.
  public var mutations: [Mutation]
  /// The record of the commit in the log.
  public var record: [UInt8]
  /// The answer to a retry of the write, at most ``LedgerLimits/outcomeBytes``.
  public var outcome: [UInt8]

  /// A commit; one without mutations and record only stores its outcome and takes no version.
  public init(
    claim: IdempotencyKey? = nil, readVersion: Version = 0, reads: [KeyRange] = [],
    preconditions: [Precondition] = [], mutations: [Mutation], record: [UInt8],
    outcome: [UInt8] = []
  ) {
    self.claim = claim
    self.readVersion = readVersion
    self.reads = reads
    self.preconditions = preconditions
    self.mutations = mutations
    self.record = record
    self.outcome = outcome
  }

  /// True when the commit only stores its outcome.
  public var isOutcomeOnly: Bool { mutations.isEmpty && record.isEmpty }
}

/// Something that must hold when a commit is applied.
public enum Precondition: Hashable, Sendable {
  /// A row is stored under the key.
  case exists([UInt8])
  /// No row is stored under the key.
  case absent([UInt8])
  /// The row under the key has this value.
  case equals(key: [UInt8], value: [UInt8])
}

/// The outcome of one commit.
public enum CommitResult: Hashable, Sendable {
  /// Applied now, durably. An outcome-only commit names the version it found.
  case committed(Version)
  /// Applied earlier under the same name: the version and the outcome of then.
  case duplicate(Version, outcome: [UInt8])
  /// Applied earlier; the writer had said that it knows the outcome, so it was forgotten.
  case forgotten
  /// A write before this one is missing: the stream goes on at `expected`.
  case gap(expected: UInt64)
  /// Another write was committed under this name. The writer is at fault.
  case mismatch
  /// Something in ``Commit/reads`` has changed: decide again.
  case conflict
  /// A precondition does not hold.
  case failedPrecondition
  /// A row of the commit is longer than `StorageLimits` allows: nothing of it was applied, and no
  /// outcome stored. The error says which limit.
  case exceedsLimit(StorageError)
}
