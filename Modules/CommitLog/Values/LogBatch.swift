/// One batch of the log: the unit that is appended once and replicated.
public struct LogBatch: Hashable, Sendable {
  /// The batch's number.
  public var position: LogPosition
  /// The epoch of the leader that appended it.
  public var epoch: LogEpoch
  /// The identifier that its writer drew at random.
  public var id: UInt128
  /// The contents; the log does not read them.
  public var payload: [UInt8]

  /// A batch of the log.
  public init(position: LogPosition, epoch: LogEpoch, id: UInt128, payload: [UInt8]) {
    self.position = position
    self.epoch = epoch
    self.id = id
    self.payload = payload
  }

  /// A batch that is to be appended.
  public struct Draft: Hashable, Sendable {
    /// A random identifier, the same in every attempt to append this batch and in no other batch:
    /// by it the writer recognizes a batch whose outcome it did not hear.
    public var id: UInt128
    /// The contents, 0 to ``CommitLogLimits/payloadBytes`` bytes.
    public var payload: [UInt8]

    /// A batch to append.
    public init(id: UInt128, payload: [UInt8]) {
      self.id = id
      self.payload = payload
    }
  }
}

/// The answer to an append.
public enum AppendOutcome: Hashable, Sendable {
  /// The batch is durable at this position.
  case appended(LogPosition)
  /// Nothing was appended: the newest position is another one than the append named. Read on.
  case behind(head: LogPosition)
  /// Nothing was appended: another leader's epoch, this one, is in force. Step down.
  case fenced(LogEpoch)

  /// True when the batch was appended.
  public var isAppended: Bool {
    switch self {
    case .appended: true
    case .behind, .fenced: false
    }
  }
}

/// Batches of a shard's log, and its end.
public struct LogPage: Hashable, Sendable {
  /// Batches one after the other, oldest first.
  public var batches: [LogBatch]
  /// The newest position at a moment of the call: all that was committed before is up to it.
  public var head: LogPosition

  /// A page.
  public init(batches: [LogBatch], head: LogPosition) {
    self.batches = batches
    self.head = head
  }
}

/// The state of a shard's log.
public struct LogState: Hashable, Sendable {
  /// The newest position; ``LogPosition/start`` before the first batch.
  public var position: LogPosition
  /// The epoch under which appends take effect.
  public var epoch: LogEpoch
  /// The oldest position that can be read; the one after ``position`` when none can.
  public var oldest: LogPosition
  /// The position whose state the checkpoint holds.
  public var mark: LogPosition
  /// The leader's lease; `nil` while no node holds it.
  public var leader: Lease?
  /// The time on the log's own clock at a moment of the call, in milliseconds since 1970; `nil` for
  /// a log that does not tell.
  public var time: Int64?

  /// The state of a log.
  public init(
    position: LogPosition, epoch: LogEpoch, oldest: LogPosition, mark: LogPosition, leader: Lease?,
    time: Int64? = nil
  ) {
    self.time = time
    self.position = position
    self.epoch = epoch
    self.oldest = oldest
    self.mark = mark
    self.leader = leader
  }
}

/// The batches that a compaction keeps, besides those that the checkpoint does not hold yet. A
/// batch is kept for either reason.
public struct LogRetention: Hashable, Sendable {
  /// The number of batches up to the checkpoint's mark that are kept.
  public var batches: UInt64
  /// The age, by the log's own clock, up to which batches are kept.
  public var age: Duration

  /// Keeps so many batches, and those that are not older.
  public init(batches: UInt64 = 1_000_000, age: Duration = .seconds(30 * 60)) {
    self.batches = batches
    self.age = age
  }
}
