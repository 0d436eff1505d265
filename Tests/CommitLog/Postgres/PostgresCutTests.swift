import Foundation
import Synchronization
import TernCommitLog
import TernLogPostgres
import TernPostgresTesting
import Testing

extension PostgresTests {
  /// The batches of a session that is cut.
  private static let batches: UInt64 = 4

  @Test(
    "appends over a connection that is cut after any byte: nothing lost, nothing doubled",
    arguments: CuttingProxy.Direction.allCases, [1, 2])
  func cutsAfterEveryByte(direction: CuttingProxy.Direction, cuts: Int) async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let direct = postgresLog(schema)
    // One session without a cut says how many bytes there are.
    let total = try await session(ShardID(0), in: schema, direct, proxy: { _ in }).passed(direction)
    let stride = ProcessInfo.processInfo.environment["TERN_CUT_STRIDE"].flatMap { Int($0) } ?? 23
    var unknown = 0
    for (index, byte) in Swift.stride(from: 1, to: total, by: stride).enumerated() {
      let proxy = try await session(ShardID(UInt32(index + 1)), in: schema, direct) {
        $0.arm(direction, after: byte, cuts: cuts)
      }
      unknown += proxy.unknown
    }
    // Otherwise the cuts have not hit what they are to prove.
    #expect(unknown > 0)
    await direct.close()
  }

  private struct Passed {
    let proxy: CuttingProxy
    let unknown: Int

    func passed(_ direction: CuttingProxy.Direction) -> Int { proxy.passed(direction) }
  }

  /// Appends batches through a proxy, resolves what is unknown, and checks what is there.
  private func session(
    _ shard: ShardID, in schema: String, _ direct: PostgresLog,
    proxy prepare: (CuttingProxy) -> Void
  ) async throws -> Passed {
    let server = try PostgresServer.shared.get()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.end() }
    var position = try await direct.open(shard).position
    prepare(proxy)
    let cut = postgresLog(schema.replacing("port=\(server.port)", with: "port=\(proxy.port)"))
    var unknown = 0
    for number in 1...Self.batches {
      let draft = LogBatch.Draft(id: UInt128(number) << 70, payload: [UInt8(number), 0, 1])
      do throws(CommitLogError) {
        let outcome = try await cut.append(draft, to: shard, after: position, epoch: .none)
        #expect(outcome == .appended(position.next))
      } catch {
        #expect(error == .unknownOutcome)
        unknown += 1
        let outcome = try await cut.append(
          draft, to: shard, after: position, epoch: .none, attempts: 5)
        #expect(outcome == .appended(position.next), "batch \(number)")
      }
      position = position.next
    }
    await cut.close()
    let stored = try await direct.batches(in: shard, after: .start, limit: 100)
    #expect(stored.map(\.id) == (1...Self.batches).map { UInt128($0) << 70 }, "shard \(shard)")
    return Passed(proxy: proxy, unknown: unknown)
  }

  @Test("an append that the database still works on after its connection is lost counts once")
  func appendsUnderWay() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let direct = postgresLog(schema)
    let shard = ShardID(1)
    _ = try await direct.open(shard)
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.end() }
    let node = postgresLog(schema.replacing("port=\(server.port)", with: "port=\(proxy.port)"))
    // Connects the writer, so that only the append is sent from here on.
    try await node.releaseLease(shard, name: .leader, node: "none")
    let lock = try PostgresSession(schema)
    let watch = try PostgresSession(schema)
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    _ = try lock.ask("begin; select position from tern_shard for update")
    let draft = LogBatch.Draft(id: 77, payload: [UInt8](repeating: 5, count: 10_000))
    let sent = proxy.passed(.toServer) + 10_000
    let first = Task { () throws(CommitLogError) -> AppendOutcome in
      try await node.append(draft, to: shard, after: .start, epoch: .none)
    }
    await proxy.hasPassedToServer(sent)
    #expect(try await watch.ask(waiting, until: "1"))
    proxy.cutAll()
    await #expect(throws: CommitLogError.unknownOutcome) { try await first.value }
    // It cannot be read, and still it is not lost.
    #expect(try await direct.batches(in: shard, after: .start, limit: 9).isEmpty)
    let second = Task { () throws(CommitLogError) -> AppendOutcome in
      try await node.append(draft, to: shard, after: .start, epoch: .none, attempts: 5)
    }
    #expect(try await watch.ask(waiting, until: "2"))
    _ = try lock.ask("commit")
    #expect(try await second.value == .appended(LogPosition(1)))
    #expect(try await direct.batches(in: shard, after: .start, limit: 9).map(\.id) == [77])
    lock.end()
    watch.end()
    await node.close()
    await direct.close()
  }

  @Test("an append that waits for too long is ended by the database, and changes nothing")
  func statementTimeouts() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let log = postgresLog(schema, timeout: .seconds(12))
    let shard = ShardID(1)
    _ = try await log.open(shard)
    let lock = try PostgresSession(schema)
    _ = try lock.ask("begin; select position from tern_shard for update")
    let draft = LogBatch.Draft(id: 79, payload: [1])
    let reason = await reason { () throws(CommitLogError) in
      _ = try await log.append(draft, to: shard, after: .start, epoch: .none)
    }
    #expect(reason.contains("57014"))
    _ = try lock.ask("commit")
    lock.end()
    #expect(try await log.open(shard).position == .start)
    await log.close()
  }

  @Test("an append that waits for a synchronous standby is not confirmed, and counts once")
  func synchronousStandby() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let (hasty, patient) = (postgresLog(schema, timeout: .seconds(10)), postgresLog(schema))
    let shard = ShardID(1)
    _ = try await patient.open(shard)
    _ = try await hasty.open(shard)
    try server.run("alter system set synchronous_standby_names = 'absent'")
    try server.run("select pg_reload_conf()")
    let draft = LogBatch.Draft(id: 78, payload: [1])
    await #expect(throws: CommitLogError.unknownOutcome) {
      try await hasty.append(draft, to: shard, after: .start, epoch: .none)
    }
    #expect(try await patient.batches(in: shard, after: .start, limit: 9).isEmpty)
    let second = Task { () throws(CommitLogError) -> AppendOutcome in
      try await patient.append(draft, to: shard, after: .start, epoch: .none, attempts: 5)
    }
    let watch = try PostgresSession(schema)
    #expect(
      try await watch.ask(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock'", until: "1"))
    watch.end()
    try server.run("alter system reset synchronous_standby_names")
    try server.run("select pg_reload_conf()")
    #expect(try await second.value == .appended(LogPosition(1)))
    #expect(try await patient.batches(in: shard, after: .start, limit: 9).map(\.id) == [78])
    await hasty.close()
    await patient.close()
  }
}
