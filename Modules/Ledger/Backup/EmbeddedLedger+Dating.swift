public import TernStorage

extension EmbeddedLedger {
  /// The last commit that was made at or before a moment of lived time, in milliseconds, as far as
  /// the log of a store tells.
  ///
  /// - Throws: ``LedgerError/truncated(first:)`` when all commits in the log are later.
  public static func lastVersion(
    in store: any OrderedStore, atLived time: Int64
  ) throws(LedgerError) -> Version {
    try store.read(mapping: LedgerError.storage) { snapshot throws(LedgerError) in
      let bounds = try LogBounds.read(in: snapshot)
      var last: Version?
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
        guard (head.lived ?? 0) <= time else { break }
        next += head.count
        last = next - 1
      }
      guard let last else { throw .truncated(first: bounds.first) }
      return last
    }
  }
}
