import TernCommitLog
import TernStorage

extension CommitLogContract {
  /// Checks of what outlives the place that keeps the log, and what a closed log does. A place
  /// without a restart passes the first of them trivially.
  static let restartChecks = [
    CommitLogCheck("what was confirmed is there after a restart, and open logs go on") { bench in
      let mark = try await bench.take("a")
      try await bench.append(1...5)
      _ = try await bench.renew("b", .free, name: LeaseName("other"))
      _ = try await bench.advance(0, 3, [.put(key: [7], value: [8])], epoch: mark.epoch)
      _ = try await bench.compact(batches: 1, age: .zero)
      let state = try await bench.log.open(bench.shard)
      let leases = try await bench.log.leases(of: bench.shard)
      // Everything before this line was confirmed, so everything must be there after it.
      try await bench.place.restart()
      let other = try await bench.place.connect()
      for (log, name) in [(other, "a new log"), (bench.log, "the open log")] {
        var found = try await log.open(bench.shard)
        found.time = state.time
        try bench.expect(found, state, "the state in \(name)")
        try bench.expect(await log.leases(of: bench.shard), leases, "the leases in \(name)")
        let ids = try await log.batches(in: bench.shard, after: LogPosition(2), limit: 9).map(\.id)
        try bench.expect(ids, [3, 4, 5], "the batches in \(name)")
        let page = try await log.checkpoint(of: bench.shard, after: nil, limit: 9)
        try bench.expect(page.rows.map(\.value), [[8]], "the checkpoint in \(name)")
      }
      let outcome = try await bench.log.append(
        bench.draft(6), to: bench.shard, after: LogPosition(5), epoch: mark.epoch)
      try bench.expect(outcome, .appended(LogPosition(6)), "an append after the restart")
      await other.close()
    },
    CommitLogCheck("a closed log refuses everything, and others go on") { bench in
      let other = try await bench.place.connect()
      try await bench.append(1...2)
      await other.close()
      try await bench.expectError(.closed, "append") { () throws(CommitLogError) in
        try await other.append(
          bench.draft(3), to: bench.shard, after: LogPosition(2), epoch: .none)
      }
      try await bench.expectError(.closed, "batches") { () throws(CommitLogError) in
        try await other.batches(in: bench.shard, after: .start, limit: 1)
      }
      try await bench.expectError(.closed, "open") { () throws(CommitLogError) in
        try await other.open(bench.shard)
      }
      await other.close()
      try await bench.append(3...3)
      try bench.expect(await bench.ids(), [1, 2, 3], "the batches")
    },
  ]
}
