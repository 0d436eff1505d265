public import TernStorage

/// A record of a store that cannot be read, and the bytes of its value as they lie there.
public struct DamagedRow: Hashable, Sendable {
  /// The record's key.
  public var key: [UInt8]
  /// Its value, damaged as it is.
  public var value: [UInt8]
  /// The part of the value that stays in the record's place: a batch of the journal without the
  /// commits that no store takes. `nil` when the record as a whole cannot be read.
  public var remainder: [UInt8]?

  /// A record as it was found.
  public init(key: [UInt8], value: [UInt8], remainder: [UInt8]? = nil) {
    self.key = key
    self.value = value
    self.remainder = remainder
  }
}

/// The way on for a store with damaged records. Source: Docs/Formats/ledger.md, section 7.
extension EmbeddedLedger {
  /// Finds the corrupt records of a store that no process has open, and the batches of its journal
  /// that can never be settled. O(its size).
  public static func damagedRows(
    in store: any OrderedStore
  ) throws(StorageError) -> [DamagedRow] {
    try store.read { snapshot throws(StorageError) in
      var found: [DamagedRow] = []
      var range = KeyRange.all
      while let key = try nextDamage(in: range, snapshot) {
        found.append(DamagedRow(key: key, value: try snapshot.damagedValue(for: key) ?? []))
        // A key's successor is the key with a zero behind it.
        range = KeyRange(from: key + [0])
      }
      for batch in try Journal.unstorableBatches(in: snapshot) {
        found.append(
          DamagedRow(key: batch.key, value: batch.value, remainder: batch.remainder))
      }
      return found
    }
  }

  private static func nextDamage(
    in range: KeyRange, _ snapshot: borrowing Snapshot
  ) throws(StorageError) -> [UInt8]? {
    var cursor = snapshot.cursor(over: range)
    do throws(StorageError) {
      while try cursor.next() {}
      return nil
    } catch {
      guard case .corruptRecord(let key) = error else { throw error }
      return key
    }
  }

  /// Takes damaged records out of a store, in one write: the ledger's own so that it opens again,
  /// others as asked for.
  ///
  /// The log forgets everything at and before a corrupt piece. If that was its end, it goes on with
  /// versions that were never seen. A stream without its row is unknown: writes without an
  /// acknowledgement are applied again.
  ///
  /// - Parameter substitutes: What is stored in the place of records that are not the ledger's;
  ///   those it does not name stay as they are.
  /// - Throws: ``LedgerError/foreignStore`` for a node's copy of a shared log, which is built again
  ///   from the log instead.
  public static func setAside(
    _ rows: [DamagedRow], in store: any OrderedStore, substitutes: [Mutation]
  ) throws(LedgerError) {
    if rows.contains(where: { $0.key == LedgerKey.replica }) { throw .foreignStore }
    try NodeCopy.refuse(store)
    try LedgerError.wrapping { () throws(StorageError) in
      try takeOut(rows, of: store, substitutes: substitutes)
    }
  }

  private static func takeOut(
    _ rows: [DamagedRow], of store: any OrderedStore, substitutes: [Mutation]
  ) throws(StorageError) {
    let own = rows.filter { $0.key.first ?? 0 < LedgerLimits.firstOwnByte }
    try store.write { transaction throws(StorageError) in
      for row in own where row.key != LedgerKey.format {
        if let remainder = row.remainder {
          try transaction.put(remainder, for: row.key)
        } else {
          try transaction.remove(row.key)
        }
      }
      if own.contains(where: { $0.key == LedgerKey.format }) {
        try transaction.put(formatRow, for: LedgerKey.format)
      }
      let log = own.filter { $0.key.first == LedgerKey.log }
      let segments = log.compactMap { LogSegment.first(ofKey: $0.key) }
      if let last = segments.max() { try cutLog(through: last, in: &transaction) }
      try transaction.apply(substitutes)
    }
  }

  /// Forgets the log up to the segment that begins with `last`.
  private static func cutLog(
    through last: Version, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    let range = KeyRange(prefix: [LedgerKey.log])
    try transaction.remove(
      in: KeyRange(from: range.lower, to: LogSegment.key(last + 1)))
    guard try transaction.scan(range, limit: 1).isEmpty else { return }
    var segment = LogSegment(first: last + LedgerLimits.salvageLeap)
    segment.append(nil, [])
    try segment.forEachRow { row throws(StorageError) in
      try transaction.put(row.value, for: row.key)
    }
  }
}
