import TernCommitLog
import TernStorage

/// The checkpoint of one shard in the tables.
struct PostgresCheckpoint: Sendable {
  let shard: ShardID

  private var key: PostgresValue { .number(Int64(shard.number)) }

  /// Reads a page as of one moment.
  func page(
    after last: [UInt8]?, limit: Int, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<CheckpointPage> {
    try connection.transaction(.beginSnapshot, deadline: deadline) {
      () throws(PostgresFailure) -> Answer<CheckpointPage> in
      let marks = try connection.run(.mark, [key], deadline: deadline)
      guard marks.count == 1 else { return .failure(.unknownShard) }
      let mark = LogPosition(try marks.count(0, 0))
      let first = last.map { $0 + [0] } ?? []
      let count = min(max(limit, 0), CommitLogLimits.rowsPerPage)
      let sizes = try connection.run(
        .rowSizes, [key, .bytes(first), .number(Int64(count + 1))], deadline: deadline)
      let kept = try rows(of: sizes, count: count)
      let isLast = kept == sizes.count
      guard kept > 0 else {
        return .success(CheckpointPage(position: mark, rows: [], isLast: isLast))
      }
      let end = try sizes.bytes(kept - 1, 0)
      let found = try connection.run(
        .rows, [key, .bytes(first), .bytes(end)], deadline: deadline)
      guard let rows = try checked(found) else { return .failure(.damaged(at: mark)) }
      return .success(CheckpointPage(position: mark, rows: rows, isLast: isLast))
    }
  }

  /// Returns the number of rows that fit a page.
  private func rows(of sizes: PostgresRows, count: Int) throws(PostgresFailure) -> Int {
    var bytes = 0
    for row in 0..<min(count, sizes.count) {
      // What the checksum takes does not count.
      bytes += try sizes.bytes(row, 0).count - RecordChecksum.bytes
      bytes += Int(clamping: try sizes.count(row, 1))
      if row > 0, bytes > CommitLogLimits.pageBytes { return row }
    }
    return min(count, sizes.count)
  }

  /// Returns the rows, or `nil` if one does not match its checksum.
  private func checked(_ found: PostgresRows) throws(PostgresFailure) -> [Row]? {
    var rows: [Row] = []
    rows.reserveCapacity(found.count)
    for row in 0..<found.count {
      let key = try found.bytes(row, 0)
      guard let value = RecordChecksum.value(of: try found.bytes(row, 1), key: key) else {
        return nil
      }
      rows.append(Row(key: key, value: value))
    }
    return rows
  }
}

extension PostgresCheckpoint {
  /// Moves the mark and applies the steps, in one transaction. The lock of the mark keeps other
  /// nodes from doing the same.
  func advance(
    from mark: LogPosition, to position: LogPosition, steps: [CheckpointStep],
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<CheckpointOutcome> {
    try connection.transaction(deadline: deadline) {
      () throws(PostgresFailure) -> Answer<CheckpointOutcome> in
      guard let head = try PostgresTables(shard: shard).head(connection, deadline)?.position else {
        return .failure(.unknownShard)
      }
      let target = min(max(position, mark), head)
      let moved = try connection.run(
        .moveMark, [key, number(mark), number(target)], deadline: deadline)
      guard moved.count == 1 else {
        let present = try connection.run(.mark, [key], deadline: deadline)
        return .success(.elsewhere(mark: LogPosition(try present.count(0, 0))))
      }
      // Nothing was changed: the mark stays when the position is not allowed.
      guard target == position else {
        try connection.run(.moveMark, [key, number(target), number(mark)], deadline: deadline)
        return .failure(.regressed(head: head))
      }
      for step in steps { try apply(step, connection, deadline) }
      return .success(.advanced(position))
    }
  }

  private func apply(
    _ step: CheckpointStep, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) {
    for range in step.ranges {
      guard let upper = range.upper else {
        try connection.run(.removeTail, [key, .bytes(range.lower)], deadline: deadline)
        continue
      }
      try connection.run(
        .removeRange, [key, .bytes(range.lower), .bytes(upper)], deadline: deadline)
    }
    for keys in CheckpointStep.pieces(step.removedKeys, bytes: \.count) {
      try connection.run(.removeRows, [key, .byteLists(Array(keys))], deadline: deadline)
    }
    for rows in CheckpointStep.pieces(step.rows, bytes: { $0.key.count + $0.value.count }) {
      let records = rows.map { RecordChecksum.record(of: $0.value, key: $0.key) }
      try connection.run(
        .putRows, [key, .byteLists(rows.map(\.key)), .byteLists(records)], deadline: deadline)
    }
  }

  private func number(_ position: LogPosition) -> PostgresValue {
    .number(Int64(clamping: position.number))
  }
}
