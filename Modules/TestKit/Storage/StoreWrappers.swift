import TernStorage

// What stores that wrap stores have in common: lending a wrapped reader or writer on top of the
// inner store's.
extension OrderedStore {
  func readThrough<R>(
    _ wrap: (any StoreReader) -> any StoreReader,
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try read { inner throws(StorageError) in
      let reader = wrap(inner.reader)
      return try body(Snapshot(reader))
    }
  }

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
