import TernCommitLog
import TernStorage

/// The rows of a checkpoint with long keys: a table of heads, each with the number of its bucket,
/// and one of the rows of the buckets.
///
/// Only the holder of the mark's lock changes them.
///
/// Databases limit the size of an indexed key, and a row's key may have 4,096 bytes. The first
/// 2,048 bytes, the *head*, are stored once with a bucket number of 8 bytes; the rows of the bucket
/// store the rest of their keys. Each key of an index is then short enough.
///
/// Source: Docs/Decisions/0077-long-keys-in-buckets.md.
struct PostgresBuckets {
  let shard: PostgresValue
  let connection: PostgresConnection
  let deadline: Int64

  private func run(
    _ statement: PostgresStatement, _ values: [PostgresValue]
  ) throws(PostgresFailure) -> PostgresRows {
    try connection.run(statement, [shard] + values, deadline: deadline)
  }

  /// True when the shard has no row with a long key.
  func isEmpty() throws(PostgresFailure) -> Bool { try heads(from: [], limit: 1).isEmpty }

  /// The buckets whose heads are not before `head`, in the order of the heads.
  func heads(
    from head: [UInt8], limit: Int
  ) throws(PostgresFailure) -> [(head: [UInt8], bucket: [UInt8])] {
    let rows = try run(.heads, [.bytes(head), .number(Int64(limit))])
    var found: [(head: [UInt8], bucket: [UInt8])] = []
    for row in 0..<rows.count { found.append((try rows.bytes(row, 0), try rows.bytes(row, 1))) }
    return found
  }

  /// The buckets of heads; those without one are left out.
  private func buckets(of heads: Set<[UInt8]>) throws(PostgresFailure) -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    for piece in CheckpointStep.pieces(Array(heads), bytes: \.count) {
      let rows = try run(.bucketsOfHeads, [.byteLists(Array(piece))])
      for row in 0..<rows.count { found[try rows.bytes(row, 0)] = try rows.bytes(row, 1) }
    }
    return found
  }
}

// MARK: - Reading

extension PostgresBuckets {
  /// The keys of rows in order, each with the bytes of its record.
  struct Sizes {
    var keys: [(key: [UInt8], bytes: Int)] = []
    /// True when no row follows.
    var isWhole = true
  }

  /// Returns keys from `first` on: at least one when there is one, and no more than a page takes.
  ///
  /// Reads up to ``PostgresLimits/bucketsPerPage`` buckets, one statement each. `isWhole` stays
  /// false when more follow, so that callers know where their knowledge ends.
  func sizes(from first: [UInt8], limit: Int) throws(PostgresFailure) -> Sizes {
    let start = LongKey(splitting: first)
    let limit = min(limit, CommitLogLimits.pageBytes / LongKey.headBytes + 1)
    var sizes = Sizes()
    var from = start.head
    repeat {
      let found = try heads(from: from, limit: PostgresLimits.bucketsPerPage + 1)
      sizes.isWhole = found.count <= PostgresLimits.bucketsPerPage
      for (head, bucket) in found.prefix(PostgresLimits.bucketsPerPage) {
        let rest = head == start.head ? start.rest : []
        let left = limit - sizes.keys.count
        let rows = try run(.tailSizes, [.bytes(bucket), .bytes(rest), .number(Int64(left))])
        for row in 0..<rows.count {
          sizes.keys.append(
            (head + (try rows.bytes(row, 0)), Int(clamping: try rows.count(row, 1))))
        }
        from = head + [0]
        if sizes.keys.count >= limit {
          sizes.isWhole = false
          return sizes
        }
      }
      // A bucket may be empty.
    } while sizes.keys.isEmpty && !sizes.isWhole
    return sizes
  }

