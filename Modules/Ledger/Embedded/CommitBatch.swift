import TernStorage

/// The commits of one storage write, applied one after the other.
struct CommitBatch {
  private(set) var committer: Committer
  private let journal: Journal
  private let options: LedgerOptions
  private let now: Int64
  private let versionBefore: Version
  private var segment: LogSegment
  /// The entries of the batch for the journal.
  private var entries = ByteWriter()
  /// True when rows are written at once, because there are too many of them for the journal.
  private var isDirect: Bool
  private var hasChanges = false
  /// True if rows are written at once, because the disk is full: a journal would only grow.
  private let settlesAtOnce: Bool

  init(
    by committer: Committer, _ journal: Journal, _ options: LedgerOptions, now: Int64,
    settlesAtOnce: Bool = false
  ) {
    self.committer = committer
    self.journal = journal
    self.options = options
    self.now = now
    self.settlesAtOnce = settlesAtOnce
    versionBefore = committer.log.last
    segment = LogSegment(
      first: versionBefore + 1, lived: now, before: committer.log.writtenBytes)
    isDirect = options.journalRows == 0
    entries.append(bigEndian: now)
  }

  /// Validates and applies one commit.
  mutating func apply(
    _ commit: Commit, to transaction: inout WriteTransaction
  ) throws(StorageError) -> CommitResult {
    if let claim = commit.claim {
      if let verdict = try journal.verdict(on: claim, in: transaction) { return verdict }
    }
    if committer.hasConflict(with: commit.reads, since: commit.readVersion) { return .conflict }
    if !commit.preconditions.isEmpty {
      let reader: any StoreReader = JournaledReader(over: transaction.reader, journal)
      for condition in commit.preconditions {
        guard try condition.holds(in: Snapshot(reader)) else { return .failedPrecondition }
      }
    }
    do throws(StorageError) { try commit.mutations.checkLimits() } catch {
      return .exceedsLimit(error)
    }
    try change(commit.mutations, in: &transaction)
    let version = log(commit)
    if let claim = commit.claim { journal.record(claim, version, commit.outcome, at: now) }
    if !isDirect { JournalEntry.append(commit, version, to: &entries) }
    hasChanges = true
    return .committed(version)
  }

  /// Applies a commit that was validated elsewhere, in the copy that it was decided on.
  ///
  /// A write whose outcome the stream's state holds already keeps that state: rows that were copied
  /// may be newer than the batches that are applied to them again.
  mutating func replay(
    _ commit: Commit, to transaction: inout WriteTransaction
  ) throws(StorageError) {
    try change(commit.mutations, in: &transaction)
    let version = log(commit)
    var entry = commit
    if let claim = commit.claim {
      if try journal.state(of: claim.id.stream, in: transaction).last < claim.id.sequence {
        journal.record(claim, version, commit.outcome, at: now)
      } else {
        entry.claim = nil
      }
    }
    if !isDirect { JournalEntry.append(entry, version, to: &entries) }
    hasChanges = true
  }

  private mutating func change(
    _ mutations: [Mutation], in transaction: inout WriteTransaction
  ) throws(StorageError) {
    let isTooMuch =
      mutations.count > options.journalRows || entries.bytes.count > LedgerLimits.journalBytes
    if !isDirect, isTooMuch || settlesAtOnce {
      try settle(in: &transaction)
      isDirect = true
    }
    if isDirect { try transaction.apply(mutations) } else { journal.apply(mutations) }
  }

  private mutating func log(_ commit: Commit) -> Version {
    if commit.isOutcomeOnly { return committer.log.last }
    committer.log.last += 1
    segment.append(commit.claim?.id, commit.record)
    committer.remember(commit.mutations, as: committer.log.last)
    return committer.log.last
  }

  /// Writes what the ledger itself has to remember about the batch.
  mutating func finish(in transaction: inout WriteTransaction) throws(StorageError) {
    guard hasChanges else {
      if settlesAtOnce { try settle(in: &transaction) }
      return
    }
    let period = LedgerLimits.commitsPerSweep
    let isSweepDue = versionBefore / period != committer.log.last / period
    if isDirect || isSweepDue || journal.isFull(options, adding: entries.bytes.count) {
      try settle(in: &transaction)
    } else {
      try journal.store(entries.bytes, in: &transaction)
    }
    if segment.count > 0 {
      try segment.forEachRow { row throws(StorageError) in
        try transaction.put(row.value, for: row.key)
      }
      if committer.log.first == 0 { committer.log.first = segment.first }
      committer.log.writtenBytes = segment.end
      _ = try LogCut(options, now: now).cut(&committer.log, in: &transaction)
    }
    if isSweepDue { try sweepPastDamage(in: &transaction) }
  }

  /// Does what time brings: see ``EmbeddedLedger/maintain()``.
  mutating func maintain(in transaction: inout WriteTransaction) throws(StorageError) {
    try settle(in: &transaction)
    let isDone = try LogCut(options, now: now, byAge: true).cut(
      &committer.log, in: &transaction)
    try sweepPastDamage(in: &transaction)
    committer.nextMaintenance = isDone ? now + options.maintenancePause.milliseconds : now
  }

  /// Settles the journal and cuts the log to so many commits.
  mutating func compact(
    keepingLog count: UInt64, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    try settle(in: &transaction)
    try LogCut.keep(last: count, of: &committer.log, in: &transaction)
  }

  /// Cuts off half of the log's bytes, or all of it.
  mutating func shrinkLog(
    keepingHalf keepsHalf: Bool, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    guard keepsHalf else {
      return try LogCut.keep(last: 0, of: &committer.log, in: &transaction)
    }
    var options = options
    options.logBytes = committer.log.bytes / 2
    _ = try LogCut(options, now: now).cut(&committer.log, in: &transaction)
  }

  /// Settles the journal, and stores the time by which its streams were written to.
  func settle(in transaction: inout WriteTransaction) throws(StorageError) {
    try journal.settle(in: &transaction)
    let row = LivedTime.row(now)
    try transaction.put(row.value, for: row.key)
  }

  private mutating func sweepPastDamage(
    in transaction: inout WriteTransaction
  ) throws(StorageError) {
    do throws(StorageError) {
      try sweep(olderThan: now - options.streamLifetime.milliseconds, in: &transaction)
    } catch {
      // A caller that needs the corrupt row gets the error; the others are examined the next time.
      guard error.isCorruption else { throw error }
      if case .corruptRecord(let key) = error {
        committer.sweptKey = key + [0]
      } else {
        committer.sweptKey = StreamRow.range.lower
      }
    }
  }

  /// Looks at the next few streams, all of which are settled, and forgets the silent ones.
  private mutating func sweep(
    olderThan limit: Int64, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    let range = KeyRange(from: committer.sweptKey, to: StreamRow.range.upper)
    let rows = try transaction.scan(range, limit: LedgerLimits.streamsPerSweep)
    for row in rows {
      guard let stored = StreamRow.decode(row.value) else { throw .corruptRecord(key: row.key) }
      if stored.touched > now {
        // Of an earlier format, by a clock that proves nothing: its silence begins now.
        try transaction.put(StreamRow.encode(stored.state, touched: now), for: row.key)
      } else if stored.touched < limit {
        try transaction.remove(row.key)
      }
    }
    let isPartial = rows.count == LedgerLimits.streamsPerSweep
    committer.sweptKey = isPartial ? (rows.last?.key ?? []) + [0] : StreamRow.range.lower
    // A state in memory must not outlive its row.
    if !rows.isEmpty { journal.forgetSettledStreams() }
  }
}
