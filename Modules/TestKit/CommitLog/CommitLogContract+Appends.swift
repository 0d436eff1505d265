import TernCommitLog

extension CommitLogContract {
  /// Checks of what an append does, what it refuses, and how a lost outcome is decided. Safety
  /// rests on position and epoch alone, so these checks need no clock.
  static let appendChecks = [
    CommitLogCheck("a new log is empty") { bench in
      var state = LogState(
        position: .start, epoch: .none, oldest: LogPosition(1), mark: .start, leader: nil)
      let found = try await bench.log.open(bench.shard)
      state.time = found.time
      try bench.expect(found, state, "a log that was opened twice")
      try bench.expect(await bench.ids(), [], "its batches")
    },
    CommitLogCheck("a log that tells the time goes on with it") { bench in
      guard let time = try await bench.log.open(bench.shard).time else { return }
      let later = try await bench.log.open(bench.shard).time
      try bench.expect(later.map { $0 >= time && $0 < time + 600_000 }, true, "a later time")
    },
    CommitLogCheck("batches come back as they were appended, at positions without gaps") { bench in
      // Bytes that a text format would have to escape, and identifiers at both ends of their range.
      let payloads: [[UInt8]] = [[], [0], Array(0...255), [0xFF, 0, 0x5C, 0x78, 0x27], [0x5C]]
      let ids: [UInt128] = [0, .max, 1 << 64, 0x27_5C, 7]
      for (index, payload) in payloads.enumerated() {
        let outcome = try await bench.log.append(
          LogBatch.Draft(id: ids[index], payload: payload), to: bench.shard,
          after: LogPosition(UInt64(index)), epoch: .none)
        try bench.expect(outcome, .appended(LogPosition(UInt64(index + 1))), "append \(index)")
      }
      let expected = payloads.indices.map {
        LogBatch(
          position: LogPosition(UInt64($0 + 1)), epoch: .none, id: ids[$0], payload: payloads[$0])
      }
      let found = try await bench.log.batches(in: bench.shard, after: .start, limit: 10)
      try bench.expect(found, expected, "all batches")
      try bench.expect(await bench.log.open(bench.shard).position.number, 5, "the position")
    },
    CommitLogCheck("an append behind another position than the newest changes nothing") { bench in
      try await bench.append(1...3)
      // Before the newest position, and behind it.
      for position: UInt64 in [0, 2, 4, 900] {
        let outcome = try await bench.log.append(
          bench.draft(9), to: bench.shard, after: LogPosition(position), epoch: .none)
        try bench.expect(outcome, .behind(head: LogPosition(3)), "behind \(position)")
      }
      try bench.expect(await bench.ids(), [1, 2, 3], "the batches")
    },
    CommitLogCheck("an append under another epoch changes nothing") { bench in
      _ = try await bench.take("a")
      try await bench.append(1...2)
      // The epoch decides before the position does: a former leader must learn that it is none.
      for epoch: UInt64 in [0, 2, 77] {
        for position: UInt64 in [2, 1] {
          let outcome = try await bench.log.append(
            bench.draft(9), to: bench.shard, after: LogPosition(position), epoch: LogEpoch(epoch))
          try bench.expect(outcome, .fenced(LogEpoch(1)), "under \(epoch), behind \(position)")
        }
      }
      let batches = try await bench.log.batches(in: bench.shard, after: .start, limit: 10)
      try bench.expect(batches.map(\.epoch.number), [1, 1], "the epochs of the batches")
    },
    CommitLogCheck("two shards are two logs") { bench in
      let other = ShardID(.max)
      _ = try await bench.log.open(other)
      try await bench.append(1...2)
      _ = try await bench.log.append(bench.draft(8), to: other, after: .start, epoch: .none)
      try bench.expect(await bench.ids(), [1, 2], "the first")
      let found = try await bench.log.batches(in: other, after: .start, limit: 10)
      try bench.expect(found.map(\.id), [8], "the second")
    },
    CommitLogCheck("a shard that was not opened is an error") { bench in
      let (log, shard) = (bench.log, ShardID(99))
      try await bench.expectError(.unknownShard, "append") { () throws(CommitLogError) in
        try await log.append(bench.draft(1), to: shard, after: .start, epoch: .none)
      }
      try await bench.expectError(.unknownShard, "batches") { () throws(CommitLogError) in
        try await log.batches(in: shard, after: .start, limit: 1)
      }
      try await bench.expectError(.unknownShard, "checkpoint") { () throws(CommitLogError) in
        try await log.checkpoint(of: shard, after: nil, limit: 1)
      }
    },
    CommitLogCheck("the largest payload is taken, a larger one is not") { bench in
      let limit = CommitLogLimits.payloadBytes
      let log = bench.log
      try await bench.expectError(.tooLarge(limit: limit), "one byte more") {
        () throws(CommitLogError) in
        try await log.append(
          LogBatch.Draft(id: 1, payload: [UInt8](repeating: 7, count: limit + 1)),
          to: bench.shard, after: .start, epoch: .none)
      }
      let largest = [UInt8](repeating: 9, count: limit)
      let outcome = try await log.append(
        LogBatch.Draft(id: 2, payload: largest), to: bench.shard, after: .start, epoch: .none)
      try bench.expect(outcome, .appended(LogPosition(1)), "the largest")
      let found = try await log.batches(in: bench.shard, after: .start, limit: 5)
      try bench.expect(found.map(\.payload) == [largest], true, "it is equal")
    },
    CommitLogCheck("a batch whose outcome was lost is recognized, and appended once") { bench in
      let log = bench.log
      for number: UInt64 in 1...3 {
        let draft = bench.draft(UInt128(number))
        let position = LogPosition(number - 1)
        _ = try await log.append(draft, to: bench.shard, after: position, epoch: .none)
        // The identifier tells the batch from another one that has taken its position.
        let again = try await log.append(
          draft, to: bench.shard, after: position, epoch: .none, attempts: 3)
        try bench.expect(again, .appended(position.next), "the second attempt")
      }
      let other = try await log.append(
        bench.draft(9), to: bench.shard, after: .start, epoch: .none, attempts: 3)
      try bench.expect(other, .behind(head: LogPosition(3)), "another batch")
      _ = try await bench.take("b")
      let late = try await log.append(
        bench.draft(3), to: bench.shard, after: LogPosition(2), epoch: .none, attempts: 3)
      try bench.expect(late, .appended(LogPosition(3)), "an attempt after the fence")
      let fenced = try await log.append(
        bench.draft(4), to: bench.shard, after: LogPosition(3), epoch: .none, attempts: 3)
      try bench.expect(fenced, .fenced(LogEpoch(1)), "a new batch after the fence")
      try bench.expect(await bench.ids(), [1, 2, 3], "the batches")
    },
  ]

