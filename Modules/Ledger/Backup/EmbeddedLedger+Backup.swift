public import TernStorage

/// A ledger whose rows can be copied at one moment, while it goes on.
public protocol BackupSource: Ledger {
  /// Tells everything in the store, as it is at one moment, in the form of a backup.
  ///
  /// Runs on the caller's thread and holds one snapshot until it returns.
  ///
  /// - Parameters:
  ///   - time: The present moment, in milliseconds since 1970.
  ///   - base: The backup that this one is to be an increment of.
  ///   - opened: Called once the snapshot is open, with its version.
  ///   - emit: Takes the next bytes; throws `StorageError.abandoned` to end early.
  func backUp(
    at time: Int64, on base: BackupIndex?, opened: (Version) -> Void,
    emit: @escaping ([UInt8]) throws(StorageError) -> Void
  ) throws(LedgerError) -> BackupSummary
}

extension EmbeddedLedger: BackupSource {
  public func backUp(
    at time: Int64, on base: BackupIndex? = nil, opened: (Version) -> Void = { _ in },
    emit: @escaping ([UInt8]) throws(StorageError) -> Void
  ) throws(LedgerError) -> BackupSummary {
    // The stored time is that of the last write, and the present moment may be minutes later.
    try Self.backUp(store, at: (time, livedTime), on: base, opened, emit)
  }

  /// The same for a store that no server has open. Its lived time is the stored one: nothing tells
  /// how long ago a server had it open.
  ///
  /// - Throws: ``LedgerError/foreignStore`` for a store without a ledger.
  public static func backUp(
    _ store: any OrderedStore, at time: Int64, on base: BackupIndex? = nil,
    opened: (Version) -> Void = { _ in }, emit: @escaping ([UInt8]) throws(StorageError) -> Void
  ) throws(LedgerError) -> BackupSummary {
    try backUp(store, at: (time, nil), on: base, opened, emit)
  }

  private static func backUp(
    _ store: any OrderedStore, at moment: (time: Int64, lived: Int64?), on base: BackupIndex?,
    _ opened: (Version) -> Void, _ emit: @escaping ([UInt8]) throws(StorageError) -> Void
  ) throws(LedgerError) -> BackupSummary {
    try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      guard try formatFound(in: snapshot) != nil else { throw .foreignStore }
      let version = try LogBounds.read(in: snapshot).last
      do throws(StorageError) {
        let lived = max(try LivedTime.stored(in: snapshot), moment.lived ?? 0)
        let header = BackupHeader(version: version, time: moment.time, lived: lived)
        return try copy(snapshot, header, on: base, opened, emit)
      } catch {
        throw .storage(error)
      }
    }
  }

  private static func copy(
    _ snapshot: borrowing Snapshot, _ header: BackupHeader, on base: BackupIndex?,
    _ opened: (Version) -> Void, _ emit: @escaping ([UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) -> BackupSummary {
    opened(header.version)
    var writer = try BackupWriter(header, on: base, emit: emit)
    let (reserve, replica) = (LedgerKey.reserve, LedgerKey.replica)
    var cursor = snapshot.cursor()
    while try cursor.next() {
      // The space held back for a full disk is no data.
      if compareBytes(cursor.key, reserve.span) == 0 { continue }
      // A restored store is a ledger of its own.
      if compareBytes(cursor.key, replica.span) == 0 { continue }
      try writer.add(key: cursor.key, value: cursor.value)
    }
    return try writer.finish()
  }
}
