import TernStorage

/// The commits of one storage write, applied one after the other.
struct CommitBatch {
  private(set) var committer: Committer
  private let now: Int64
  private let versionBefore: Version
  private var segment: LogSegment
  /// Streams written to, in the order of their first write.
  private var touched: [UInt128] = []

  init(by committer: Committer, now: Int64) {
    self.committer = committer
    self.now = now
    versionBefore = committer.log.last
    segment = LogSegment(first: versionBefore + 1)
  }

  /// Validates and applies one commit.
  mutating func apply(
    _ commit: Commit, to transaction: inout WriteTransaction
  ) throws(StorageError) -> CommitResult {
    if let claim = commit.claim {
      try load(claim.id.stream, from: transaction)
      if let verdict = committer.streams[claim.id.stream]?.verdict(on: claim) { return verdict }
    }
    if committer.hasConflict(with: commit.reads, since: commit.readVersion) { return .conflict }
    for condition in commit.preconditions {
      guard try Self.holds(condition, in: transaction) else { return .failedPrecondition }
    }
    try transaction.apply(commit.mutations)
    let version = record(commit)
    if let claim = commit.claim {
      committer.streams[claim.id.stream, default: StreamState()]
        .record(claim, version, commit.outcome)
    }
    return .committed(version)
  }

  private mutating func record(_ commit: Commit) -> Version {
    if commit.isOutcomeOnly { return committer.log.last }
    committer.log.last += 1
    segment.append(commit.claim?.id, commit.record)
    committer.remember(commit.mutations, as: committer.log.last)
    return committer.log.last
  }

  private mutating func load(
    _ stream: UInt128, from transaction: borrowing WriteTransaction
  ) throws(StorageError) {
    if !touched.contains(stream) { touched.append(stream) }
    if committer.streams[stream] != nil { return }
    if committer.streams.count >= LedgerLimits.cachedStreams {
      committer.streams = committer.streams.filter { touched.contains($0.key) }
    }
    committer.streams[stream] = try StreamRow.read(stream, in: transaction) ?? StreamState()
  }

  private static func holds(
    _ condition: Precondition, in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> Bool {
    switch condition {
    case .exists(let key): try transaction.contains(key)
    case .absent(let key): try !transaction.contains(key)
    case .equals(let key, let value): try transaction.get(key) == value
    }
  }

  /// Writes what the ledger itself has to remember about the batch.
  mutating func finish(
    _ options: LedgerOptions, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    for stream in touched {
      guard let state = committer.streams[stream], state.last > 0 else { continue }
      try transaction.put(StreamRow.encode(state, touched: now), for: StreamRow.key(stream))
    }
    if segment.count > 0 {
      for row in segment.rows { try transaction.put(row.value, for: row.key) }
      try truncateLog(keeping: options.logLimit, in: &transaction)
      let period = LedgerLimits.commitsPerSweep
      if versionBefore / period != committer.log.last / period {
        let time = committer.nextSweepTime(at: now)
        try sweep(olderThan: time - options.streamLifetime.milliseconds, in: &transaction)
      }
    }
  }

  private mutating func truncateLog(
    keeping limit: UInt64, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    if committer.log.first == 0 { committer.log.first = versionBefore + 1 }
    // Cutting a quarter at a time makes one removal of many.
    guard committer.log.last - committer.log.first >= limit + limit / 4 else { return }
    let cut = committer.log.last - limit + 1
    let start = LogSegment.key(0)
    // The segment that holds `cut` may begin before it and stays whole.
    let kept = try transaction.scan(
      KeyRange(from: start, to: LogSegment.key(cut, piece: .max)), isReversed: true, limit: 1)
    guard let first = kept.first.flatMap({ LogSegment.first(ofKey: $0.key) }) else { return }
    try transaction.remove(in: KeyRange(from: start, to: LogSegment.key(first)))
    committer.log.first = first
  }

  /// Looks at the next few streams and forgets the silent ones.
  private mutating func sweep(
    olderThan limit: Int64, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    let range = KeyRange(from: committer.sweptKey, to: StreamRow.range.upper)
    let rows = try transaction.scan(range, limit: LedgerLimits.streamsPerSweep)
    for row in rows {
      guard let stored = StreamRow.decode(row.value) else { throw .corruptRecord(key: row.key) }
      if stored.touched < limit { try transaction.remove(row.key) }
    }
    let isPartial = rows.count == LedgerLimits.streamsPerSweep
    committer.sweptKey = isPartial ? (rows.last?.key ?? []) + [0] : StreamRow.range.lower
    // A state in memory must not outlive its row.
    if !rows.isEmpty { committer.streams.removeAll() }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