  /// Checks of how pages are cut, and how a reader learns that the log is not the one it has read.
  static let readChecks = [
    CommitLogCheck("a page ends at its limit") { bench in
      try await bench.append(1...9)
      try bench.expect(await bench.ids(limit: 4), [1, 2, 3, 4], "the first four")
      try bench.expect(await bench.ids(after: 4, limit: 4), [5, 6, 7, 8], "the next four")
      try bench.expect(await bench.ids(after: 8, limit: 4), [9], "the last one")
      try bench.expect(await bench.ids(after: 9, limit: 4), [], "behind it")
      try bench.expect(await bench.ids(limit: 0), [], "no batch")
      try bench.expect(await bench.ids(limit: .max).count, 9, "no limit")
    },
    CommitLogCheck("a page ends at its bytes, but has one batch") { bench in
      let half = CommitLogLimits.pageBytes / 2
      try await bench.append(1...2, bytes: half)
      // A page has at least one batch, or else a reader would never get past this one.
      try await bench.append(3...3, bytes: half * 3)
      try await bench.append(4...4, bytes: half + 1)
      try await bench.append(5...5, bytes: half)
      try bench.expect(await bench.ids(), [1, 2], "two halves")
      try bench.expect(await bench.ids(after: 2), [3], "one that is too large for a page")
      try bench.expect(await bench.ids(after: 3), [4], "one more than half")
      try bench.expect(await bench.ids(after: 4), [5], "the last")
    },
    CommitLogCheck("reading past the end is an error of its own") { bench in
      try await bench.append(1...2)
      let log = bench.log
      try await bench.expectError(.regressed(head: LogPosition(2)), "batches") {
        () throws(CommitLogError) in
        try await log.batches(in: bench.shard, after: LogPosition(3), limit: 1)
      }
    },
    CommitLogCheck("a reader whose batch is another one than the log's is told so") { bench in
      try await bench.append(1...3)
      let (log, shard) = (bench.log, bench.shard)
      let next = try await log.batches(in: shard, after: LogPosition(2), following: 2, limit: 9)
      try bench.expect(next.map(\.id), [3], "behind the batch of the log")
      let first = try await log.batches(in: shard, after: .start, following: 9, limit: 1)
      try bench.expect(first.map(\.id), [1], "from the start")
      for number: UInt64 in 1...3 {
        try await bench.expectError(.regressed(head: LogPosition(3)), "another batch") {
          () throws(CommitLogError) in
          try await log.batches(in: shard, after: LogPosition(number), following: 9, limit: 9)
        }
        try await bench.expectError(.regressed(head: LogPosition(3)), "another batch, by page") {
          () throws(CommitLogError) in
          try await log.page(in: shard, after: LogPosition(number), following: 9, limit: 9)
        }
        let page = try await log.page(
          in: shard, after: LogPosition(number), following: UInt128(number), limit: 9)
        try bench.expect(page.head, LogPosition(3), "the end of the log")
        try bench.expect(
          page.batches.first?.id, number < 3 ? UInt128(number + 1) : nil, "behind its own batch")
      }
      _ = try await bench.advance(0, 3, [])
      try bench.expect(await bench.compact(batches: 1, age: .zero), 3, "the oldest")
      try bench.expect(await bench.ids(after: 2), [3], "behind a batch that was dropped")
      try await bench.expectError(.truncated(first: LogPosition(3)), "which cannot be compared") {
        () throws(CommitLogError) in
        try await log.batches(in: shard, after: LogPosition(2), following: 2, limit: 9)
      }
      try await bench.expectError(.truncated(first: LogPosition(3)), "nor by page") {
        () throws(CommitLogError) in
        try await log.page(in: shard, after: LogPosition(2), following: 2, limit: 9)
      }
    },
    CommitLogCheck("a wait ends when another node appends, and when its time has passed") { bench in
      let (log, shard) = (bench.log, bench.shard)
      let other = try await bench.place.connect()
      try await bench.waitForBatch(on: log, timeout: .milliseconds(1))
      let waiting = Task {
        try await bench.waitForBatch(on: log)
        return try await log.batches(in: shard, after: .start, limit: 1).map(\.id)
      }
      _ = try await other.append(bench.draft(5), to: shard, after: .start, epoch: .none)
      try bench.expect(await waiting.value, [5], "the batches after the wait")
      try await bench.waitForBatch(on: log)
      let cancelled = Task {
        try await bench.waitForBatch(after: 1, on: log)
      }
      cancelled.cancel()
      _ = await cancelled.result
      await other.close()
    },
  ]
}
