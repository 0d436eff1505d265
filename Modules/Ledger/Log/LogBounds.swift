import TernStorage

/// The first and last commit in a log; both 0 when there is none.
struct LogBounds: Hashable {
  var first: Version = 0
  var last: Version = 0

  /// Reads the bounds from the ends of the log.
  static func read(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(LedgerError) -> LogBounds {
    let range = KeyRange(prefix: [LedgerKey.log])
    let (head, tail) = try LedgerError.wrapping { () throws(StorageError) in
      (try view.scan(range, limit: 1).first, try view.scan(range, isReversed: true, limit: 1).first)
    }
    guard let head, let tail else { return LogBounds() }
    guard let first = LogSegment.first(ofKey: head.key),
      let start = LogSegment.first(ofKey: tail.key),
      let row = try LedgerError.wrapping({ () throws(StorageError) in
        try view.get(LogSegment.key(start))
      }), let count = LogSegment.count(ofFirstRow: row),
      let last = LogSegment.last(first: start, count: count)
    else { throw .corrupt(key: tail.key) }
    return LogBounds(first: first, last: last)
  }
}
