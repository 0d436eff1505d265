import TernStorage

// What stores that wrap stores have in common: lending a wrapped reader or writer on top of the
// inner store's.
extension OrderedStore {
  /// Lends a snapshot of the inner store behind a reader of the wrapper.
  ///
  /// - Parameter wrap: Called once, with the inner reader, which is valid until `body` returns.
  func readThrough<R>(
    _ wrap: (any StoreReader) -> any StoreReader,
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try read { inner throws(StorageError) in
      let reader = wrap(inner.reader)
      return try body(Snapshot(reader))
    }
  }

  /// Lends a transaction of the inner store behind a writer of the wrapper. The inner transaction
  /// ends as `body` does: committed when it returns, abandoned when it throws.
  func writeThrough<R>(
    _ wrap: (any StoreWriter) -> any StoreWriter,
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try write { inner throws(StorageError) in
      let writer = wrap(inner.writer)
      var transaction = WriteTransaction(writer)
      return try body(&transaction)
    }
  }
}
