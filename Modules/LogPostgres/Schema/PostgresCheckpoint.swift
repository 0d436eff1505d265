import TernCommitLog
import TernStorage

/// The checkpoint of one shard in the tables.
///
/// Rows with short keys are in `tern_row`, those with long ones in buckets. The *mark* is the
/// position up to which the rows contain the log; its row doubles as the lock for changes.
struct PostgresCheckpoint: Sendable {
  let shard: ShardID

  private var key: PostgresValue { .number(Int64(shard.number)) }

  /// Reads a page as of one moment.
  ///
  /// All statements see one snapshot of the database, so a page is consistent. Pages of one
  /// download may differ in their mark; the caller compares it.
  ///
  /// - Parameters:
  ///   - last: The last key of the page before; `nil` for the first page.
  ///   - limit: The most rows; values beyond ``CommitLogLimits/rowsPerPage`` are cut.
  /// - Returns: Rows with their checksums verified; `damaged` when one does not match.
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
      let found = try sizes(from: first, limit: count + 1, connection, deadline)
      let kept = found.keys.prefix(length(of: found, count: count)).map(\.key)
      let isLast = kept.count == found.keys.count && found.isWhole
      guard let end = kept.last else {
        return .success(CheckpointPage(position: mark, rows: [], isLast: isLast))
      }
      guard let rows = try rows(kept, from: first, through: end, connection, deadline) else {
        return .failure(.damaged(at: mark))
      }
      return .success(CheckpointPage(position: mark, rows: rows, isLast: isLast))
    }
  }

  private func buckets(_ connection: PostgresConnection, _ deadline: Int64) -> PostgresBuckets {
    PostgresBuckets(shard: key, connection: connection, deadline: deadline)
  }

  /// Returns the keys of both tables from `first` on.
  ///
  /// Merges the keys of both tables. Keys behind the last long key known are dropped, because an
  /// unknown long key may come before them.
  private func sizes(
    from first: [UInt8], limit: Int, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> PostgresBuckets.Sizes {
    let rows = try connection.run(
      .rowSizes, [key, .bytes(first), .number(Int64(limit))], deadline: deadline)
    var sizes = PostgresBuckets.Sizes(keys: [], isWhole: rows.count < limit)
    for row in 0..<rows.count {
      sizes.keys.append((try rows.bytes(row, 0), Int(clamping: try rows.count(row, 1))))
    }
    let long = try buckets(connection, deadline).sizes(from: first, limit: limit)
    guard let last = long.keys.last else { return sizes }
    if !long.isWhole {
      // Behind the last one, other long keys may come first.
      sizes.keys.removeAll { last.key.lexicographicallyPrecedes($0.key) }
      sizes.isWhole = false
    }
    sizes.keys = (sizes.keys + long.keys).sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return sizes
  }

  /// Returns the number of rows that fit a page.
  private func length(of sizes: PostgresBuckets.Sizes, count: Int) -> Int {
    var bytes = 0
    for (index, row) in sizes.keys.prefix(count).enumerated() {
      // What the checksum takes does not count.
      bytes += row.key.count + row.bytes - RecordChecksum.bytes
      if index > 0, bytes > CommitLogLimits.pageBytes { return index }
    }
    return min(count, sizes.keys.count)
  }

  /// Returns the rows with these keys, which are all of a range, or `nil` if one does not match its
  /// checksum.
  private func rows(
    _ keys: [[UInt8]], from first: [UInt8], through end: [UInt8], _ connection: PostgresConnection,
    _ deadline: Int64
  ) throws(PostgresFailure) -> [Row]? {
    let found = try connection.run(
      .rows, [key, .bytes(first), .bytes(end)], deadline: deadline)
    var records: [(key: [UInt8], record: [UInt8])] = []
    for row in 0..<found.count {
      records.append((try found.bytes(row, 0), try found.bytes(row, 1)))
    }
    let long = keys.filter { $0.count > LongKey.headBytes }
    if !long.isEmpty {
      records += try buckets(connection, deadline).records(of: long)
      records.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }
    var rows: [Row] = []
    rows.reserveCapacity(records.count)
    for (key, record) in records {
      guard let value = RecordChecksum.value(of: record, key: key) else { return nil }
      rows.append(Row(key: key, value: value))
    }
    return rows
  }
}

