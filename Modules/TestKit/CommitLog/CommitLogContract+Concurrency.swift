import Synchronization
import TernCommitLog
import TernStorage

extension CommitLogContract {
  /// The nodes that append at the same time; each has a connection of its own.
  private static let appenders = 4
  /// Enough that every appender loses the race for a position many times.
  private static let batchesOfEach = 40
  /// The appends of a leader that another node takes over from, before it waits for that.
  private static let busyAppends: UInt64 = 256

  /// The order that all nodes see, whatever they do at the same time.
  static let concurrencyChecks = [
    CommitLogCheck("concurrent appenders and readers: no gap, no loss, no double") { bench in
      let shard = bench.shard
      let total = UInt64(appenders * batchesOfEach)
      let seen = try await withThrowingTaskGroup(of: [UInt128]?.self) { group in
        for appender in 0..<appenders {
          group.addTask {
            let log = try await bench.place.connect()
            try await appendAll(of: appender, on: log, bench)
            await log.close()
            return nil
          }
        }
        for _ in 0..<3 {
          group.addTask {
            let log = try await bench.place.connect()
            let ids = try await follow(log, shard, until: total, bench)
            await log.close()
            return ids
          }
        }
        return try await group.reduce(into: [[UInt128]]()) { if let ids = $1 { $0.append(ids) } }
      }
      let stored = try await bench.ids()
      for ids in seen { try bench.expect(ids, stored, "the batches that a reader saw") }
      for appender in 0..<appenders {
        // The lower 32 bits of an identifier count the batches of an appender; the rest names it.
        let own = stored.filter { Int($0 >> 32) == appender }.map { Int($0 & 0xFFFF_FFFF) }
        try bench.expect(own, Array(0..<batchesOfEach), "the batches of appender \(appender)")
      }
    },
    CommitLogCheck("after a lease changed hands, no batch of the earlier epoch follows") { bench in
      let shard = bench.shard
      let first = try await bench.take("a")
      let other = try await bench.place.connect()
      let takeover = Takeover()
      // The former leader goes on appending while the lease changes hands.
      async let old = appendUntilFenced(bench, under: first.epoch, takeover)
      try await bench.waitForBatch(after: 5, under: first.epoch, on: other)
      let second = try await bench.seize("b", on: other)
      takeover.hasHappened.withLock { $0 = true }
      let fence = try await other.open(shard).position
      var position = fence
      for id: UInt128 in 1...5 {
        let outcome = try await other.append(
          bench.draft(id << 64), to: shard, after: position, epoch: second.epoch)
        position = position.next
        try bench.expect(outcome, .appended(position), "the new leader's append")
      }
      let appended = try await old
      // A batch that it had confirmed must be before the fence, and none may come after it.
      try bench.expect(appended, fence.number, "the batches that the old leader had confirmed")
      var epochs: [UInt64] = []
      while epochs.count < position.number {
        let page = try await other.batches(
          in: shard, after: LogPosition(UInt64(epochs.count)), limit: 4_096)
        if page.isEmpty { throw CommitLogFailure("no batch behind \(epochs.count)") }
        epochs += page.map(\.epoch.number)
      }
      let expected =
        Array(repeating: first.epoch.number, count: Int(fence.number))
        + Array(repeating: second.epoch.number, count: 5)
      try bench.expect(epochs, expected, "the epochs of the batches")
      await other.close()
    },
    CommitLogCheck("of nodes that take one lease at the same time, one gets it") { bench in
      // The holder is gone: one round takes its lease over, and the next one takes a free lease.
      let lost = try await bench.take("gone")
      for condition in [LeaseRequest.Condition.unchanged(lost), .free] {
        let outcomes = try await withThrowingTaskGroup(of: LeaseOutcome.self) { group in
          for node in 0..<8 {
            group.addTask {
              let log = try await bench.place.connect()
              let request = LeaseRequest(
                node: "\(condition) \(node)", address: "\(node)", condition: condition)
              let outcome = try await log.renewLease(bench.shard, request: request)
              await log.close()
              return outcome
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        let winners = outcomes.count { if case .held = $0 { true } else { false } }
        try bench.expect(winners, 1, "the nodes that hold the lease")
        let holder = try await bench.log.open(bench.shard).leader?.node ?? "none"
        try await bench.log.releaseLease(bench.shard, name: .leader, node: holder)
      }
    },
    CommitLogCheck("of nodes that advance the checkpoint at the same time, one does") { bench in
      try await bench.append(1...3)
      let outcomes = try await withThrowingTaskGroup(of: (Int, CheckpointOutcome).self) { group in
        for node in 0..<6 {
          group.addTask {
            let log = try await bench.place.connect()
            let outcome = try await log.advanceCheckpoint(
              of: bench.shard, from: .start, to: LogPosition(2), epoch: .none,
              changes: [.put(key: [1], value: [UInt8(node)])])
            await log.close()
            return (node, outcome)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let winners = outcomes.filter { $0.1 == .advanced(LogPosition(2)) }.map(\.0)
      try bench.expect(winners.count, 1, "the nodes that advanced it")
      let page = try await bench.log.checkpoint(of: bench.shard, after: nil, limit: 9)
      try bench.expect(page.rows.map(\.value), winners.map { [UInt8($0)] }, "the rows")
    },
  ]

  /// Appends an appender's batches by compare-and-append, whatever the others append.
  ///
  /// It is the loop that every node has: append, and move to the head when another node was faster.
  private static func appendAll(
    of appender: Int, on log: any CommitLog, _ bench: CommitLogBench
  ) async throws {
    var position = try await log.open(bench.shard).position
    var number = 0
    while number < batchesOfEach {
      try Task.checkCancellation()
      let draft = bench.draft(UInt128(appender) << 32 | UInt128(number))
      switch try await log.append(draft, to: bench.shard, after: position, epoch: .none) {
      case .appended(let new):
        position = new
        number += 1
      case .behind(let head): position = head
      case .fenced(let epoch): throw CommitLogFailure("fenced by \(epoch), without a leader")
      }
    }
  }

  /// Reads until the position `end`, and returns the identifiers in order.
  ///
  /// - Parameter end: The number of batches to read.
  private static func follow(
    _ log: any CommitLog, _ shard: ShardID, until end: UInt64, _ bench: CommitLogBench
  ) async throws -> [UInt128] {
    var ids: [UInt128] = []
    while ids.count < end {
      try Task.checkCancellation()
      let position = LogPosition(UInt64(ids.count))
      try await bench.waitForBatch(after: position.number, on: log)
      for batch in try await log.batches(in: shard, after: position, limit: 7) {
        ids.append(batch.id)
        try bench.expect(batch.position.number, UInt64(ids.count), "the next position")
      }
    }
    return ids
  }

  /// Appends until another leader is there, and returns the number of appends that took effect.
  private static func appendUntilFenced(
    _ bench: CommitLogBench, under epoch: LogEpoch, _ takeover: Takeover
  ) async throws -> UInt64 {
    var position = LogPosition.start
    var late = 0
    while true {
      let isTakenOver = takeover.hasHappened.withLock { $0 }
      if !isTakenOver, position.number >= busyAppends {
        // Each append renews the lease; a node that seeks it may lose against that without end.
        try Task.checkCancellation()
        await Task.yield()
        continue
      }
      // A log that never fences would be appended to until the memory is full.
      if isTakenOver { late += 1 }
      if late > 8 { throw CommitLogFailure("an earlier epoch appends after another has begun") }
      // The check may have failed already.
      try Task.checkCancellation()
      let draft = bench.draft(UInt128(position.number))
      let outcome = try await bench.log.append(
        draft, to: bench.shard, after: position, epoch: epoch)
      switch outcome {
      case .appended(let new): position = new
      case .fenced: return position.number
      case .behind(let head): throw CommitLogFailure("behind \(head), with its own epoch")
      }
    }
  }
}

/// The moment at which another node has the lease.
private final class Takeover: Sendable {
  /// Set after the lease is taken, so an append that begins later has to be fenced.
  let hasHappened = Mutex(false)
}
