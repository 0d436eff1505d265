import TernCommitLog
import TernStorage

extension CommitLogBench {
  /// Advances the checkpoint from one position to another.
  ///
  /// - Parameters:
  ///   - mark: The position at which the checkpoint is expected.
  ///   - position: The position up to which the changes reach; equal to `mark` for a part of an
  ///     advance.
  ///   - epoch: The epoch of the node; none as long as the shard has no leader.
  func advance(
    _ mark: UInt64, _ position: UInt64, _ changes: [Mutation], epoch: LogEpoch = .none
  ) async throws(CommitLogError) -> CheckpointOutcome {
    try await log.advanceCheckpoint(
      of: shard, from: LogPosition(mark), to: LogPosition(position), epoch: epoch,
      changes: changes)
  }

  /// Reads one page of the checkpoint.
  func rows(after key: [UInt8]? = nil, limit: Int = .max) async throws -> [Row] {
    try await log.checkpoint(of: shard, after: key, limit: limit).rows
  }

  /// Drops batches.
  ///
  /// - Parameters:
  ///   - batches: The batches behind the mark to keep.
  ///   - age: The age up to which batches are kept.
  /// - Returns: The position of the oldest batch that is left.
  func compact(batches: UInt64, age: Duration) async throws -> UInt64 {
    try await log.compact(shard, keeping: LogRetention(batches: batches, age: age)).number
  }
}

/// A row of text.
private func row(_ key: String, _ value: String) -> Row {
  Row(key: bytes(key), value: bytes(value))
}

/// Makes a put of text.
private func put(_ key: String, _ value: String) -> Mutation {
  .put(key: bytes(key), value: bytes(value))
}

