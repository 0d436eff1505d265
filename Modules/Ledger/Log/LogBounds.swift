import TernStorage

/// The first and last commit in a log; both 0 when there never was one. Where all were cut off, the
/// first is the one behind the last.
struct LogBounds: Hashable {
  var first: Version = 0
  var last: Version = 0
  /// The bytes of all segments since the log began.
  var writtenBytes: UInt64 = 0
  /// The bytes of those that were cut off.
  var droppedBytes: UInt64 = 0

  /// The bytes in the log; those of earlier formats are not counted.
  var bytes: UInt64 { writtenBytes > droppedBytes ? writtenBytes - droppedBytes : 0 }

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
      }), let end = self.head(row), let last = LogSegment.last(first: start, count: end.count)
    else { throw .corrupt(key: tail.key) }
    let dropped = self.head(head.value)?.before ?? 0
    return LogBounds(first: first, last: last, writtenBytes: end.end, droppedBytes: dropped)
  }

  private static func head(_ row: [UInt8]) -> LogSegment.Head? {
    var reader = ByteReader(row)
    return LogSegment.Head(from: &reader)
  }
}
