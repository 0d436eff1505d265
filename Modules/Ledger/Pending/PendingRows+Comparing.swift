package import TernStorage

extension PendingRows {
  /// Calls `body` with the key of each row that the changes would make different in a store.
  package func forEachDifference(
    from base: any StoreReader, _ body: ([UInt8]) -> Void
  ) throws(StorageError) {
    let snapshot = Snapshot(base)
    for row in puts where try snapshot.get(row.key) != row.value { body(row.key) }
    for range in removed {
      var cursor = snapshot.cursor(over: range)
      while try cursor.next() {
        let position = puts.lowerBound(cursor.key)
        let isPut = position != puts.end && puts.compare(position, with: cursor.key) == 0
        if !isPut { body([UInt8](copying: cursor.key)) }
      }
    }
  }
}
