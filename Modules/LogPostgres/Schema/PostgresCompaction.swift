import TernCommitLog

/// The compaction of one shard's log in the tables.
///
/// A batch may be dropped when three things hold: the checkpoint contains it, it is older than the
/// retention's age by the database's clock, and enough newer batches are kept.
struct PostgresCompaction: Sendable {
  let shard: ShardID
  let retention: LogRetention

  private var key: PostgresValue { .number(Int64(shard.number)) }

  /// Drops the next batches that need not be kept, at most ``CommitLogLimits/batchesPerCut``. First
  /// the oldest position moves, so that no reader misses what is dropped without noticing; what a
  /// lost connection left behind it is dropped with the next piece.
  ///
  /// - Returns: `nil` for a shard that was not opened.
  func dropPiece(
    _ connection: PostgresConnection, _ deadline: Int64
  ) throws(PostgresFailure) -> (oldest: LogPosition, isLast: Bool)? {
    guard let head = try PostgresTables(shard: shard).head(connection, deadline) else { return nil }
    let marks = try connection.run(.mark, [key], deadline: deadline)
    guard marks.count == 1 else { return nil }
    let mark = try marks.count(0, 0)
    let last = mark - min(mark, retention.batches)
    let ages = try connection.run(
      .ages,
      [
        key, .number(Int64(clamping: head.oldest.number)),
        .number(Int64(CommitLogLimits.batchesPerCut)),
      ], deadline: deadline)
    var oldest = head.oldest
    var row = 0
    while row < ages.count {
      let position = try ages.count(row, 0)
      guard position == oldest.number, position <= last else { break }
      guard try ages.number(row, 1) >= retention.age.milliseconds else { break }
      oldest = oldest.next
      row += 1
    }
    let first = PostgresValue.number(Int64(clamping: oldest.number))
    try connection.run(.moveOldest, [key, first], deadline: deadline)
    try connection.run(.dropBatches, [key, first], deadline: deadline)
    return (oldest, row < CommitLogLimits.batchesPerCut)
  }
}