/// The checks of checkpoints and of compaction.
enum CheckpointChecks {
  /// Checks of what a checkpoint holds, in which order it is read, and under which conditions it
  /// advances.
  static let checkpoint = [
    CommitLogCheck("a checkpoint holds the newest value of every key, in key order") { bench in
      let empty = CheckpointPage(position: .start, rows: [], isLast: true)
      let first = try await bench.log.checkpoint(of: bench.shard, after: nil, limit: 9)
      try bench.expect(first, empty, "a new checkpoint")
      try await bench.append(1...5)
      let outcome = try await bench.advance(
        0, 2, [put("b", "1"), put("a", "1"), put("b", "2"), put("", ""), put("c", "1")])
      try bench.expect(outcome, .advanced(LogPosition(2)), "the first advance")
      try bench.expect(
        await bench.rows(), [row("", ""), row("a", "1"), row("b", "2"), row("c", "1")], "the rows")
      _ = try await bench.advance(
        2, 5, [.remove(KeyRange(from: bytes("a"), to: bytes("c"))), put("b", "3"), put("d", "4")])
      let page = CheckpointPage(
        position: LogPosition(5),
        rows: [row("", ""), row("b", "3"), row("c", "1"), row("d", "4")], isLast: true)
      let found = try await bench.log.checkpoint(of: bench.shard, after: nil, limit: 9)
      try bench.expect(found, page, "after the second advance")
      try bench.expect(await bench.log.open(bench.shard).mark, LogPosition(5), "the mark")
    },
    CommitLogCheck("keys are ordered as unsigned bytes, and ranges take what they hold") { bench in
      let keys: [[UInt8]] = [
        [], [0], [0, 0], [0, 1], [1], [0x5C], [0x7F], [0x80], [0xFF], [0xFF, 0],
      ]
      _ = try await bench.advance(0, 0, keys.reversed().map { .put(key: $0, value: $0) })
      try bench.expect(await bench.rows().map(\.key), keys, "the keys")
      try bench.expect(await bench.rows().map(\.value), keys, "the values")
      _ = try await bench.advance(
        0, 0, [.remove(KeyRange(prefix: [0])), .remove(KeyRange(only: [0x80]))])
      try bench.expect(
        await bench.rows().map(\.key), [[], [1], [0x5C], [0x7F], [0xFF], [0xFF, 0]], "what is left")
      _ = try await bench.advance(
        0, 0, [.remove(KeyRange(from: [0xFF])), .remove(KeyRange(only: []))])
      try bench.expect(await bench.rows().map(\.key), [[1], [0x5C], [0x7F]], "without the ends")
      _ = try await bench.advance(0, 0, [.remove(.all)])
      try bench.expect(await bench.rows(), [], "nothing")
    },
    CommitLogCheck("an advance from another mark changes nothing") { bench in
      try await bench.append(1...3)
      _ = try await bench.advance(0, 2, [put("a", "1")])
      for mark: UInt64 in [0, 1, 3] {
        let outcome = try await bench.advance(mark, 3, [put("a", "2"), put("b", "2")])
        try bench.expect(outcome, .elsewhere(mark: LogPosition(2)), "from \(mark)")
      }
      for position: UInt64 in [1, 4] {
        try await bench.expectError(.regressed(head: LogPosition(3)), "to \(position)") {
          () throws(CommitLogError) in try await bench.advance(2, position, [put("a", "3")])
        }
      }
      try bench.expect(await bench.rows(), [row("a", "1")], "the rows")
    },
    CommitLogCheck("an advance under an epoch that is over changes nothing") { bench in
      _ = try await bench.take("a")
      try await bench.append(1...3)
      let first = LogEpoch(1)
      let outcome = try await bench.advance(0, 2, [put("a", "1")], epoch: first)
      try bench.expect(outcome, .advanced(LogPosition(2)), "by the leader")
      try await bench.log.releaseLease(bench.shard, name: .leader, node: "a")
      _ = try await bench.renew("b", .free)
      // A part of a checkpoint, the rest of it, and a range: each would lie over the new leader's.
      for (position, change) in [
        (2, put("a", "2")), (3, put("b", "2")), (3, .remove(.all)), (2, .remove(.all)),
      ] as [(UInt64, Mutation)] {
        let late = try await bench.advance(2, position, [change], epoch: first)
        try bench.expect(late, .fenced(LogEpoch(3)), "by the former leader, to \(position)")
      }
      let early = try await bench.advance(2, 3, [put("b", "2")], epoch: LogEpoch(4))
      try bench.expect(early, .fenced(LogEpoch(3)), "under an epoch that has not begun")
      try bench.expect(await bench.rows(), [row("a", "1")], "the rows")
      let next = try await bench.advance(2, 3, [put("b", "1")], epoch: LogEpoch(3))
      try bench.expect(next, .advanced(LogPosition(3)), "by the next leader")
    },
    CommitLogCheck("a checkpoint is read in pages, in rows and in bytes") { bench in
      let rows = (0..<100).map { row("k\($0 + 100)", "v\($0)") }
      _ = try await bench.advance(0, 0, rows.map { .put(key: $0.key, value: $0.value) })
      var found: [Row] = []
      var isLast = false
      while !isLast {
        let page = try await bench.log.checkpoint(
          of: bench.shard, after: found.last?.key, limit: 33)
        isLast = page.isLast
        try bench.expect(page.rows.count, isLast ? 1 : 33, "the rows of a page")
        found += page.rows
      }
      try bench.expect(found, rows, "all rows")
      // Two rows of half a page each exceed a page with their keys, so each comes alone.
      let large = [UInt8](repeating: 1, count: CommitLogLimits.pageBytes / 2)
      _ = try await bench.advance(
        0, 0, (0..<4).map { .put(key: bytes("l\($0)"), value: $0 == 2 ? large + large : large) })
      // A backend that returned empty pages would loop for ever without a bound.
      var counts: [Int] = []
      var last = bytes("k999")
      while counts.count < 4 {
        let page = try await bench.log.checkpoint(of: bench.shard, after: last, limit: 99)
        counts.append(page.rows.count)
        last = page.rows.last?.key ?? last
        if page.isLast { break }
      }
      try bench.expect(counts, [1, 1, 1, 1], "the large rows of each page")
    },
    CommitLogCheck("an advance has limits") { bench in
      let count = CommitLogLimits.checkpointChanges
      let many = (0...count).map { Mutation.put(key: bytes("\($0)"), value: []) }
      try await bench.expectError(.tooLarge(limit: count), "too many changes") {
        () throws(CommitLogError) in try await bench.advance(0, 0, many)
      }
      let key = [UInt8](repeating: 1, count: StorageLimits.keyBytes + 1)
      try await bench.expectError(.tooLarge(limit: StorageLimits.keyBytes), "a long key") {
        () throws(CommitLogError) in try await bench.advance(0, 0, [.put(key: key, value: [])])
      }
      let value = [UInt8](repeating: 1, count: StorageLimits.valueBytes)
      let total = CommitLogLimits.checkpointBytes
      try await bench.expectError(.tooLarge(limit: total), "too many bytes") {
        () throws(CommitLogError) in
        try await bench.advance(0, 0, (0..<4).map { .put(key: [$0], value: value) })
      }
      let longest = Array(key.dropLast())
      _ = try await bench.advance(0, 0, [.put(key: longest, value: value)])
      try bench.expect(await bench.rows() == [Row(key: longest, value: value)], true, "a large row")
      _ = try await bench.advance(0, 0, many.dropLast() + [])
      try bench.expect(
        await bench.rows(after: longest, limit: 7).count, 7, "so many changes as are allowed")
    },
  ]

