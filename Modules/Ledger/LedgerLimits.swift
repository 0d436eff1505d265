/// The sizes a ledger keeps to.
public enum LedgerLimits {
  /// Keys of mutations begin with this byte or a greater one; lesser ones are the ledger's own.
  public static let firstOwnByte: UInt8 = 0x10
  /// The most bytes of one outcome; longer ones are cut.
  public static let outcomeBytes = 1_024
  /// The most outcomes one stream keeps; the oldest are forgotten first.
  public static let outcomesPerStream = 16_384
  /// The most bytes of the outcomes one stream keeps, with 20 for the head of each; the oldest are
  /// forgotten first. Enough for the longest outcomes of 1,149 writes: more than a client has on
  /// their way at once.
  public static let streamBytes = 1_200_000
  /// The bytes that count for one outcome besides its detail: at least what a row has for them.
  static let outcomeHeadBytes = 20
  /// The most streams whose state is held in memory between commits.
  static let cachedStreams = 4_096
  /// The most bytes of their outcomes.
  static let cachedStreamBytes = 32 << 20
  /// The most commits whose changes are remembered to validate reads without the store.
  static let recentCommits = 256
  /// The most changes of one commit that are remembered one by one.
  static let rememberedChanges = 1_024
  /// The most bytes the journal gathers before they are settled into rows.
  static let journalBytes = 1 << 20
  /// The most bytes of one row of the log; longer segments take several rows.
  static let logRowBytes = 4 * 1024 * 1024
  /// The bytes of the row that is kept for a full disk.
  static let reserveBytes = 64 * 1024
  /// How far versions leap when the end of the log is lost: more than one storage write commits.
  static let salvageLeap: UInt64 = 1 << 32
  /// Commits between two looks for expired streams.
  static let commitsPerSweep: UInt64 = 1_024
  /// How far the age of streams may advance from one look to the next, in milliseconds, whatever
  /// the clock says: after a jump, streams that are in use have long been used again before they
  /// count as silent.
  static let sweepStrideMilliseconds: Int64 = 3_600_000
  /// The most streams looked at in one go.
  static let streamsPerSweep = 64
}

/// What may be chosen about a ledger.
public struct LedgerOptions: Hashable, Sendable {
  /// Commits the log keeps at least; older ones are cut off. Default 10,000.
  public var logLimit: UInt64
  /// Changes the journal gathers before they are settled into rows; with 0 every commit writes
  /// its rows at once. More make settling rarer and starting slower. Default 1,024.
  public var journalRows: Int
  /// A stream that was silent for longer is forgotten, outcomes and all. Default 60 days.
  public var streamLifetime: Duration

  /// The defaults, but for what is given.
  public init(
    logLimit: UInt64 = 10_000, journalRows: Int = 1_024,
    streamLifetime: Duration = .seconds(60 * 86_400)
  ) {
    precondition(logLimit > 0, "a log keeps at least one commit")
    self.logLimit = logLimit
    self.journalRows = journalRows
    self.streamLifetime = streamLifetime
  }
}
