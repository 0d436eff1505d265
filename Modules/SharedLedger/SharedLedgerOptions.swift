public import TernCommitLog
public import TernLedger

/// The options of a node of a shared ledger.
public struct SharedLedgerOptions: Sendable {
  /// The shard whose log the ledger is.
  public var shard: ShardID
  /// The identifier of this run of the node: a restarted process is another node.
  public var node: String
  /// The address at which clients reach the node, for other nodes to tell.
  public var address: String
  /// The time without renewal after which the lease of a leader may be taken over, and after which
  /// a leader that does not reach the log stops. Default 3 seconds.
  public var leaseLifetime = Duration.seconds(3)
  /// The age at which a leader renews its lease; an append renews it as well. Default 1 second.
  public var renewal = Duration.seconds(1)
  /// The interval at which a node that follows looks at the lease. Default 500 milliseconds.
  public var lookInterval = Duration.milliseconds(500)
  /// The interval at which a node tells the others of itself. Default 2 seconds.
  public var announcement = Duration.seconds(2)
  /// The version of the node's program, for operators. Default empty.
  public var version = ""
  /// The pause before what failed is tried again. Default 100 milliseconds.
  public var retryPause = Duration.milliseconds(100)
  /// The batches behind the checkpoint at which a leader advances it. Default 512.
  public var checkpointBatches: UInt64 = 512
  /// The time after which a leader advances the checkpoint by fewer batches. Default 30 seconds.
  public var checkpointInterval = Duration.seconds(30)
  /// The batches behind the checkpoint that the log keeps.
  public var retention = LogRetention()
  /// The limits of the log of commits in the node's copy.
  public var ledger = LedgerOptions()
  /// The shards that databases belong to. Default: all to one.
  public var shards = ShardTable()

  /// The most bytes of one part of a batch in the log.
  package var partBytes = SharedLedgerLimits.partBytes
  /// The most rows of one page of the checkpoint.
  package var rowsPerPage = CommitLogLimits.rowsPerPage
  /// The mistake that the node makes on purpose; `nil` outside of tests of tests.
  package var plantedFault: PlantedFault?

  /// The defaults for a node.
  public init(shard: ShardID = ShardID(0), node: String, address: String) {
    self.shard = shard
    self.node = node
    self.address = address
  }
}

/// The sizes a shared ledger keeps to.
public enum SharedLedgerLimits {
  /// The most parts that one batch takes in the log.
  public static let partsPerBatch = 64
  /// The most bytes of one part, with its head: what a log takes.
  public static let partBytes = CommitLogLimits.payloadBytes
  /// The most commits that callers wait with to share one append.
  public static let commitsPerGroup = 4_096
  /// The bytes of rows and records at which a group is closed.
  public static let groupBytes = 4 << 20
  /// The batches that one look at the log reads.
  public static let batchesPerRead = 256
  /// The looks at the log behind which a node does what else is due.
  public static let pagesPerTurn = 64
  /// The bytes of changes at which one advance of the checkpoint ends.
  public static let checkpointBytes = 4 << 20
  /// The changes at which one advance of the checkpoint ends.
  public static let checkpointChanges = 16_384
  /// The failed attempts to advance the checkpoint, one after the other, from which on operators
  /// are told.
  static let toleratedCheckpoints = 3
  /// The most batches that a node may lack and still ask for a lease that is free.
  public static let electableLag: UInt64 = 1_024
  /// The time for which a transfer watches the lease of a node that may be gone: longer than the
  /// longest lease takes to be renewed.
  public static let transferPatience = Duration.seconds(25)
  /// The interval at which a transfer looks at such a lease, and repeats what failed.
  public static let transferLook = Duration.milliseconds(500)
  /// The age at which a transfer renews the lease.
  public static let transferRenewal = Duration.milliseconds(500)
  /// The most attempts of a transfer at one operation of the log.
  public static let transferAttempts = 20
}
