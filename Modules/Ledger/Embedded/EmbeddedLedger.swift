import Synchronization
public import TernStorage

/// A ledger over one ordered store, for a server that is one process.
///
/// It is the store's only writer. Calls do their work at once on the caller's thread; none of
/// them suspends except ``waitForCommit(after:)``. Every method may be called from any thread.
/// What it writes is described in Docs/Formats/ledger.md.
public final class EmbeddedLedger: Ledger {
  /// The format this version reads and writes.
  public static let format = 3

  let store: any OrderedStore
  let options: LedgerOptions
  private let uptime: @Sendable () -> Int64
  private let lived: Mutex<LivedTime>
  let committer: Mutex<Committer>
  private let published: Mutex<Published>
  private let waiters = CommitWaiters()

  /// The state that readers may use without waiting for a commit.
  private struct Published {
    var version: Version
    /// The number of callers that commit, or wait for their turn to.
    var committers = 0
  }

  /// Opens the ledger in `store`, or begins one when the store is empty. O(1) in its size.
  ///
  /// - Parameter uptime: Milliseconds on a clock that does not jump, since any moment. A clock that
  ///   does jump makes nothing expire early by more than a minute a jump.
  public init(
    store: any OrderedStore, options: LedgerOptions = LedgerOptions(),
    uptime: @escaping @Sendable () -> Int64
  ) throws(LedgerError) {
    self.store = store
    self.options = options
    self.uptime = uptime
    try Self.claimFormat(of: store)
    let (log, time) = try store.read(mapping: LedgerError.storage) {
      snapshot throws(LedgerError) in
      let log = try LogBounds.read(in: snapshot)
      do throws(StorageError) { return (log, try LivedTime.stored(in: snapshot)) } catch {
        throw .storage(error)
      }
    }
    lived = Mutex(LivedTime(stored: time, reading: uptime()))
    committer = Mutex(Committer(log: log))
    published = Mutex(Published(version: log.last))
  }

