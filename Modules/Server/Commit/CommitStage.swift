import TernLedger
import TernStorage

/// The state of writers, as it will be stored, and of the disk.
///
/// A batch takes it along and leaves it to the machine when it is decided.
struct CommitStage {
  /// The space that can be written to.
  var diskSpace = DiskSpace.ample
  /// The writers that have written recently, with the writes of the batch.
  private var writers: [UInt128: StreamState] = [:]
  /// The bytes of their outcomes.
  private var outcomeBytes = 0

  /// The most writers whose state is kept between batches.
  private static let writersKept = 4_096
  /// The most bytes of their outcomes.
  private static let outcomeBytesKept = 32 << 20

  /// Forgets the states of writers when they are too many; they are read again.
  mutating func trim() {
    if writers.count > Self.writersKept || outcomeBytes > Self.outcomeBytesKept {
      writers.removeAll()
      outcomeBytes = 0
    }
  }

  /// Returns the state of a writer.
  mutating func state(
    of writerID: UInt128, in reader: any StoreReader, at version: Version
  ) throws(StorageError) -> StreamState {
    if let state = writers[writerID] { return state }
    let state = try LedgerSnapshot(reader, version: version).stream(writerID) ?? StreamState()
    writers[writerID] = state
    outcomeBytes += state.byteCount
    return state
  }

  /// The last sequence number of a writer that has a stored outcome; 0 for a writer that was not
  /// asked about.
  func lastSequence(of writerID: UInt128) -> UInt64 { writers[writerID]?.last ?? 0 }

  /// Forgets the state of a writer that another node has changed.
  mutating func forget(_ writerID: UInt128) {
    if let state = writers.removeValue(forKey: writerID) { outcomeBytes -= state.byteCount }
  }

  /// Records the outcome of a write.
  mutating func record(_ key: IdempotencyKey, _ version: Version, _ outcome: [UInt8]) {
    let before = writers[key.id.stream]?.byteCount ?? 0
    writers[key.id.stream, default: StreamState()].record(key, version, outcome)
    outcomeBytes += (writers[key.id.stream]?.byteCount ?? 0) - before
  }
}
