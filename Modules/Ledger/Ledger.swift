public import TernStorage

/// The server's durable truth: validated commits, each exactly once, in a gap-free log.
///
/// There are no interactive write transactions: read a snapshot, decide, hand in commits. So an
/// embedded store and a distributed one can both stand behind it.
public protocol Ledger: Sendable {
  /// Lends one consistent snapshot of what is committed.
  func read<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> R
  ) async throws(LedgerError) -> R

  /// Applies commits in order; later ones see the earlier ones. They share one sync.
  ///
  /// - Returns: One result a commit, in order, when everything is durable.
  /// - Throws: When the store failed; then no commit of this call was applied.
  func commit(_ commits: [Commit]) async throws(LedgerError) -> [CommitResult]

  /// Reads, decides and commits in one go.
  ///
  /// The same as ``read(_:)`` and then ``commit(_:)``; a ledger that can do both on one warm
  /// connection saves half of the reading.
  ///
  /// - Parameter body: Returns the commits, and anything the caller wants to keep.
  func decide<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) async throws(LedgerError) -> (results: [CommitResult], kept: R)

  /// Commits what failed because the disk is full (`StorageError.diskFull`), with the space that
  /// is held back for that. After it nothing else may be committed until ``takeReserve()`` returns.
  ///
  /// - Throws: `StorageError.diskFull` when that is not enough. Without commits: when the reserve
  ///   is of no use at present.
  func commitFromReserve(_ commits: [Commit]) async throws(LedgerError) -> [CommitResult]

  /// Holds space back again for ``commitFromReserve(_:)``.
  ///
  /// - Throws: `StorageError.diskFull` while there is not enough; nothing was changed.
  func takeReserve() async throws(LedgerError)

  /// Does what time brings: what was settled, kept or waited for long enough is dealt with. Called
  /// every few seconds while a server runs; mostly it does nothing. No commit is made.
  func maintain() async throws(LedgerError)

  /// The commits after `version`, oldest first, without gaps.
  ///
  /// - Throws: ``LedgerError/truncated(first:)`` when the log does not reach back so far.
  func log(after version: Version, limit: Int) async throws(LedgerError) -> [LogEntry]

  /// The sizes of the ledger's parts, for operators; `nil` for a ledger that does not know them.
  func statistics() async throws(LedgerError) -> LedgerStatistics?

  /// Waits until a commit after `version` is durable or the task is cancelled. A hint only.
  func waitForCommit(after version: Version) async
}

/// The decision made of a snapshot: commits, and the results that the caller keeps.
public struct Decision<Kept> {
  /// Applied in order.
  public var commits: [Commit]
  /// Handed back beside the results.
  public var kept: Kept

  /// A decision to make `commits`.
  public init(_ commits: [Commit], keeping kept: Kept) {
    self.commits = commits
    self.kept = kept
  }
}

extension Ledger {
  public func decide<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) async throws(LedgerError) -> (results: [CommitResult], kept: R) {
    let decision = try await read(body)
    return (try await commit(decision.commits), decision.kept)
  }

  /// For ledgers that hold nothing back: tries once more.
  public func commitFromReserve(
    _ commits: [Commit]
  ) async throws(LedgerError) -> [CommitResult] {
    try await commit(commits)
  }

  /// For ledgers that hold nothing back.
  public func takeReserve() async throws(LedgerError) {}

  /// For ledgers that do not know the sizes of their parts.
  public func statistics() async throws(LedgerError) -> LedgerStatistics? { nil }

  /// For ledgers that need no maintenance.
  public func maintain() async throws(LedgerError) {}
}

/// The sizes of a ledger's parts.
public struct LedgerStatistics: Hashable, Sendable {
  /// The newest commit; 0 before the first.
  public var version: Version
  /// The oldest commit in the log; 0 when there never was one.
  public var firstVersion: Version
  /// The bytes of the log.
  public var logBytes: Int
  /// The bytes of the journal: of commits without rows of their own.
  public var journalBytes: Int
  /// The changed rows in the journal.
  public var journalRows: Int

  /// The sizes of a ledger.
  public init(
    version: Version, firstVersion: Version, logBytes: Int, journalBytes: Int, journalRows: Int
  ) {
    self.version = version
    self.firstVersion = firstVersion
    self.logBytes = logBytes
    self.journalBytes = journalBytes
    self.journalRows = journalRows
  }
}

/// A consistent state of a ledger, lent by ``Ledger/read(_:)``.
public struct LedgerSnapshot: StoreView, ~Copyable, ~Escapable {
  /// The last commit the snapshot holds; 0 before the first.
  public let version: Version

  public let reader: any StoreReader

  /// For ledgers: wraps a store's snapshot at `version`.
  @_lifetime(borrow reader)
  public init(_ reader: borrowing any StoreReader, version: Version) {
    self.reader = copy reader
    self.version = version
  }

  /// Returns the state of a stream's writes; `nil` when the stream is unknown.
  public func stream(_ stream: UInt128) throws(StorageError) -> StreamState? {
    try StreamRow.read(stream, in: self)
  }
}

/// One commit in the log.
public struct LogEntry: Hashable, Sendable {
  /// The commit's number.
  public var version: Version
  /// The write's name, if it has one.
  public var id: CommitID?
  /// The commit's ``Commit/record``.
  public var record: [UInt8]

  /// The entry of one commit.
  public init(version: Version, id: CommitID?, record: [UInt8]) {
    self.version = version
    self.id = id
    self.record = record
  }
}
