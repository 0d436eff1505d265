import TernStorage

/// The durable commits that have no rows of their own yet. Source: Docs/Formats/ledger.md, section
/// 4.
///
/// The rows that the writes of a batch change lie all over the store, and each would dirty a page
/// to be synced. The journal takes one row a batch; what it gathered is settled into rows later,
/// many batches at a time and in key order. Until then it lies on top of whatever is read.
///
/// A class, so that the readers lent to a decision need no copy of it. It belongs to one committer
/// and is dropped with it when a batch fails.
///
/// `@unchecked Sendable` is sound because it is used under the lock of its committer, or by the one
/// call that read it.
final class Journal: @unchecked Sendable {
  static let range = KeyRange(prefix: [LedgerKey.journal])

  /// Changes without rows.
  private(set) var pending = PendingRows()
  /// States of streams: of those in ``unsettled`` they have no rows, of the others they do.
  private var streams: [UInt128: StreamState] = [:]
  /// The time of the last write to each stream without a row, in milliseconds of lived time.
  private var unsettled: [UInt128: Int64] = [:]
  /// The number of the last batch.
  private var lastBatch: UInt64 = 0
  private var storedBytes = 0
  /// The bytes of the outcomes in ``streams``.
  private var streamBytes = 0

  /// Reads back what is stored.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` also about a batch that can never be settled.
  init(in view: borrowing some StoreView & ~Copyable & ~Escapable) throws(StorageError) {
    for row in try view.scan(Self.range) {
      guard let number = Self.batch(ofKey: row.key), number < .max,
        let (time, entries) = JournalEntry.batch(row.value)
      else { throw .corruptRecord(key: row.key) }
      lastBatch = number
      storedBytes += row.value.count
      for entry in entries {
        pending.apply(entry.mutations)
        guard let claim = entry.claim else { continue }
        // Writes are numbered from 1; the last number there is has no successor.
        guard (1..<UInt64.max).contains(claim.id.sequence) else {
          throw .corruptRecord(key: row.key)
        }
        try load(claim.id.stream, from: view)
        record(claim, entry.version, entry.outcome, at: time)
      }
    }
    do throws(StorageError) { try pending.checkLimits() } catch {
      let batches = try Self.unstorableBatches(in: view)
      throw batches.first.map { .corruptRecord(key: $0.key) } ?? error
    }
  }

  /// The bytes that are stored of it.
  var byteCount: Int { storedBytes }

  /// The rows that it changes.
  var rowCount: Int { pending.changeCount }

  /// Returns true when the journal has grown so far that it is to be settled.
  func isFull(_ options: LedgerOptions, adding bytes: Int) -> Bool {
    pending.changeCount > options.journalRows || unsettled.count > options.journalRows
      || storedBytes + bytes > LedgerLimits.journalBytes
      || streamBytes > LedgerLimits.cachedStreamBytes
  }

  /// Takes changes in.
  func apply(_ mutations: [Mutation]) { pending.apply(mutations) }

  /// Stores the entries of one batch.
  func store(_ entries: [UInt8], in transaction: inout WriteTransaction) throws(StorageError) {
    lastBatch += 1
    storedBytes += entries.count
    try transaction.put(entries, for: Self.key(lastBatch))
  }

  /// Gives everything gathered rows of its own.
  func settle(in transaction: inout WriteTransaction) throws(StorageError) {
    for range in pending.removed { try transaction.remove(in: range) }
    for row in pending.puts { try transaction.put(row.value.span, for: row.key.span) }
    for (stream, time) in unsettled.sorted(by: { $0.key < $1.key }) {
      guard let state = streams[stream], state.last > 0 else { continue }
      try transaction.put(StreamRow.encode(state, touched: time), for: StreamRow.key(stream))
    }
    if storedBytes > 0 { try transaction.remove(in: Self.range) }
    pending = PendingRows()
    unsettled = [:]
    storedBytes = 0
    if streamBytes > LedgerLimits.cachedStreamBytes { forgetSettledStreams() }
  }

  static func key(_ batch: UInt64) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(LedgerKey.journal)
    writer.append(bigEndian: batch)
    return writer.bytes
  }

  static func batch(ofKey key: [UInt8]) -> UInt64? {
    var reader = ByteReader(key, from: 1)
    return reader.bigEndian(UInt64.self)
  }
}

// MARK: - Streams

extension Journal {
  /// Returns the outcome of a write under `claim`: `nil` when it is the next one.
  func verdict(
    on claim: IdempotencyKey, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> CommitResult? {
    try load(claim.id.stream, from: view)
    return streams[claim.id.stream]?.verdict(on: claim)
  }

  /// Returns the state of a stream; an empty one when it is unknown.
  func state(
    of stream: UInt128, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> StreamState {
    try load(stream, from: view)
    return streams[stream] ?? StreamState()
  }

  /// Records the outcome of a write made at `time`, in milliseconds of lived time.
  func record(_ claim: IdempotencyKey, _ version: Version, _ outcome: [UInt8], at time: Int64) {
    unsettled[claim.id.stream] = time
    let before = streams[claim.id.stream]?.byteCount ?? 0
    streams[claim.id.stream, default: StreamState()].record(claim, version, outcome)
    streamBytes += (streams[claim.id.stream]?.byteCount ?? 0) - before
  }

  /// Returns the future row of a stream that has none or an older one.
  func unsettledRow(of stream: UInt128) -> [UInt8]? {
    guard let time = unsettled[stream], let state = streams[stream] else { return nil }
    return StreamRow.encode(state, touched: time)
  }

  /// Forgets the states that rows hold as well.
  func forgetSettledStreams() {
    streams = streams.filter { unsettled[$0.key] != nil }
    streamBytes = streams.values.reduce(0) { $0 + $1.byteCount }
  }

  private func load(
    _ stream: UInt128, from view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) {
    if streams[stream] != nil { return }
    if streams.count >= LedgerLimits.cachedStreams
      || streamBytes > LedgerLimits.cachedStreamBytes && unsettled.count < streams.count
    {
      forgetSettledStreams()
    }
    let state = try StreamRow.read(stream, in: view) ?? StreamState()
    streamBytes += state.byteCount
    streams[stream] = state
  }
}
