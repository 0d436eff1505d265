import TernCommitLog
import TernPostgresTesting
import TernStorage
import Testing

@testable import TernLogPostgres

extension PostgresTests {
  private func append(
    _ numbers: ClosedRange<UInt64>, bytes: Int = 3, to log: PostgresLog
  ) async throws {
    for number in numbers {
      let draft = LogBatch.Draft(
        id: UInt128(number), payload: [UInt8](repeating: 1, count: bytes))
      let outcome = try await log.append(
        draft, to: ShardID(1), after: LogPosition(number - 1), epoch: .none)
      #expect(outcome.isAppended)
    }
  }

  private struct Found: Equatable {
    let ids: [UInt128]
    let head: UInt64

    init(_ ids: [UInt128], _ head: UInt64) { (self.ids, self.head) = (ids, head) }
  }

  private func page(
    _ log: PostgresLog, after position: UInt64, limit: Int = 256
  ) async throws -> Found {
    let page = try await log.page(
      in: ShardID(1), after: LogPosition(position), following: nil, limit: limit)
    let batches = try await log.batches(
      in: ShardID(1), after: LogPosition(position), limit: limit)
    #expect(page.batches == Array(batches.prefix(page.batches.count)))
    return Found(page.batches.map(\.id), page.head.number)
  }

  @Test("a page has batches and the end of the log, whatever the batches are")
  func pages() async throws {
    let log = postgresLog(try PostgresServer.shared.get().newSchema())
    _ = try await log.open(ShardID(1))
    #expect(try await page(log, after: 0) == Found([], 0))
    try await append(1...3, to: log)
    #expect(try await page(log, after: 0) == Found([1, 2, 3], 3))
    #expect(try await page(log, after: 0, limit: 2) == Found([1, 2], 3))
    #expect(try await page(log, after: 3) == Found([], 3))
    // A long batch is read by itself, and no batch behind it comes before it.
    try await append(4...4, bytes: PostgresLimits.bytesPerLook + 1, to: log)
    try await append(5...5, to: log)
    #expect(try await page(log, after: 2) == Found([3], 5))
    #expect(try await page(log, after: 3) == Found([4, 5], 5))
    try await append(6...60, to: log)
    let all = try await page(log, after: 0)
    #expect(all.ids == Array(1...60) && all.head == 60)
    let last = try await page(log, after: 60 - UInt64(PostgresLimits.batchesPerLook))
    #expect(last.ids.count == PostgresLimits.batchesPerLook && last.head == 60)
    await log.close()
  }

  @Test("a page tells of logs that are not there, end before, or begin behind it")
  func pageErrors() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let name = try name(of: schema)
    let log = postgresLog(schema)
    await #expect(throws: CommitLogError.unknownShard) {
      try await log.page(in: ShardID(1), after: .start, following: nil, limit: 9)
    }
    _ = try await log.open(ShardID(1))
    try await append(1...4, to: log)
    await #expect(throws: CommitLogError.regressed(head: LogPosition(4))) {
      try await log.page(in: ShardID(1), after: LogPosition(5), following: nil, limit: 9)
    }
    try server.run(
      "update tern_log set payload = set_byte(payload, 5, 9) where position = 2", schema: name)
    let whole = try await log.page(in: ShardID(1), after: .start, following: nil, limit: 9)
    #expect(whole.batches.map(\.id) == [1] && whole.head == LogPosition(4))
    await #expect(throws: CommitLogError.damaged(at: LogPosition(2))) {
      try await log.page(in: ShardID(1), after: LogPosition(1), following: nil, limit: 9)
    }
    try server.run("update tern_shard set oldest = 4", schema: name)
    await #expect(throws: CommitLogError.truncated(first: LogPosition(4))) {
      try await log.page(in: ShardID(1), after: LogPosition(1), following: nil, limit: 9)
    }
    await log.close()
  }

  @Test("a statement that a session keeps has a name of its own, and only that")
  func names() {
    let names = PostgresStatement.all.compactMap(\.name)
    #expect(names.count >= 5 && Set(names).count == names.count)
    #expect(names.allSatisfy { $0.utf8.count < 64 && $0.hasPrefix("tern_") })
    for state in ["26000", "42P05", "0A000"] {
      #expect(PostgresFailure.refused(state: state, message: "").isOfKeptStatement)
    }
    #expect(!PostgresFailure.refused(state: "40001", message: "").isOfKeptStatement)
    #expect(!PostgresFailure.lost("").isOfKeptStatement)
  }

  @Test("a change that a pooler answers with a lost connection may have taken effect")
  func doubts() {
    for state in ["08000", "08006", "08007", "08P01", "40003"] {
      let failure = PostgresFailure.refused(state: state, message: "server conn crashed?")
      #expect(failure.mayHaveChanged && failure.ofChange == .unknownOutcome, "\(state)")
    }
    for state in ["40001", "57P01", "53300", "42501"] {
      #expect(!PostgresFailure.refused(state: state, message: "").mayHaveChanged, "\(state)")
    }
  }
}