extension PostgresCheckpoint {
  /// Moves the mark and applies the steps, in one transaction. The lock of the mark keeps other
  /// nodes from doing the same.
  ///
  /// - Returns: `advanced`; `elsewhere` when the mark is not where the caller thinks; `fenced` when
  ///   another epoch has begun. The two latter change nothing.
  /// - Throws: ``PostgresFailure/tooManyRows`` when ranges are to be removed that take too long:
  ///   remove them by ``remove(_:from:_:_:)`` before.
  func advance(
    from mark: LogPosition, to position: LogPosition, epoch: LogEpoch, steps: [CheckpointStep],
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<CheckpointOutcome> {
    try connection.transaction(deadline: deadline) {
      () throws(PostgresFailure) -> Answer<CheckpointOutcome> in
      let head: LogPosition
      switch try hold(mark, epoch, connection, deadline) {
      case .success(.held(let newest)): head = newest
      case .success(.refused(let outcome)): return .success(outcome)
      case .failure(let error): return .failure(error)
      }
      guard position >= mark, position <= head else { return .failure(.regressed(head: head)) }
      try connection.run(.moveMark, [key, number(mark), number(position)], deadline: deadline)
      var table = RangeTable(shard: key, connection, deadline)
      for step in steps { try apply(step, to: &table) }
      return .success(.advanced(position))
    }
  }

  /// Takes the lock of the mark, which keeps other nodes from changing rows until the end of the
  /// transaction. The epoch is read behind it: a deposed leader that has the lock changes rows
  /// before the next leader does, which then puts its own over them.
  private func hold(
    _ mark: LogPosition, _ epoch: LogEpoch, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<Hold> {
    let held = try connection.run(
      .moveMark, [key, number(mark), number(mark)], deadline: deadline)
    guard held.count == 1 else {
      let present = try connection.run(.mark, [key], deadline: deadline)
      guard present.count == 1 else { return .failure(.unknownShard) }
      return .success(.refused(.elsewhere(mark: LogPosition(try present.count(0, 0)))))
    }
    guard let head = try PostgresTables(shard: shard).head(connection, deadline) else {
      return .failure(.unknownShard)
    }
    return .success(
      head.epoch == epoch ? .held(head: head.position) : .refused(.fenced(head.epoch)))
  }

  /// The outcome of taking the mark's lock.
  private enum Hold {
    /// The mark and the epoch are those that were named; `head` is the newest position of the log.
    case held(head: LogPosition)
    case refused(CheckpointOutcome)
  }

  /// Applies one step of an advance.
  ///
  /// Within a step, ranges are removed before keys, and keys before rows are put.
  private func apply(
    _ step: CheckpointStep, to table: inout RangeTable
  ) throws(PostgresFailure) {
    let (connection, deadline) = (table.connection, table.deadline)
    for range in step.ranges { _ = try table.remove(range) }
    let removed = step.removedKeys
    for keys in CheckpointStep.pieces(removed, bytes: \.count) {
      try connection.run(.removeRows, [key, .byteLists(Array(keys))], deadline: deadline)
    }
    try buckets(connection, deadline).remove(removed)
    let rows = step.rows
    let short = rows.filter { $0.key.count <= LongKey.headBytes }
    for rows in CheckpointStep.pieces(short, bytes: { $0.key.count + $0.value.count }) {
      let records = rows.map { RecordChecksum.record(of: $0.value, key: $0.key) }
      try connection.run(
        .putRows, [key, .byteLists(rows.map(\.key)), .byteLists(records)], deadline: deadline)
    }
    if short.count < rows.count {
      table.hasBuckets = true
      try buckets(connection, deadline).put(rows.filter { $0.key.count > LongKey.headBytes })
    }
  }

  /// Removes a part of ranges that are too large for one transaction, while the mark stays: rows
  /// may be newer than it.
  ///
  /// - Returns: The ranges that are left, or what keeps them from being removed.
  func remove(
    _ removal: CheckpointRemoval, from mark: LogPosition, epoch: LogEpoch,
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<RemovalOutcome> {
    var removal = removal
    do throws(PostgresFailure) {
      return try connection.transaction(deadline: deadline) {
        () throws(PostgresFailure) -> Answer<RemovalOutcome> in
        switch try hold(mark, epoch, connection, deadline) {
        case .success(.held): break
        case .success(.refused(let outcome)): return .success(.refused(outcome))
        case .failure(let error): return .failure(error)
        }
        var table = RangeTable(shard: key, connection, deadline)
        try removal.advance(&table)
        return .success(.left(removal))
      }
    } catch {
      guard error == .tooManyRows, removal.lowerLimit() else { throw error }
      return .success(.left(removal))
    }
  }

  /// The outcome of a part of a removal.
  enum RemovalOutcome: Sendable {
    case left(CheckpointRemoval)
    case refused(CheckpointOutcome)
  }

  private func number(_ position: LogPosition) -> PostgresValue {
    .number(Int64(clamping: position.number))
  }
}
