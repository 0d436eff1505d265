public import TernLedger
public import TernStorage

extension TernServer {
  /// Gives the file system back what deleted and overwritten data have left in a store that no
  /// server has open: settles the journal, cuts the log, and compacts the store.
  ///
  /// - Parameter count: Commits that the log keeps; 0 for none, so that no byte of it is left.
  /// - Throws: `LedgerError`. The store is usable, whatever of it was done.
  /// - Complexity: O(*size of the store*).
  public static func compact(
    _ store: any OrderedStore, keepingLog count: UInt64
  ) throws(LedgerError) {
    // No time is lived here.
    try EmbeddedLedger(store: store) { 0 }.compact(keepingLog: count)
  }
}
