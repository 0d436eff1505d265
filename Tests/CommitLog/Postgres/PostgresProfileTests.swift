import Foundation
import TernStorage
import TernTestKit
import Testing

@testable import TernLogPostgres

@Suite("statements of a log in PostgreSQL")
struct PostgresProfileTests {
  /// The words that may occur in statements, beside names of tables and columns.
  private static let words: Set<String> = [
    "add", "and", "any", "as", "begin", "desc", "in", "offset", "unique", "bigint", "by", "bytea",
    "cast", "characteristics",
    "commit",
    "committed", "conflict", "create", "current_timestamp", "delete", "do", "epoch", "excluded",
    "exists", "extract", "false", "for", "from", "if", "insert", "into", "is", "isolation", "join",
    "key", "left", "level", "limit", "not", "nothing", "null", "on", "or", "order", "primary",
    "read",
    "repeatable", "returning", "rollback", "select", "session", "set", "table", "text",
    "transaction", "update", "values", "where", "with",
  ]
  /// The functions that may be called: those that the databases of the profile have.
  private static let functions: Set<String> = [
    "any", "cast", "count", "extract", "octet_length", "set_config", "unnest",
  ]
  private static let tables: Set<String> = [
    "tern_schema", "tern_shard", "tern_log", "tern_lease", "tern_row", "tern_mark",
    "tern_head", "tern_tail",
  ]
  private static let columns: Set<String> = [
    "address", "appended", "b", "batch_id", "beat", "bucket", "gone", "head", "k", "l", "key",
    "leader", "m", "mark", "moved", "name",
    "node", "oldest", "payload", "position", "s", "shard", "t", "v", "value", "version", "epoch",
  ]

  @Test("every statement keeps to the portable profile", arguments: PostgresStatement.all)
  func profile(statement: PostgresStatement) {
    let text = statement.text.replacing("'log'", with: "$0")
    #expect(!text.contains("'") && !text.contains(";") && !text.contains("--"))
    #expect(!text.contains("::") && !text.contains("\""))
    #expect(text == text.lowercased())
    let known = Self.words.union(Self.functions).union(Self.tables).union(Self.columns)
    for match in text.matches(of: /[a-z_][a-z_0-9]*/) {
      #expect(known.contains(String(match.output)), "\(match.output)")
    }
    for match in text.matches(of: /([a-z_]+)\(/) {
      #expect(Self.functions.contains(String(match.output.1)), "\(match.output.1)")
    }
    for match in text.matches(of: /(?:from|into|update|join|exists|table) (tern_[a-z]+)/) {
      #expect(Self.tables.contains(String(match.output.1)), "\(match.output.1)")
    }
  }

  @Test("the list has every statement of the file, and no other file has one")
  func completeness() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../Modules/LogPostgres")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var statements = 0
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      if file.lastPathComponent == "PostgresStatement.swift" {
        statements = text.matches(of: /PostgresStatement\(\s*"/).count
      } else {
        #expect(
          !text.contains(/"(?:select|insert|update|delete|create|set|begin|with)\b/),
          "\(file.lastPathComponent)")
      }
    }
    #expect(statements == PostgresStatement.all.count)
    #expect(Set(PostgresStatement.all).count == PostgresStatement.all.count)
  }

  @Test("changes of a checkpoint become steps that leave the same rows")
  func steps() {
    var random = SeededGenerator(seed: 50)
    for _ in 0..<300 {
      let changes: [Mutation] = (0..<Int.random(in: 0...900, using: &random)).map { number in
        let key = [UInt8.random(in: 0...40, using: &random)]
        switch UInt8.random(in: 0...5, using: &random) {
        case 0: return .remove(KeyRange(only: key))
        case 1:
          return .remove(
            KeyRange(
              from: key, to: number % 3 == 0 ? nil : [UInt8.random(in: 0...41, using: &random)]))
        default: return .put(key: key, value: [UInt8(truncatingIfNeeded: number)])
        }
      }
      var expected: [[UInt8]: [UInt8]] = [[7]: [200], [9]: [201]]
      var found = expected
      for change in changes {
        switch change {
        case .put(let key, let value): expected[key] = value
        case .remove(let range): expected = expected.filter { !range.contains($0.key.span) }
        }
      }
      for step in CheckpointStep.steps(of: changes) {
        #expect(step.ranges.count <= PostgresLimits.rangesPerStep)
        for range in step.ranges { found = found.filter { !range.contains($0.key.span) } }
        for key in step.removedKeys { found[key] = nil }
        for row in step.rows { found[row.key] = row.value }
      }
      #expect(found == expected)
    }
  }

  @Test("lists are cut into pieces by number and by bytes")
  func pieces() {
    let sizes =
      Array(repeating: 1, count: PostgresLimits.rowsPerStatement + 1)
      + [PostgresLimits.bytesPerStatement * 2, 1, PostgresLimits.bytesPerStatement]
    let pieces = CheckpointStep.pieces(sizes, bytes: { $0 })
    #expect(pieces.map(\.count) == [PostgresLimits.rowsPerStatement, 1, 1, 1, 1])
    #expect(pieces.flatMap { $0 } == sizes)
    #expect(CheckpointStep.pieces([Int](), bytes: { $0 }).isEmpty)
  }
}
