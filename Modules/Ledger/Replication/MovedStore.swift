package import TernStorage

/// The steps that turn an embedded ledger's store into rows of a checkpoint, and a copy of a shared
/// log into an embedded ledger's store. No server has the store open.
package struct MovedStore {
  private let store: any OrderedStore

  /// A store that is moved.
  package init(_ store: any OrderedStore) { self.store = store }

  /// Settles the journal, so that the rows are all there is, and returns the store's version.
  ///
  /// - Throws: ``LedgerError/foreignStore`` for a store without a ledger, and for a copy of a
  ///   shared log.
  package func settle() throws(LedgerError) -> Version {
    let version = try store.read(mapping: LedgerError.storage) {
      snapshot throws(LedgerError) -> Version in
      guard try EmbeddedLedger.formatFound(in: snapshot) != nil else { throw .foreignStore }
      let isCopy = try LedgerError.wrapping { () throws(StorageError) in
        try snapshot.contains(LedgerKey.replica)
      }
      if isCopy { throw .foreignStore }
      return try LogBounds.read(in: snapshot).last
    }
    try settleCopy()
    return version
  }

  /// Settles the journal of a copy, which stays a copy.
  package func settleCopy() throws(LedgerError) {
    try settleJournal { _ throws(StorageError) in }
  }

  /// Makes a copy of a shared log the store of an embedded ledger, which goes on at its version.
  package func detach() throws(LedgerError) {
    try settleJournal { transaction throws(StorageError) in
      try transaction.remove(LedgerKey.replica)
    }
  }

  private func settleJournal(
    _ body: (inout WriteTransaction) throws(StorageError) -> Void
  ) throws(LedgerError) {
    try LedgerError.wrapping { () throws(StorageError) in
      try store.write { transaction throws(StorageError) in
        try Journal(in: transaction).settle(in: &transaction)
        try body(&transaction)
      }
    }
  }

  /// Returns the rows behind `key` that a checkpoint holds, in key order: at least one when there
  /// is one. After `bytes` of them none is added.
  package func rows(
    after key: [UInt8]?, limit: Int, bytes: Int
  ) throws(LedgerError) -> [Row] {
    try LedgerError.wrapping { () throws(StorageError) in
      try store.read { snapshot throws(StorageError) in
        var (rows, size): ([Row], Int) = ([], 0)
        for range in Self.ranges(after: key) {
          var cursor = snapshot.cursor(over: range)
          while rows.count < limit, size < bytes, try cursor.next() {
            let row = Row(
              key: [UInt8](copying: cursor.key), value: [UInt8](copying: cursor.value))
            size += row.key.count + row.value.count
            rows.append(row)
          }
        }
        return rows
      }
    }
  }

  /// The keys behind `key` of the rows that a checkpoint holds: those of streams, and from the
  /// first key of the committing code on.
  private static func ranges(after key: [UInt8]?) -> [KeyRange] {
    let streams = KeyRange(prefix: [LedgerKey.stream])
    let others = KeyRange(from: [LedgerLimits.firstOwnByte])
    guard let key else { return [streams, others] }
    let next = key + [0]
    guard key.first == LedgerKey.stream else { return [KeyRange(from: next)] }
    return [KeyRange(from: next, to: streams.upper), others]
  }
}
