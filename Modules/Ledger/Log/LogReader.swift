import TernStorage

/// Reads entries back out of the segments of a log.
enum LogReader {
  static func entries(
    after version: Version, limit: Int, in view: borrowing Snapshot
  ) throws(LedgerError) -> [LogEntry] {
    let bounds = try LogBounds.read(in: view)
    guard version < bounds.last, limit > 0 else { return [] }
    guard version + 1 >= bounds.first else { throw .truncated(first: bounds.first) }
    var entries: [LogEntry] = []
    var next = try segmentStart(holding: version + 1, in: view)
    while entries.count < limit, next <= bounds.last {
      let segment = try segment(startingAt: next, in: view)
      entries += segment.drop { $0.version <= version }.prefix(limit - entries.count)
      next += UInt64(segment.count)
    }
    return entries
  }

  private static func segmentStart(
    holding version: Version, in view: borrowing Snapshot
  ) throws(LedgerError) -> Version {
    let end = LogSegment.key(version, piece: .max)
    let row = try LedgerError.wrapping { () throws(StorageError) in
      try view.scan(KeyRange(from: LogSegment.key(0), to: end), isReversed: true, limit: 1).first
    }
    guard let row, let first = LogSegment.first(ofKey: row.key) else { throw .corrupt(key: end) }
    return first
  }

  private static func segment(
    startingAt first: Version, in view: borrowing Snapshot
  ) throws(LedgerError) -> [LogEntry] {
    let start = LogSegment.key(first)
    let rows = try LedgerError.wrapping { () throws(StorageError) in
      try view.scan(KeyRange(from: start, to: LogSegment.key(first + 1)))
    }
    guard let entries = LogSegment.entries(first: first, rows.flatMap(\.value)) else {
      throw .corrupt(key: start)
    }
    return entries
  }
}