  public func read<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> R
  ) throws(LedgerError) -> R {
    let before = published.withLock { $0 }
    return try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      let after = published.withLock { $0 }
      let isQuiet =
        before.committers == 0 && after.committers == 0 && before.version == after.version
      // A commit in between leaves open which version was caught; the snapshot itself knows.
      let version = isQuiet ? after.version : try LogBounds.read(in: snapshot).last
      do throws(StorageError) {
        let journal = try Journal(in: snapshot)
        let reader: any StoreReader = JournaledReader(over: snapshot.reader, journal)
        return try body(LedgerSnapshot(reader, version: version))
      } catch {
        throw .storage(error)
      }
    }
  }

  public func commit(_ commits: [Commit]) throws(LedgerError) -> [CommitResult] {
    if commits.isEmpty { return [] }
    return try decide { _ throws(StorageError) in Decision(commits, keeping: ()) }.results
  }

  /// Decides inside the write transaction, whose pages are warm: another connection would have to
  /// read again what the last commit has just written.
  public func decide<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) throws(LedgerError) -> (results: [CommitResult], kept: R) {
    try decide(.anyRoom, body)
  }

  /// Commits in a transaction that begins with a removal, which a store makes room for.
  public func commitFromReserve(_ commits: [Commit]) throws(LedgerError) -> [CommitResult] {
    do throws(LedgerError) {
      // With rows of their own, removals free more than they take; a journal would only grow.
      return try decide(.reserveSettled) { _ throws(StorageError) in
        Decision(commits, keeping: ())
      }.results
    } catch {
      guard case .storage(.diskFull) = error, !commits.isEmpty else { throw error }
      return try decide(.reserve) { _ throws(StorageError) in
        Decision(commits, keeping: ())
      }.results
    }
  }

  public func takeReserve() throws(LedgerError) {
    try committer.withLock { committer throws(LedgerError) in
      try LogSpace(ledger: self).takeReserve(by: &committer)
    }
  }

  /// The space a write transaction may use: any; the reserve; or the reserve, with the journal
  /// settled.
  private enum Room { case anyRoom, reserve, reserveSettled }

  private func decide<R>(
    _ room: Room, _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) throws(LedgerError) -> (results: [CommitResult], kept: R) {
    var answer: (results: [CommitResult], kept: R)?
    try publishing { committer throws(LedgerError) in
      answer =
        room == .anyRoom
        ? try decideWithSpace(by: &committer, body) : try decide(by: &committer, room, body)
    }
    guard let answer else { throw .storage(.abandoned) }
    return answer
  }

  /// Runs a change of the log, and publishes the version that it leads to.
  func publishing(
    _ body: (inout Committer) throws(LedgerError) -> Void
  ) throws(LedgerError) {
    published.withLock { $0.committers += 1 }
    defer { published.withLock { $0.committers -= 1 } }
    let version = try committer.withLock { committer throws(LedgerError) in
      try body(&committer)
      return committer.log.last
    }
    let isNew = published.withLock { published in
      defer { published.version = version }
      return published.version != version
    }
    if isNew { waiters.resumeAll() }
  }

  /// Decides, and on a full disk makes space of the log. The decision stays the one that was made:
  /// cutting the log changes nothing that it may depend on.
  private func decideWithSpace<R>(
    by committer: inout Committer,
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) throws(LedgerError) -> (results: [CommitResult], kept: R) {
    var decided: Decision<R>?
    return try LogSpace(ledger: self).cuttingLog(of: &committer) { committer throws(LedgerError) in
      try decide(by: &committer, .anyRoom) { snapshot throws(StorageError) in
        if let decided { return decided }
        let decision = try body(snapshot)
        decided = decision
        return decision
      }
    }
  }

  private func decide<R>(
    by committer: inout Committer, _ room: Room,
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) throws(LedgerError) -> (results: [CommitResult], kept: R) {
    let version = committer.log.last
    let now = livedTime
    // What is kept in memory is handed over whole; after a failure it is read again.
    var taken = exchange(&committer, with: Committer(log: committer.log))
    do throws(StorageError) {
      let results = try store.write { transaction throws(StorageError) in
        if room != .anyRoom { try transaction.remove(LedgerKey.reserve) }
        let journal = if let kept = taken.journal { kept } else { try Journal(in: transaction) }
        taken.journal = journal
        let reader: any StoreReader = JournaledReader(over: transaction.reader, journal)
        let decision = try body(LedgerSnapshot(reader, version: version))
        var batch = CommitBatch(
          by: taken, journal, options, now: now, settlesAtOnce: room == .reserveSettled)
        var results: [CommitResult] = []
        results.reserveCapacity(decision.commits.count)
        for commit in decision.commits {
          results.append(try batch.apply(commit, to: &transaction))
        }
        try batch.finish(in: &transaction)
        taken = batch.committer
        return (results, decision.kept)
      }
      committer = taken
      return results
    } catch {
      throw .storage(error)
    }
  }

  /// The time that silence and age are counted in.
  var livedTime: Int64 {
    let reading = uptime()
    return lived.withLock { $0.advance(to: reading) }
  }

  public func maintain() throws(LedgerError) {
    store.releaseIdle()
    let now = livedTime
    try committer.withLock { committer throws(LedgerError) in
      guard committer.isMaintenanceDue(at: now, options) else { return }
      try write(by: &committer, at: now) { batch, transaction throws(StorageError) in
        try batch.maintain(in: &transaction)
      }
    }
  }

  /// Settles the journal, cuts the log, and asks the store to give back the space of what was
  /// removed and overwritten. For a store that no server has open.
  ///
  /// - Parameter count: Commits that the log keeps, rounded up to whole batches; 0 for none.
  /// - Throws: What `OrderedStore.compact()` throws; the store is settled and cut then.
  public func compact(keepingLog count: UInt64) throws(LedgerError) {
    let now = livedTime
    try committer.withLock { committer throws(LedgerError) in
      try write(by: &committer, at: now) { batch, transaction throws(StorageError) in
        try batch.compact(keepingLog: count, in: &transaction)
      }
      try LedgerError.wrapping { () throws(StorageError) in try store.compact() }
    }
  }

  /// One storage write that no commit asks for.
  func write(
    by committer: inout Committer, at now: Int64,
    _ body: (inout CommitBatch, inout WriteTransaction) throws(StorageError) -> Void
  ) throws(LedgerError) {
    // As for a decision: after a failure everything is read again.
    var taken = exchange(&committer, with: Committer(log: committer.log))
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        let journal = if let kept = taken.journal { kept } else { try Journal(in: transaction) }
        taken.journal = journal
        var batch = CommitBatch(by: taken, journal, options, now: now)
        try body(&batch, &transaction)
        taken = batch.committer
      }
      committer = taken
    } catch {
      throw .storage(error)
    }
  }

  public func log(after version: Version, limit: Int) throws(LedgerError) -> [LogEntry] {
    try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      try LogReader.entries(after: version, limit: limit, in: snapshot)
    }
  }

  public func statistics() -> LedgerStatistics? {
    committer.withLock { committer in
      LedgerStatistics(
        version: committer.log.last, firstVersion: committer.log.first,
        logBytes: Int(clamping: committer.log.bytes),
        journalBytes: committer.journal?.byteCount ?? 0,
        journalRows: committer.journal?.rowCount ?? 0)
    }
  }

  public func waitForCommit(after version: Version) async {
    await waiters.wait(unless: { published.withLock { $0.version > version } })
  }

  private static func claimFormat(of store: any OrderedStore) throws(LedgerError) {
    let found = try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      try formatFound(in: snapshot)
    }
    if found == format { return }
    // Format 1 is this one without a journal; 1 and 2 stored times since 1970, which are told from
    // lived time by their size, and segments of the log without a head.
    do throws(StorageError) {
      try store.write { transaction throws(StorageError) in
        try transaction.put(formatRow, for: LedgerKey.format)
      }
    } catch {
      throw .storage(error)
    }
  }

  /// The row that marks a store with a ledger of this version.
  static var formatRow: [UInt8] { Array("tern ledger".utf8) + [UInt8(format)] }

  /// The store's format; `nil` when the store is empty.
  static func formatFound(in snapshot: borrowing Snapshot) throws(LedgerError) -> Int? {
    let row = try LedgerError.wrapping { () throws(StorageError) in
      try snapshot.scan(limit: 1).first
    }
    guard let row else { return nil }
    let name = Array("tern ledger".utf8)
    guard row.key == LedgerKey.format, row.value.count == name.count + 1,
      row.value.starts(with: name)
    else { throw .foreignStore }
    let found = Int(row.value[name.count])
    guard found <= format else { throw .newerFormat(found: found, supported: format) }
    return found
  }
}
