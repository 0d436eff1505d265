public import TernStorage

/// Changes to a ledger's store that its log cannot lead to. No server has the store open.
public enum LedgerRewriting {
  /// Sets a restored store apart from the one it is a copy of, whose clients may have seen later
  /// commits: settles the journal, and lets the log go on with versions that were never seen.
  ///
  /// Outcomes of writes stay, so that a retry still changes nothing.
  ///
  /// - Returns: The version of the store from now on.
  public static func beginEpoch(in store: any OrderedStore) throws(LedgerError) -> Version {
    try rewrite(store) { _ throws(StorageError) in }
  }

  /// Changes rows of a store that no server has open, in one write and beside the log: settles the
  /// journal first, which would lie on top of them, and lets the log begin anew behind a gap, as it
  /// cannot lead to the rows.
  ///
  /// - Parameter change: Sees all rows in their places; what it throws leaves the store unchanged.
  /// - Returns: The version of the store from now on.
  @discardableResult
  public static func rewrite(
    _ store: any OrderedStore,
    _ change: (inout WriteTransaction) throws(StorageError) -> Void
  ) throws(LedgerError) -> Version {
    let bounds = try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      try LogBounds.read(in: snapshot)
    }
    let first = bounds.last + LedgerLimits.salvageLeap
    try LedgerError.wrapping { () throws(StorageError) in
      try store.write { transaction throws(StorageError) in
        let lived = try LivedTime.stored(in: transaction)
        try Journal(in: transaction).settle(in: &transaction)
        try change(&transaction)
        let row = LivedTime.row(lived)
        try transaction.put(row.value, for: row.key)
        try transaction.remove(in: KeyRange(prefix: [LedgerKey.log]))
        var mark = LogSegment(first: first, lived: lived, before: bounds.writtenBytes)
        mark.append(nil, [])
        try mark.forEachRow { row throws(StorageError) in
          try transaction.put(row.value, for: row.key)
        }
      }
    }
    return first
  }
}
