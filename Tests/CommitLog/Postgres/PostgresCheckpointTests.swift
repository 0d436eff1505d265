import Foundation
import TernCommitLog
import TernPostgresTesting
import TernStorage
import TernTestKit
import Testing

@testable import TernLogPostgres

extension PostgresTests {
  @Test("a range of more rows than a statement removes in its time is removed in pieces")
  func largeRanges() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let name = try self.name(of: schema)
    let (log, shard) = (postgresLog(schema), ShardID(1))
    _ = try await log.open(shard)
    // Stands for the time limit of a statement, which depends on the machine.
    try server.run(
      """
      insert into tern_row (shard, key, value) select 1, decode(lpad(to_hex(n), 8, '0'), 'hex'), ''
      from generate_series(1, 30000) n;
      create function refuse_many() returns trigger language plpgsql as $$ begin
        if (select count(*) from gone) > 3000 then
          raise exception 'too many rows' using errcode = '57014';
        end if;
        return null;
      end $$;
      create trigger limits after delete on tern_row referencing old table as gone
      for each statement execute function refuse_many()
      """, schema: name)
    let draft = LogBatch.Draft(id: 1, payload: [1])
    _ = try await log.append(draft, to: shard, after: .start, epoch: .none)
    // A row of the range is put behind it.
    let key: [UInt8] = [0, 0, 0, 7]
    let outcome = try await log.advanceCheckpoint(
      of: shard, from: .start, to: LogPosition(1), epoch: .none,
      changes: [
        .remove(KeyRange(from: [0, 0, 0, 2], to: [0, 0, 0x70])), .put(key: key, value: [7]),
      ])
    #expect(outcome == .advanced(LogPosition(1)))
    #expect(try server.run("select count(*) from tern_row", schema: name) == "1331")
    let rows = try await log.checkpoint(of: shard, after: [0, 0, 0, 1], limit: 1).rows
    #expect(rows == [Row(key: key, value: [7])])
    // Rows that other nodes have changed meanwhile are theirs.
    let elsewhere = try await log.advanceCheckpoint(
      of: shard, from: .start, to: LogPosition(1), epoch: .none, changes: [.remove(.all)])
    #expect(elsewhere == .elsewhere(mark: LogPosition(1)))
    #expect(try server.run("select count(*) from tern_row", schema: name) == "1331")
    await log.close()
  }

  @Test("the rows of a schema of version 1 are read, replaced and removed, long keys among them")
  func rowsOfFirstSchema() async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let name = try self.name(of: schema)
    let shard = ShardID(1)
    let old = PostgresLog(
      PostgresOptions(connection: schema, operationTimeout: .seconds(60)),
      clock: ContinuousClock(), uptime: uptime,
      migrations: [PostgresMigration(version: 1, statements: PostgresStatement.tables)])
    _ = try await old.open(shard)
    await old.close()
    // A database shortens keys that repeat themselves, and takes these.
    let keys: [[UInt8]] = [
      [1], [UInt8](repeating: 2, count: 3_000), [UInt8](repeating: 2, count: 4_096), [3],
      [UInt8](repeating: 4, count: 4_096), [UInt8](repeating: 5, count: 2_500), [6],
    ]
    for key in keys {
      let record = RecordChecksum.record(of: [9], key: key)
      try server.run(
        "insert into tern_row values (1, '\\x\(hex(key))', '\\x\(hex(record))')", schema: name)
    }
    let log = postgresLog(schema)
    #expect(try await log.open(shard).position == .start)
    #expect(try server.run("select version from tern_schema", schema: name) == "2")
    func rows() async throws -> [Row] {
      var rows: [Row] = []
      while true {
        let page = try await log.checkpoint(of: shard, after: rows.last?.key, limit: 2)
        rows += page.rows
        if page.isLast { return rows }
      }
    }
    #expect(try await rows() == keys.map { Row(key: $0, value: [9]) })
    let others: [[UInt8]] = [1, 3].map { keys[2].dropLast() + [$0] }
    _ = try await log.advanceCheckpoint(
      of: shard, from: .start, to: .start, epoch: .none,
      changes: [.put(key: keys[2], value: [7])] + others.map { .put(key: $0, value: [8]) })
    var expected = keys.map { Row(key: $0, value: [9]) }
    expected[2].value = [7]
    expected.insert(Row(key: others[1], value: [8]), at: 3)
    expected.insert(Row(key: others[0], value: [8]), at: 2)
    expected.sort { $0.key.lexicographicallyPrecedes($1.key) }
    #expect(try await rows() == expected)
    _ = try await log.advanceCheckpoint(
      of: shard, from: .start, to: .start, epoch: .none,
      changes: [
        .remove(KeyRange(only: keys[4])), .remove(KeyRange(from: [2], to: keys[2])),
        .remove(KeyRange(from: keys[5])),
      ])
    expected.removeAll { row in
      row.key == keys[4] || KeyRange(from: [2], to: keys[2]).contains(row.key.span)
        || KeyRange(from: keys[5]).contains(row.key.span)
    }
    #expect(try await rows() == expected)
    await log.close()
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
