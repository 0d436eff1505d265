public import TernStorage

extension EmbeddedLedger {
  /// Returns the last commit that was made at or before a moment of lived time, in milliseconds, as
  /// far as the log of a store tells.
  ///
  /// - Returns: The commit's version and its own lived time, which is 0 for a commit of an earlier
  ///   format.
  /// - Throws: ``LedgerError/truncated(first:)`` when all commits in the log are later.
  public static func lastCommit(
    in store: any OrderedStore, atLived time: Int64
  ) throws(LedgerError) -> (version: Version, lived: Int64) {
    try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      let bounds = try LogBounds.read(in: snapshot)
      var last: (version: Version, lived: Int64)?
      var next = bounds.first
      while next > 0, next <= bounds.last {
        let row = try LedgerError.wrapping { () throws(StorageError) in
          try snapshot.get(LogSegment.key(next))
        }
        guard let row else { throw .corrupt(key: LogSegment.key(next)) }
        var reader = ByteReader(row)
        guard let head = LogSegment.Head(from: &reader), head.count > 0 else {
          throw .corrupt(key: LogSegment.key(next))
        }
        let lived = head.lived ?? 0
        guard lived <= time else { break }
        next += head.count
        last = (next - 1, lived)
      }
      guard let last else { throw .truncated(first: bounds.first) }
      return last
    }
  }
}