  /// Returns the records of rows by their keys, which are in order.
  ///
  /// One statement for each bucket, which reads from the first to the last of its keys. The result
  /// may hold rows that were not asked for only if they lie between those.
  func records(
    of keys: [[UInt8]]
  ) throws(PostgresFailure) -> [(key: [UInt8], record: [UInt8])] {
    let places = keys.compactMap { LongKey($0) }
    let buckets = try buckets(of: Set(places.map(\.head)))
    var records: [(key: [UInt8], record: [UInt8])] = []
    var rest = places[...]
    while let first = rest.first {
      let group = rest.prefix { $0.head == first.head }
      rest = rest.dropFirst(group.count)
      guard let bucket = buckets[first.head], let last = group.last else { continue }
      let rows = try run(.tails, [.bytes(bucket), .bytes(first.rest), .bytes(last.rest)])
      for row in 0..<rows.count {
        records.append((first.head + (try rows.bytes(row, 0)), try rows.bytes(row, 1)))
      }
    }
    return records
  }
}

// MARK: - Changing

extension PostgresBuckets {
  /// Puts rows whose keys are long. A row of the same key in the table of all others, where earlier
  /// versions have put it, is removed.
  ///
  /// - Parameter rows: Rows with keys longer than a head. Heads without a bucket get the next
  ///   numbers; the mark's lock keeps others from taking the same.
  func put(_ rows: [Row]) throws(PostgresFailure) {
    guard !rows.isEmpty else { return }
    let places = rows.compactMap { LongKey($0.key) }
    let buckets = try addedBuckets(for: Set(places.map(\.head)))
    let placed = zip(rows, places).compactMap { row, place in
      buckets[place.head].map { (row: row, bucket: $0, rest: place.rest) }
    }
    for piece in CheckpointStep.pieces(
      placed, bytes: { $0.row.key.count + $0.row.value.count })
    {
      let records = piece.map { RecordChecksum.record(of: $0.row.value, key: $0.row.key) }
      _ = try run(
        .putTails,
        [.byteLists(piece.map(\.bucket)), .byteLists(piece.map(\.rest)), .byteLists(records)])
    }
    for piece in CheckpointStep.pieces(rows.map(\.key), bytes: \.count) {
      _ = try run(.removeRows, [.byteLists(Array(piece))])
    }
  }

  /// The buckets of heads, with new ones for those that have none.
  private func addedBuckets(
    for heads: Set<[UInt8]>
  ) throws(PostgresFailure) -> [[UInt8]: [UInt8]] {
    var buckets = try buckets(of: heads)
    let missing = heads.subtracting(buckets.keys).sorted { $0.lexicographicallyPrecedes($1) }
    guard !missing.isEmpty else { return buckets }
    let newest = try run(.newestBucket, [])
    var number = newest.count == 0 ? 0 : try newest.bytes(0, 0).reduce(0) { $0 << 8 | UInt64($1) }
    for piece in CheckpointStep.pieces(missing, bytes: \.count) {
      let numbers = piece.map { _ in
        number += 1
        return number.bytes
      }
      for (head, bucket) in zip(piece, numbers) { buckets[head] = bucket }
      _ = try run(.putHeads, [.byteLists(Array(piece)), .byteLists(numbers)])
    }
    return buckets
  }

  /// Removes rows by their keys, those that are long.
  ///
  /// Buckets that became empty are dropped with their heads.
  func remove(_ keys: [[UInt8]]) throws(PostgresFailure) {
    let places = keys.compactMap { LongKey($0) }
    guard !places.isEmpty else { return }
    let buckets = try buckets(of: Set(places.map(\.head)))
    let placed = places.compactMap { place in
      buckets[place.head].map { (bucket: $0, rest: place.rest) }
    }
    for piece in CheckpointStep.pieces(placed, bytes: { $0.rest.count }) {
      _ = try run(
        .removeTails, [.byteLists(piece.map(\.bucket)), .byteLists(piece.map(\.rest))])
    }
    for piece in CheckpointStep.pieces(Array(buckets.values), bytes: \.count) {
      _ = try run(.dropHeads, [.byteLists(Array(piece))])
    }
  }
}
