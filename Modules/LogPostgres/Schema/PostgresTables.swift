import TernCommitLog
import TernStorage

/// A result of a statement's evaluation, or the log's error.
typealias Answer<Value> = Result<Value, CommitLogError>

/// The log of one shard in the tables.
///
/// The row of the shard in `tern_shard` is the one point of coordination: an append moves its
/// position under its lock, on the condition that epoch and position are those the leader knows.
/// Two leaders can therefore never both append.
struct PostgresTables: Sendable {
  let shard: ShardID

  private var key: PostgresValue { .number(Int64(shard.number)) }

  /// Creates the rows of the shard if they are missing. Two nodes may do so at the same time; the
  /// second insertion changes nothing.
  func open(
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> LogState {
    if let state = try state(connection, deadline) { return state }
    try connection.run(.insertShard, [key], deadline: deadline)
    try connection.run(.insertMark, [key], deadline: deadline)
    guard let state = try state(connection, deadline) else {
      throw .unexpected("the shard that was created is missing")
    }
    return state
  }

  private func state(
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> LogState? {
    let rows = try connection.run(.state, [key], deadline: deadline)
    guard rows.count == 1 else { return nil }
    let epoch = LogEpoch(try rows.count(0, 1))
    let mark = LeaseMark(epoch: epoch, beat: try rows.count(0, 4))
    let address = try rows.text(0, 6) ?? ""
    return LogState(
      position: LogPosition(try rows.count(0, 0)), epoch: epoch,
      oldest: LogPosition(try rows.count(0, 2)), mark: LogPosition(try rows.count(0, 3)),
      leader: try rows.text(0, 5).map { Lease(node: $0, address: address, mark: mark) },
      time: Int64(clamping: try rows.count(0, 7)))
  }

  /// Returns `nil` for a shard that was not opened.
  ///
  /// - Parameters:
  ///   - position: The head of the log that the leader knows; the batch goes behind it.
  ///   - epoch: The epoch of the leader's lease.
  /// - Returns: The new position; `fenced` when another epoch has begun; `behind` when the log has
  ///   grown.
  func append(
    _ draft: LogBatch.Draft, after position: LogPosition, epoch: LogEpoch,
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> AppendOutcome? {
    // Positions and epochs of a log are below this.
    guard let after = Int64(exactly: position.number), let term = Int64(exactly: epoch.number)
    else {
      return try refusal(epoch: epoch, connection, deadline)
    }
    let identity = BatchIdentity(
      shard: shard, position: position.next, epoch: epoch, id: draft.id)
    let rows = try connection.run(
      .append,
      [
        key, .number(term), .number(after), .bytes(draft.id.bytes),
        .bytes(RecordChecksum.record(of: draft.payload, key: identity.bytes)),
      ], deadline: deadline)
    guard rows.count == 0 else { return .appended(LogPosition(try rows.count(0, 0))) }
    do throws(PostgresFailure) { return try refusal(epoch: epoch, connection, deadline) } catch {
      // The append itself has changed nothing.
      if case .lost(let reason) = error { throw .unreachable(reason) }
      throw error
    }
  }

  /// Returns the reason for which an append had no effect.
  ///
  /// The statement itself only tells that it changed nothing, so the reason is read afterwards. It
  /// may have changed meanwhile; either answer is right that the batch is not in the log.
  private func refusal(
    epoch: LogEpoch, _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> AppendOutcome? {
    let rows = try connection.run(.appendState, [key], deadline: deadline)
    guard rows.count == 1 else { return nil }
    let present = LogEpoch(try rows.count(0, 1))
    return present == epoch
      ? .behind(head: LogPosition(try rows.count(0, 0))) : .fenced(present)
  }

  /// Returns the newest and the oldest position, and the epoch; `nil` for a shard that was not
  /// opened.
  func head(
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> (position: LogPosition, oldest: LogPosition, epoch: LogEpoch)? {
    try head(try connection.run(.head, [key], deadline: deadline))
  }

  private func head(
    _ rows: PostgresRows
  ) throws(PostgresFailure) -> (position: LogPosition, oldest: LogPosition, epoch: LogEpoch)? {
    guard rows.count == 1 else { return nil }
    return (
      LogPosition(try rows.count(0, 0)), LogPosition(try rows.count(0, 1)),
      LogEpoch(try rows.count(0, 2))
    )
  }
}

extension PostgresTables {
  /// Reads up to ``PostgresLimits/batchesPerLook`` short batches and the head by one statement, and
  /// more or longer ones as ``batches(after:limit:_:_:)`` does.
  ///
  /// - Parameters:
  ///   - id: The identifier of the batch at `position` as the reader has it. A different one means
  ///     that the log was restored to an older state.
  ///   - limit: The most batches of the page.
  func page(
    after position: LogPosition, following id: UInt128?, limit: Int,
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<LogPage> {
    let count = min(limit, PostgresLimits.batchesPerLook)
    let rows = try connection.run(
      .page,
      [
        key, number(position), number(position.advanced(by: max(0, count))),
        .number(Int64(PostgresLimits.bytesPerLook + RecordChecksum.bytes)),
      ], deadline: deadline)
    guard rows.count > 0 else { return .failure(.unknownShard) }
    let head = LogPosition(try rows.count(0, 0))
    let oldest = LogPosition(try rows.count(0, 1))
    let found = try rows.isNull(0, 6) ? nil : rows.bytes(0, 6)
    if let error = objection(to: position, found, following: id, (head, oldest)) {
      return .failure(error)
    }
    guard position < head, limit > 0 else { return .success(LogPage(batches: [], head: head)) }
    var batches: [LogBatch] = []
    if head.number - position.number <= UInt64(count) || count == limit {
      for row in 0..<rows.count {
        // One that is missing or damaged is told by the other way of reading.
        guard let batch = try batch(rows, row, from: 2),
          batch.position == position.advanced(by: row + 1)
        else { break }
        batches.append(batch)
      }
    }
    guard batches.isEmpty else { return .success(LogPage(batches: batches, head: head)) }
    return try self.batches(after: position, limit: limit, (head, oldest), connection, deadline)
      .map { LogPage(batches: $0, head: head) }
  }

  func batches(
    after position: LogPosition, following id: UInt128?, limit: Int,
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<[LogBatch]> {
    let heads = try connection.run(
      .headAndBatch, [key, number(position)], deadline: deadline)
    guard let head = try head(heads) else { return .failure(.unknownShard) }
    let found = try heads.isNull(0, 3) ? nil : heads.bytes(0, 3)
    if let error = objection(to: position, found, following: id, (head.position, head.oldest)) {
      return .failure(error)
    }
    return try batches(
      after: position, limit: limit, (head.position, head.oldest), connection, deadline)
  }

  /// Returns the error for a reader that goes on behind a position.
  ///
  /// - Parameters:
  ///   - found: The identifier of the batch at the position; `nil` when it is not there.
  ///   - id: The one that the reader has; `nil` when it knows none.
  private func objection(
    to position: LogPosition, _ found: [UInt8]?, following id: UInt128?,
    _ head: (position: LogPosition, oldest: LogPosition)
  ) -> CommitLogError? {
    if position > head.position { return .regressed(head: head.position) }
    if position.next < head.oldest { return .truncated(first: head.oldest) }
    guard let id, position > .start else { return nil }
    if position < head.oldest { return .truncated(first: head.oldest) }
    guard let found else { return .damaged(at: position) }
    return found == id.bytes ? nil : .regressed(head: head.position)
  }

  /// Reads a page of batches of any size.
  ///
  /// Sizes are read first, so that a page of large batches stays within
  /// ``CommitLogLimits/pageBytes``. Compaction may drop batches between the statements; the oldest
  /// position is then read again to tell that from damage.
  private func batches(
    after position: LogPosition, limit: Int, _ head: (position: LogPosition, oldest: LogPosition),
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> Answer<[LogBatch]> {
    let count = min(
      UInt64(clamping: limit), head.position.number - position.number,
      UInt64(CommitLogLimits.batchesPerPage))
    guard count > 0 else { return .success([]) }
    let end = try end(ofPageAfter: position, count: count, connection, deadline)
    let rows = try connection.run(
      .batches, [key, number(position), number(end)], deadline: deadline)
    var page: [LogBatch] = []
    for row in 0..<rows.count {
      guard let batch = try batch(rows, row), batch.position == position.advanced(by: row + 1)
      else {
        // Not there any more, or never: the former if the log was compacted meanwhile.
        let oldest = try self.head(connection, deadline)?.oldest ?? .start
        let isDropped = position.next < oldest
        return .failure(
          isDropped ? .truncated(first: oldest) : .damaged(at: position.advanced(by: row + 1)))
      }
      page.append(batch)
    }
    guard page.isEmpty else { return .success(page) }
    let oldest = try self.head(connection, deadline)?.oldest ?? .start
    return .failure(
      position.next < oldest ? .truncated(first: oldest) : .damaged(at: position.next))
  }

  /// Returns the last position of a page, by the sizes of its batches.
  ///
  /// At least one batch is returned, however large it is.
  private func end(
    ofPageAfter position: LogPosition, count: UInt64, _ connection: PostgresConnection,
    _ deadline: Int64
  ) throws(PostgresFailure) -> LogPosition {
    guard count > 1 else { return position.next }
    let rows = try connection.run(
      .sizes, [key, number(position), .number(Int64(count))], deadline: deadline)
    var bytes: UInt64 = 0
    for row in 0..<rows.count {
      // What the checksum takes does not count.
      let size = try rows.count(row, 1)
      bytes += size - min(size, UInt64(RecordChecksum.bytes))
      if row > 0, bytes > CommitLogLimits.pageBytes { return position.advanced(by: row) }
    }
    return position.advanced(by: max(1, rows.count))
  }

  /// Returns a batch, or `nil` if its record does not match its checksum.
  ///
  /// The checksum covers the batch's columns as well as its payload: a row that was moved to
  /// another position or shard fails it.
  ///
  /// - Parameter first: The column of its position; epoch, identifier and record follow.
  private func batch(
    _ rows: PostgresRows, _ row: Int, from first: Int = 0
  ) throws(PostgresFailure) -> LogBatch? {
    guard try !rows.isNull(row, first) else { return nil }
    let id = try rows.bytes(row, first + 2)
    guard id.count == 16 else { return nil }
    let identity = BatchIdentity(
      shard: shard, position: LogPosition(try rows.count(row, first)),
      epoch: LogEpoch(try rows.count(row, first + 1)), id: id.reduce(0) { $0 << 8 | UInt128($1) })
    let record = try rows.bytes(row, first + 3)
    guard let payload = RecordChecksum.value(of: record, key: identity.bytes) else { return nil }
    return LogBatch(
      position: identity.position, epoch: identity.epoch, id: identity.id, payload: payload)
  }

  private func number(_ position: LogPosition) -> PostgresValue {
    .number(Int64(clamping: position.number))
  }
}

/// The columns of a batch that its checksum covers besides the payload.
struct BatchIdentity {
  let shard: ShardID
  let position: LogPosition
  let epoch: LogEpoch
  let id: UInt128

  /// Shard, position and epoch as 8 bytes each, most significant first, then the identifier.
  var bytes: [UInt8] {
    [UInt64(shard.number), position.number, epoch.number].flatMap(\.bytes) + id.bytes
  }
}

extension FixedWidthInteger {
  /// All bytes, most significant first.
  var bytes: [UInt8] {
    stride(from: Self.bitWidth - 8, through: 0, by: -8).map {
      UInt8(truncatingIfNeeded: self >> $0)
    }
  }
}

extension LogPosition {
  /// The position so many batches later.
  func advanced(by count: Int) -> LogPosition { LogPosition(number + UInt64(count)) }
}
