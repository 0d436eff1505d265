import Foundation
import TernCommitLog
import TernLedger
import TernPostgresTesting
import TernStorage
import TernStorageSQLite
import Testing

extension PostgresTests {
  @Test("the program moves a server's store into a shard, and back with the same rows and outcomes")
  func movesStores() async throws {
    let schema = try PostgresServer.shared.get().newSchema()
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "tern-shard-\(UUID().uuidString)"
    ).path
    try FileManager.default.createDirectory(
      atPath: folder + "/old", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let rows = try fillStore(at: folder + "/old/server")
    let wrong = try await tern(["import-shard", "--ledger", schema, "--path", folder + "/none"])
    #expect(wrong.code == 5, "\(wrong)")
    let imported = try await tern(
      ["import-shard", "--ledger", schema, "--path", folder + "/old", "--json"])
    #expect(imported.code == 0 && imported.output.contains("\"version\":301"), "\(imported)")
    let again = try await tern(["import-shard", "--ledger", schema, "--path", folder + "/old"])
    #expect(again.code == 2 && again.output.contains("not empty"), "\(again)")
    let exported = try await tern(
      ["export-shard", "--ledger", schema, "--path", folder + "/new"])
    #expect(exported.code == 0 && exported.output.contains("version 301"), "\(exported)")
    let occupied = try await tern(
      ["export-shard", "--ledger", schema, "--path", folder + "/new"])
    #expect(occupied.code == 2, "\(occupied)")
    let store = try SQLiteStore(path: folder + "/new/server")
    defer { store.close() }
    let ledger = try EmbeddedLedger(store: store) { 0 }
    #expect(try Self.rows(of: ledger) == rows)
    let retry = Self.write(300)
    #expect(try ledger.commit([retry]) == [.duplicate(300, outcome: [44])])
    #expect(try ledger.commit([Self.write(301)]) == [.committed(302)])
  }

  /// Fills the store of an embedded server.
  ///
  /// - Returns: The rows that it has then.
  private func fillStore(at path: String) throws -> [Row] {
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let ledger = try EmbeddedLedger(store: store) { 0 }
    for number in 1...UInt64(300) { _ = try ledger.commit([Self.write(number)]) }
    let large = Commit(
      mutations: [.put(key: [0x20], value: [UInt8](repeating: 7, count: 3 << 20))], record: [1])
    _ = try ledger.commit([large])
    return try Self.rows(of: ledger)
  }

  private static func write(_ number: UInt64) -> Commit {
    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 100)
    let key = IdempotencyKey(
      id: CommitID(stream: 42, sequence: number), payloadHash: number,
      acknowledged: number > 10 ? number - 10 : 0)
    return Commit(
      claim: key, mutations: [.put(key: Array("row/\(number)".utf8), value: value)], record: [1],
      outcome: [UInt8(truncatingIfNeeded: number)])
  }

  private static func rows(of ledger: EmbeddedLedger) throws -> [Row] {
    try ledger.read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(from: [LedgerLimits.firstOwnByte]))
    }
  }

  /// Runs the program, which lies beside this one.
  private func tern(_ arguments: [String]) async throws -> (code: Int32, output: String) {
    let here = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    let process = Process()
    let pipe = Pipe()
    process.executableURL = here.deletingLastPathComponent().appending(path: "tern")
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = pipe
    // What it says fits into the pipe.
    let code = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let output = pipe.fileHandleForReading.availableData
    return (code, String(decoding: output, as: UTF8.self))
  }
}
