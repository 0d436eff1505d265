#if TCP
  import Foundation
  import TernLedger
  import TernServer
  import TernStorage
  import TernStorageMemory
  import TernStorageSQLite

  /// Writes of many clients beside a backup of a large store, and the rate of that backup.
  ///
  /// The backup is fetched with `curl`, which must be installed, restored into memory, and compared
  /// with the log that is in it.
  enum BackupSection {
    private static let clients = 64
    private static let seconds = 4.0
    private static let rowsPerCommit = 10_000

    /// - Parameter rows: The nodes in the store.
    static func run(rows: Int) async throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      try fill(folder.path, rows)
      let load = RequestLoad(clients: clients, depth: 1, language: .tree(depth: 1))
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let alone = try await load.run(at: server, seconds: seconds)
      let backups = Backups(from: server, to: folder.path + "/backup")
      backups.start()
      let beside = try await load.run(at: server, seconds: seconds)
      let rate = try backups.stop()
      try check(folder.path + "/backup", rows)
      return [
        BenchLine(
          name: "\(clients) clients write beside backups: without", rate: beside.writesPerSecond,
          baseline: alone.writesPerSecond, target: 0.8),
        BenchLine(
          name: "backup of \(rows) nodes: 30 MB a second", rate: rate, baseline: 30_000_000,
          target: 1),
      ]
    }

    /// Stores nodes as the server would.
    private static func fill(_ path: String, _ rows: Int) throws {
      let store = try SQLiteStore(path: path)
      defer { store.close() }
      let ledger = try EmbeddedLedger(store: store) { 0 }
      for start in stride(from: 0, to: rows, by: rowsPerCommit) {
        let mutations = (start..<min(rows, start + rowsPerCommit)).map { number -> Mutation in
          let digits = "\(100_000_000 + number)"
          var key: [UInt8] = [0x20]
          for name in ["default", "nodes", "n\(digits)"] {
            key.append(contentsOf: name.utf8)
            key.append(0)
          }
          let value = "the value of node \(digits)"
          return Mutation.put(key: key, value: [0x05] + Array(value.utf8))
        }
        _ = try ledger.commit([Commit(mutations: mutations, record: [])])
      }
    }

    /// Restores a backup, and makes its log once more.
    private static func check(_ path: String, _ rows: Int) throws {
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      let store = MemoryStore()
      var offset = 0
      var restorer = try BackupRestorer(into: store)
      let read: (Int) throws(BackupError) -> [UInt8] = { count throws(BackupError) in
        let piece = bytes[offset...].prefix(count)
        offset += piece.count
        return Array(piece)
      }
      try restorer.write(read)
      try restorer.finish()
      let inspection = try ServerInspection(of: store)
      guard inspection.isWell, restorer.last?.summary.rows ?? 0 >= UInt64(rows) else {
        throw BenchFailure(reason: "the backup is not the state: \(inspection.findings)")
      }
      print("  restored \(restorer.last?.summary.rows ?? 0) rows; the log leads to the same state")
    }
  }

  /// Backups one after the other, until they are stopped.
  ///
  /// `@unchecked Sendable` is sound because its state is used by its thread until that has ended.
  private final class Backups: @unchecked Sendable {
    private let port: Int
    private let path: String
    private let ended = DispatchSemaphore(value: 0)
    private let stopping = DispatchSemaphore(value: 0)
    private var bytes = 0
    private var seconds = 0.0
    private var failure: (any Error)?

    init(from server: ChildServer, to path: String) {
      port = server.port
      self.path = path
    }

    func start() {
      DispatchQueue.global().async {
        repeat {
          do { try self.fetch() } catch { self.failure = error }
        } while self.failure == nil && self.stopping.wait(timeout: .now()) == .timedOut
        self.ended.signal()
      }
    }

    /// Waits for the last backup.
    ///
    /// - Returns: Bytes a second.
    func stop() throws -> Double {
      stopping.signal()
      ended.wait()
      if let failure { throw failure }
      return Double(bytes) / seconds
    }

    private func fetch() throws {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "curl", "--silent", "--fail", "--header", "Authorization: Bearer owner", "--output", path,
        "http://127.0.0.1:\(port)/-/backup",
      ]
      let start = ContinuousClock.now
      try process.run()
      process.waitUntilExit()
      seconds += start.duration(to: .now) / .seconds(1)
      guard process.terminationStatus == 0 else {
        throw BenchFailure(reason: "curl ended with \(process.terminationStatus)")
      }
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      bytes += size ?? 0
    }
  }
#endif
