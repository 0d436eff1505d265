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
  /// The step by which versions leap when the end of the log is lost: more than one storage write
  /// commits.
  static let salvageLeap: UInt64 = 1 << 32
  /// Commits between two looks for expired streams.
  static let commitsPerSweep: UInt64 = 1_024
  /// The most milliseconds that count as lived from one reading of the clock to the next, whatever
  /// the clock says.
  static let livedStrideMilliseconds: Int64 = 60_000
  /// Times from this on are no lived time, but milliseconds since 1970, as format 2 stored them.
  static let wallClockBegins: Int64 = 1_000_000_000_000
  /// The delay between a ledger's opening and its first maintenance, in milliseconds of lived time.
  static let firstMaintenanceMilliseconds: Int64 = 60_000
  /// The bytes that count for one segment of the log besides its entries.
  static let segmentHeadBytes = 48
  /// The most segments that are cut off by age in one storage write, and the most bytes of them.
  static let segmentsPerCut = 4_096
  static let bytesPerCut: UInt64 = 64 << 20
  /// The bytes of a log below which it is not cut for a full disk: they make no space worth the
  /// commits.
  static let spareLogBytes: UInt64 = 256 << 10
  /// The part of a store's limit that its log may fill: one of so many.
  static let logPartOfStore: UInt64 = 4
  /// The most streams looked at in one go.
  static let streamsPerSweep = 64
}

/// The options of a ledger.
public struct LedgerOptions: Hashable, Sendable {
  /// Commits the log keeps unless their bytes or their age exceed a limit; older ones are cut off,
  /// a quarter of so many at a time. Default 10,000.
  public var logLimit: UInt64
  /// The most bytes of the log, whatever its commits; the last batch of commits may exceed them
  /// alone. When the disk is full, the log is cut to less before a commit fails. Default 256 MiB.
  public var logBytes: UInt64
  /// The age in lived time at which commits leave the log. With ``maintenancePause`` less than an
  /// hour: what was overwritten or deleted is gone by then. Default 45 minutes.
  public var logAge: Duration
  /// The interval at which ``EmbeddedLedger/maintain()`` does its work, in lived time: it settles
  /// the journal, cuts the log by age and looks for silent streams. Default 10 minutes.
  public var maintenancePause: Duration
  /// Changes the journal gathers before they are settled into rows; with 0 every commit writes
  /// its rows at once. More make settling rarer and starting slower. Default 1,024.
  public var journalRows: Int
  /// A stream that was silent for longer, in lived time, is forgotten, outcomes and all. Default 60
  /// days.
  public var streamLifetime: Duration

  /// The defaults, but for what is given.
  public init(
    logLimit: UInt64 = 10_000, journalRows: Int = 1_024,
    streamLifetime: Duration = .seconds(60 * 86_400), logBytes: UInt64 = 256 << 20,
    logAge: Duration = .seconds(45 * 60), maintenancePause: Duration = .seconds(600)
  ) {
    precondition(logLimit > 0, "a log keeps at least one commit")
    self.logBytes = logBytes
    self.logAge = logAge
    self.maintenancePause = maintenancePause
    self.logLimit = logLimit
    self.journalRows = journalRows
    self.streamLifetime = streamLifetime
  }

  /// Keeps the log within a part of a store that does not grow past `bytes`, so that old values do
  /// not take the space of present ones.
  public mutating func bound(byStoreLimit bytes: Int?) {
    guard let bytes, bytes >= 0 else { return }
    logBytes = min(logBytes, UInt64(bytes) / LedgerLimits.logPartOfStore)
  }
}