  /// Checks of what a compaction drops and keeps, also while others append and read.
  static let compaction = [
    CommitLogCheck("a compaction drops what the checkpoint holds and the retention does not keep") {
      bench in
      try await bench.append(1...9)
      try bench.expect(await bench.compact(batches: 0, age: .zero), 1, "without a checkpoint")
      _ = try await bench.advance(0, 6, [])
      try bench.expect(await bench.compact(batches: 0, age: .seconds(3_600)), 1, "young batches")
      try bench.expect(await bench.compact(batches: 4, age: .zero), 3, "four are kept")
      try bench.expect(await bench.compact(batches: 9, age: .zero), 3, "more are kept")
      let log = bench.log
      try await bench.expectError(.truncated(first: LogPosition(3)), "an early position") {
        () throws(CommitLogError) in
        try await log.batches(in: bench.shard, after: LogPosition(1), limit: 9)
      }
      try bench.expect(await bench.ids(after: 2), [3, 4, 5, 6, 7, 8, 9], "the rest")
      try bench.expect(await bench.compact(batches: 0, age: .zero), 7, "up to the mark")
      try bench.expect(await bench.log.open(bench.shard).oldest.number, 7, "the oldest")
      try bench.expect(await bench.ids(after: 6), [7, 8, 9], "what the checkpoint does not hold")
    },
    CommitLogCheck("a log that was dropped whole goes on") { bench in
      try await bench.append(1...3)
      _ = try await bench.advance(0, 3, [])
      try bench.expect(await bench.compact(batches: 0, age: .zero), 4, "the oldest")
      try bench.expect(await bench.ids(after: 3), [], "behind the last")
      let log = bench.log
      try await bench.expectError(.truncated(first: LogPosition(4)), "before it") {
        () throws(CommitLogError) in
        try await log.batches(in: bench.shard, after: LogPosition(2), limit: 9)
      }
      try await bench.expectError(.truncated(first: LogPosition(4)), "an earlier attempt") {
        () throws(CommitLogError) in
        try await log.append(
          bench.draft(2), to: bench.shard, after: LogPosition(1), epoch: .none, attempts: 2)
      }
      try await bench.append(4...5)
      try bench.expect(await bench.ids(after: 3), [4, 5], "the next batches")
    },
    CommitLogCheck("a compaction while others append and read leaves no gap") { bench in
      let total: UInt64 = 60
      // The appender and the compaction use connections of their own, as two nodes do.
      let appending = Task { try await bench.append(1...UInt128(total)) }
      let other = try await bench.place.connect()
      var mark: UInt64 = 0
      var next: UInt64 = 1
      while next <= total {
        try await bench.waitForBatch(after: next - 1, on: other)
        for batch in try await other.batches(
          in: bench.shard, after: LogPosition(next - 1), limit: 5)
        {
          try bench.expect(batch.position.number, next, "the next position")
          next += 1
        }
        _ = try await other.advanceCheckpoint(
          of: bench.shard, from: LogPosition(mark), to: LogPosition(next - 1), epoch: .none,
          changes: [])
        mark = next - 1
        let retention = LogRetention(batches: 2, age: .zero)
        let oldest = try await other.compact(bench.shard, keeping: retention)
        try bench.expect(oldest.number, max(1, mark < 2 ? 1 : mark - 1), "the oldest")
      }
      try await appending.value
      await other.close()
    },
  ]
}
