import TernCommitLog
import TernStorage

/// The removal of ranges from a checkpoint, up to a number of rows.
///
/// Each call of ``advance(_:)`` is part of one transaction and removes at most ``limit`` rows. A
/// transaction that the database ends for its time changes nothing, and is repeated with a quarter
/// of the limit.
struct CheckpointRemoval: Sendable {
  /// The ranges that are left.
  private(set) var ranges: ArraySlice<KeyRange>
  /// The most rows that one transaction removes.
  private(set) var limit: Int

  init(_ ranges: [KeyRange], limit: Int) {
    self.ranges = ranges[...]
    self.limit = limit
  }

  var isDone: Bool { ranges.isEmpty }

  /// Lets the next transaction remove fewer rows, because one took too long; `false` when there
  /// are not fewer.
  mutating func lowerLimit() -> Bool {
    guard limit > PostgresLimits.fewestRowsPerRemoval else { return false }
    limit = max(limit / 4, PostgresLimits.fewestRowsPerRemoval)
    return true
  }

  /// Removes rows of the ranges, in order, in the present transaction.
  mutating func advance(_ table: inout RangeTable) throws(PostgresFailure) {
    table.limit = limit
    table.removed = 0
    while let range = ranges.first, try table.remove(range) {
      ranges.removeFirst()
      // A range costs statements, whatever it holds.
      table.removed += PostgresLimits.rowsOfBucket
    }
  }
}

/// The rows of a shard's checkpoint, of which ranges are removed in one transaction.
///
/// It lives for one transaction, and counts what the transaction has removed so far.
struct RangeTable {
  let shard: PostgresValue
  let connection: PostgresConnection
  let deadline: Int64
  /// The most rows that are removed; `nil` for as many as the database removes in its time, and
  /// ``PostgresLimits/rowsPerAdvance``.
  var limit: Int?
  /// The rows that were removed.
  var removed = 0
  /// False when the shard has no row with a long key; `nil` until that was asked for.
  var hasBuckets: Bool?

  init(shard: PostgresValue, _ connection: PostgresConnection, _ deadline: Int64) {
    self.shard = shard
    self.connection = connection
    self.deadline = deadline
  }

  private var buckets: PostgresBuckets {
    PostgresBuckets(shard: shard, connection: connection, deadline: deadline)
  }

  /// Removes rows of a range, at most as many as the limit allows.
  ///
  /// Short keys come first, then long ones. Without a limit a range is removed by one statement for
  /// each table or bucket.
  ///
  /// - Returns: True when none is left.
  /// - Throws: ``PostgresFailure/tooManyRows`` when they are too many for one transaction.
  mutating func remove(_ range: KeyRange) throws(PostgresFailure) -> Bool {
    do throws(PostgresFailure) {
      let rows = Self.rowsTable
      guard try remove(range.lower, range.upper ?? LongKey.end + LongKey.end, rows, []) else {
        return false
      }
      return try removeLong(range)
    } catch {
      // The database has ended a statement.
      if case .refused("57014", _) = error { throw .tooManyRows }
      throw error
    }
  }

  /// The statements that remove a part of a table.
  private struct Statements {
    /// The key behind so many rows.
    let bound: PostgresStatement
    let remove: PostgresStatement
  }

  private static let rowsTable = Statements(bound: .rowBound, remove: .removeRange)
  private static let tailsTable = Statements(bound: .tailBound, remove: .removeTailRange)

  /// Removes a part of one table.
  ///
  /// With a limit, a first statement finds the key behind so many rows, and a second one removes
  /// the rows before it. Deleting with a limit is not portable.
  private mutating func remove(
    _ lower: [UInt8], _ upper: [UInt8], _ table: Statements, _ place: [PostgresValue]
  ) throws(PostgresFailure) -> Bool {
    let range = [shard] + place + [PostgresValue.bytes(lower), .bytes(upper)]
    guard let limit else {
      try noteRemoved(try connection.run(table.remove, range, deadline: deadline))
      return true
    }
    guard removed < limit else { return false }
    let bounds = try connection.run(
      table.bound, range + [.number(Int64(limit - removed))], deadline: deadline)
    if bounds.count == 0 {
      try noteRemoved(try connection.run(table.remove, range, deadline: deadline))
      return true
    }
    let bound = PostgresValue.bytes(try bounds.bytes(0, 0))
    try connection.run(
      table.remove, [shard] + place + [.bytes(lower), bound], deadline: deadline)
    removed = limit
    return false
  }

  private mutating func noteRemoved(_ rows: PostgresRows) throws(PostgresFailure) {
    removed += Int(clamping: try rows.count(0, 0))
    if limit == nil, removed > PostgresLimits.rowsPerAdvance { throw .tooManyRows }
  }
}

// MARK: - Long keys

extension RangeTable {
  /// Removes rows with long keys.
  ///
  /// - Returns: True when no row with a long key is left in the range.
  private mutating func removeLong(_ range: KeyRange) throws(PostgresFailure) -> Bool {
    let hasAny = if let hasBuckets { hasBuckets } else { try !buckets.isEmpty() }
    hasBuckets = hasAny
    guard hasAny else { return true }
    let lower = LongKey(splitting: range.lower)
    let upper = range.upper.map { LongKey(splitting: $0) }
    var from = lower.head
    while true {
      let found = try buckets.heads(from: from, limit: PostgresLimits.bucketsPerPage)
      for (head, bucket) in found {
        let isPast = upper.map { $0.head.lexicographicallyPrecedes(head) } ?? false
        let end = upper?.head == head ? upper?.rest ?? [] : LongKey.end
        if isPast || end.isEmpty { return true }
        let start = head == lower.head ? lower.rest : []
        if start.lexicographicallyPrecedes(end) {
          guard try remove(start, end, Self.tailsTable, [.bytes(bucket)]) else { return false }
          try connection.run(.dropHeads, [shard, .byteLists([bucket])], deadline: deadline)
          // A bucket costs statements, whatever it holds.
          removed += PostgresLimits.rowsOfBucket
        }
        from = head + [0]
      }
      if found.count < PostgresLimits.bucketsPerPage { return true }
    }
  }
}
