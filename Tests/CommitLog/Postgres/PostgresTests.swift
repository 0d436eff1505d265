import Foundation
import TernCommitLog
import TernPostgresTesting
import TernStorage
import TernTestKit
import Testing

@testable import TernLogPostgres

private let postgres = CommitLogFixture("PostgreSQL") {
  let server = try PostgresServer.shared.get()
  let schema = try server.newSchema()
  return CommitLogPlace(
    connect: { postgresLog(schema) },
    restart: {
      server.crash()
      server.start()
    })
}

/// One server for all tests, one test at a time: some of them crash it.
@Suite(
  "a log in PostgreSQL", .serialized,
  .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct PostgresTests {
  @Test("contract of commit logs", arguments: CommitLogContract.checks)
  func holds(check: CommitLogCheck) async throws { try await check.run(on: postgres) }

  @Test("damaged batches and rows are errors, never data")
  func damage() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let name = try self.name(of: schema)
    let log = postgresLog(schema)
    let shard = ShardID(1)
    _ = try await log.open(shard)
    for number in 1...3 as ClosedRange<UInt64> {
      _ = try await log.append(
        LogBatch.Draft(id: UInt128(number), payload: [1, 2, 3]), to: shard,
        after: LogPosition(number - 1), epoch: .none)
    }
    _ = try await log.advanceCheckpoint(
      of: shard, from: .start, to: .start, epoch: .none, changes: [.put(key: [1], value: [2])])
    let damages = [
      "payload = set_byte(payload, 5, 9)", "payload = substring(payload from 1 for 6)",
      "payload = substring(payload from 1 for 1)",
      "epoch = 1", "batch_id = set_byte(batch_id, 0, 1)",
    ]
    for damage in damages {
      try server.run(
        """
        create table kept as select * from tern_log;
        update tern_log set \(damage) where position = 2
        """, schema: name)
      await #expect(throws: CommitLogError.damaged(at: LogPosition(2)), "\(damage)") {
        try await log.batches(in: shard, after: .start, limit: 10)
      }
      #expect(try await log.batches(in: shard, after: LogPosition(2), limit: 10).map(\.id) == [3])
      try server.run(
        "delete from tern_log; insert into tern_log select * from kept; drop table kept",
        schema: name)
    }
    #expect(try await log.batches(in: shard, after: .start, limit: 10).map(\.id) == [1, 2, 3])
    try server.run("delete from tern_log where position = 2", schema: name)
    await #expect(throws: CommitLogError.damaged(at: LogPosition(2))) {
      try await log.batches(in: shard, after: LogPosition(1), limit: 10)
    }
    try server.run("update tern_row set value = set_byte(value, 4, 9)", schema: name)
    await #expect(throws: CommitLogError.damaged(at: .start)) {
      try await log.checkpoint(of: shard, after: nil, limit: 10)
    }
    await log.close()
  }

  @Test("a schema is upgraded once, by one of many nodes, and a newer one is refused")
  func migrations() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let name = try self.name(of: schema)
    let tables = PostgresStatement.tables
    let first = [PostgresMigration(version: 1, statements: Array(tables.dropLast()))]
    let old = log(schema, first)
    #expect(try await old.leases(of: ShardID(1)).isEmpty)
    try server.run("insert into tern_shard values (1, 7, 0, 1, 0)", schema: name)
    // A table cannot be created twice.
    let later =
      first + [
        PostgresMigration(version: 2, statements: tables.suffix(1)),
        PostgresMigration(version: 3, statements: []),
      ]
    try await withThrowingTaskGroup(of: LogEpoch.self) { group in
      for _ in 0..<6 {
        group.addTask {
          let log = log(schema, later)
          let epoch = try await log.open(ShardID(1)).epoch
          await log.close()
          return epoch
        }
      }
      for try await epoch in group { #expect(epoch == LogEpoch(7)) }
    }
    #expect(try server.run("select version from tern_schema", schema: name) == "3")
    let older = postgresLog(schema)
    await #expect(throws: CommitLogError.incompatible(version: 3)) {
      try await older.open(ShardID(1))
    }
    await old.close()
    await older.close()
  }

  @Test("many nodes that find no schema create one")
  func creation() async throws {
    let schema = try PostgresServer.shared.get().newSchema()
    try await withThrowingTaskGroup(of: LogState.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let log = postgresLog(schema)
          let state = try await log.open(ShardID(1))
          await log.close()
          return state
        }
      }
      for try await state in group { #expect(state.position == .start) }
    }
  }

  @Test("passwords and TLS are taken from the connection string and checked")
  func passwordsAndTLS() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let name = try self.name(of: schema)
    try server.run(
      """
      drop role if exists guarded; create role guarded login password 'a secret';
      grant all on schema \(name) to guarded
      """)
    func open(
      _ settings: String, within seconds: Int = 30
    ) async throws(CommitLogError) -> LogPosition {
      let log = postgresLog(
        "host=127.0.0.1 port=\(server.port) user=guarded dbname=postgres "
          + "options='-csearch_path=\(name)' \(settings)", timeout: .seconds(seconds))
      do throws(CommitLogError) {
        let position = try await log.open(ShardID(1)).position
        await log.close()
        return position
      } catch {
        await log.close()
        throw error
      }
    }
    let verified = "sslmode=verify-full sslrootcert=\(server.certificate)"
    #expect(try await open("password='a secret' \(verified)") == .start)
    let refused = [
      "password='another' \(verified)", "password='a secret' sslmode=disable",
      "password='a secret' sslmode=verify-full sslrootcert=/etc/ssl/certs/ca-certificates.crt",
    ]
    for settings in refused {
      let reason = await reason { () throws(CommitLogError) in
        _ = try await open(settings, within: 5)
      }
      #expect(reason.contains("127.0.0.1") && !reason.contains("secret"), "\(settings)")
    }
    try server.run("drop owned by guarded; drop role guarded")
  }

  @Test("an operation without a database ends in its time, and says why")
  func boundedWaits() async throws {
    let socket = try LocalSocket(listening: 8)
    let port = socket.port
    // Takes connections and never answers.
    let silent = postgresLog(
      "host=127.0.0.1 port=\(socket.port) user=tern dbname=x sslmode=disable",
      timeout: .milliseconds(300))
    let start = uptime()
    await #expect(throws: CommitLogError.unavailable(reason: "no answer in time")) {
      try await silent.open(ShardID(1))
    }
    #expect(uptime() - start >= 300)
    #expect(uptime() - start < 60_000)
    await silent.close()
    socket.close()
    let absent = postgresLog(
      "host=127.0.0.1 port=\(port) user=tern dbname=x", timeout: .seconds(5))
    let refused = await reason { () throws(CommitLogError) in
      _ = try await absent.open(ShardID(1))
    }
    #expect(refused.contains("127.0.0.1"))
    let invalid = postgresLog("host=127.0.0.1 wrong=1", timeout: .seconds(5))
    let unknown = await reason { () throws(CommitLogError) in
      _ = try await invalid.open(ShardID(1))
    }
    #expect(unknown.contains("wrong"))
    await absent.close()
    await invalid.close()
  }

  @Test("closing ends the operations under way")
  func closing() async throws {
    let socket = try LocalSocket(listening: 8)
    defer { socket.close() }
    let log = postgresLog(
      "host=127.0.0.1 port=\(socket.port) user=tern dbname=x sslmode=disable")
    let waiting = Task { () throws(CommitLogError) in try await log.open(ShardID(1)) }
    let accepted = try #require(socket.accept())
    await log.close()
    await #expect(throws: CommitLogError.closed) { try await waiting.value }
    accepted.close()
  }

  @Test("more operations than wait at most are refused")
  func waitingOperations() async throws {
    let socket = try LocalSocket(listening: 8)
    defer { socket.close() }
    let log = postgresLog(
      "host=127.0.0.1 port=\(socket.port) user=tern dbname=x sslmode=disable")
    let refusal = CommitLogError.unavailable(reason: "too many operations wait for the database")
    let errors = await withTaskGroup(of: CommitLogError?.self) { group in
      for _ in 0...PostgresLimits.waitingOperations {
        group.addTask {
          do throws(CommitLogError) {
            _ = try await log.open(ShardID(1))
            return nil
          } catch { return error }
        }
      }
      let first = await group.next() ?? nil
      await log.close()
      return await group.reduce(into: [first]) { $0.append($1) }
    }
    #expect(errors.first == refusal)
    #expect(errors.dropFirst().allSatisfy { $0 == .closed })
    #expect(errors.count == PostgresLimits.waitingOperations + 1)
  }

  func name(of schema: String) throws -> String {
    String(try #require(schema.split(separator: "=").last).dropLast())
  }

  private func log(_ schema: String, _ migrations: [PostgresMigration]) -> PostgresLog {
    PostgresLog(
      PostgresOptions(connection: schema, operationTimeout: .seconds(60)),
      clock: ContinuousClock(), uptime: uptime, migrations: migrations)
  }

  /// Returns the reason for which an operation is unavailable; empty when it is not.
  func reason(_ body: () async throws(CommitLogError) -> Void) async -> String {
    do throws(CommitLogError) { try await body() } catch {
      if case .unavailable(let reason) = error { return reason }
    }
    return ""
  }
}
