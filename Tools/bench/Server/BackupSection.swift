#if TCP
  import Foundation
  import TernCore
  import TernLedger
  import TernServer
  import TernStorage
  import TernStorageMemory
  import TernTransport
  import TernTransportTCP
  import TernTreeWire

  /// Backups of a large tree while 64 clients write: how much they cost the clients, how fast they
  /// are, and that what is restored is the state of their version.
  ///
  /// Readers are `curl`, which must be installed; they take no more than 40 MB a second.
  struct BackupSection {
    private static let clients = 64
    /// Writes that a client has under way.
    private static let depth = 16
    private static let seconds = 10.0
    private static let groupSize = 1_000

    /// The nodes of the tree.
    let nodes: Int

    func run(rounds: Int) async throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let lines = try await measure(rounds, folder.path)
      try await compare(folder.path)
      return lines
    }

    private func measure(_ rounds: Int, _ folder: String) async throws -> [BenchLine] {
      let server = try ChildServer.tree(in: folder + "/store", ServedTree.observed)
      defer { server.stop() }
      try await fill(server)
      var rates: (without: [Double], with: [Double], backup: [Double]) = ([], [], [])
      for _ in 0..<rounds {
        rates.without.append(try await Self.load(Self.seconds, at: server))
        let loop = BackupLoop(server, folder)
        rates.with.append(try await Self.load(Self.seconds, at: server))
        rates.backup += try await loop.stop()
      }
      return [
        BenchLine(
          name: "writes during backups", rate: BenchLine.median(rates.with),
          baseline: BenchLine.median(rates.without), target: 0.8),
        BenchLine(
          name: "bytes of a backup meanwhile", rate: BenchLine.median(rates.backup),
          baseline: 30_000_000, target: 1),
      ]
    }

    private static func load(_ seconds: Double, at server: ChildServer) async throws -> Double {
      try await RequestLoad(clients: clients, depth: depth, language: .tree(depth: depth))
        .run(at: server, seconds: seconds).writesPerSecond
    }

    /// Writes groups of 1,000 texts of 100 characters.
    private func fill(_ server: ChildServer) async throws {
      let transport = try TCPPlugin.open(TCPOptions(port: server.port))
      var client = try await FrameClient(transport)
      let text = String(repeating: "abcdefghij", count: 9)
      for number in 0..<max(1, nodes / Self.groupSize) {
        let children = (0..<Self.groupSize).map { index in
          (
            key: TreeKey(unchecked: "k\(10_000 + index)"),
            node: TreeNode(.string("\(number) \(index) \(text)"))
          )
        }
        _ = try await client.request(
          .put(
            try TreePath("big/\(number)"), TreeNode(children: ChildMap(unsorted: children)),
            expectedHash: nil, WriteHeader()))
      }
      await transport.shutdown()
    }

    // MARK: - The state

    /// Takes one backup while clients write, and compares what it restores with an earlier one
    /// whose log is made again up to its version: the log and the snapshot have to agree.
    private func compare(_ folder: String) async throws {
      let server = try ChildServer.tree(
        in: folder + "/store", ServedTree.observed, ServedTree.logged)
      defer { server.stop() }
      let (before, during, after) = (folder + "/before", folder + "/during", folder + "/after")
      try Backups.fetch(server.port, to: before)
      let port = server.port
      let taking = Task.detached { try Backups.fetch(port, to: during) }
      _ = try await Self.load(2, at: server)
      try await taking.value
      try Backups.fetch(server.port, to: after)
      let expected = try Backups.restored(before)
      let version = try Backups.header(of: during).version
      try RestoredStore(expected).replay(from: try Backups.restored(after), through: version)
      let count = try Backups.compare(expected, try Backups.restored(during))
      print("restored state of version \(version): \(count) rows, all as the log makes them")
    }
  }

  /// Backups, one behind the other, until it is stopped.
  private struct BackupLoop: Sendable {
    private let work: Task<[Double], any Error>

    init(_ server: ChildServer, _ folder: String) {
      let port = server.port
      work = Task.detached {
        var rates: [Double] = []
        while !Task.isCancelled {
          let path = folder + "/loop"
          let seconds = try BenchLine.seconds { try Backups.fetch(port, to: path) }
          // The last one had the server for itself in the end.
          if Task.isCancelled, !rates.isEmpty { break }
          let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
          rates.append(Double(size) / seconds)
        }
        return rates
      }
    }

    /// Ends behind the backup that is under way.
    ///
    /// - Returns: The bytes a second of each backup.
    func stop() async throws -> [Double] {
      work.cancel()
      return try await work.value
    }
  }

  /// Backups in files.
  enum Backups {
    /// The bytes a second that a backup is taken at.
    private static let rate = 40_000_000

    /// Takes a whole backup.
    static func fetch(_ port: Int, to path: String) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [
        "curl", "--silent", "--fail", "--limit-rate", "\(rate)", "--output", path,
        "http://127.0.0.1:\(port)/-/backup",
      ]
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw BenchFailure(reason: "curl ends with \(process.terminationStatus)")
      }
    }

    static func header(of path: String) throws -> BackupHeader {
      try BackupReader.verify(try reading(path)).header
    }

    /// A store with the rows of a backup.
    static func restored(_ path: String) throws -> MemoryStore {
      let store = MemoryStore()
      var restorer = try BackupRestorer(into: store)
      try restorer.write(try reading(path))
      try restorer.finish()
      return store
    }

    private static func reading(
      _ path: String
    ) throws -> (Int) throws(BackupError) -> [UInt8] {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      return { count throws(BackupError) in
        do { return Array(try file.read(upToCount: count) ?? Data()) } catch {
          throw .inaccessible("\(error)")
        }
      }
    }

    /// Compares the trees in two stores, row by row.
    ///
    /// - Returns: The number of rows.
    static func compare(_ one: MemoryStore, _ other: MemoryStore) throws -> Int {
      let trees = KeyRange(from: [0x20])
      var (count, isSame) = (0, true)
      for store in [one, other] { _ = try RestoredStore(store).beginEpoch(now: 0) }
      try one.read { first throws(StorageError) in
        try other.read { second throws(StorageError) in
          var left = first.cursor(over: trees)
          var right = second.cursor(over: trees)
          while isSame {
            let (hasLeft, hasRight) = (try left.next(), try right.next())
            guard hasLeft, hasRight else {
              isSame = hasLeft == hasRight
              return
            }
            count += 1
            isSame =
              [UInt8](copying: left.key) == [UInt8](copying: right.key)
              && [UInt8](copying: left.value) == [UInt8](copying: right.value)
          }
        }
      }
      guard isSame else { throw BenchFailure(reason: "row \(count) is restored otherwise") }
      return count
    }
  }
#endif
