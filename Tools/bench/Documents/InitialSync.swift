#if TCP && os(Linux)
  import ArgumentParser
  import Foundation
  import TernClient
  import TernCore
  import TernDocumentWire
  import TernQuery
  import TernStorage
  import TernStorageMemory
  import TernStorageSQLite
  import TernTransportTCP

  /// The first snapshot of a large collection over loopback TCP: into our own client, in memory and
  /// on SQLite, and to a client that only counts frames.
  enum InitialSync {
    private static let database = DocumentDatabase(unchecked: "bench")

    /// A client's store, or the server's side.
    enum Part: String, CaseIterable, ExpressibleByArgument {
      case memory, sqlite, server
    }

    static func run(only: Part?, documents: Int, rounds: Int) async throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path + "/server")
      defer { server.stop() }
      try fill(server.port, documents)
      var lines: [BenchLine] = []
      let targets: [(Part, Double)] = [(.memory, 100_000), (.sqlite, 60_000)]
      for (part, target) in targets where only ?? part == part {
        let kind = part.rawValue
        var rates: [Double] = []
        for round in 0..<rounds {
          rates.append(
            try await receive(
              documents, kind, folder.path + "/client-\(kind)-\(round)", server))
        }
        lines.append(
          BenchLine(
            name: "initial sync into \(kind), documents/s", rate: BenchLine.median(rates),
            baseline: target, target: 1))
      }
      if only ?? .server == .server {
        let rates = try (0..<rounds).map { _ in
          try count(documents, server.port)
        }
        lines.append(
          BenchLine(
            name: "initial sync, the server's side", rate: BenchLine.median(rates),
            baseline: 300_000, target: 1))
      }
      return lines
    }

    /// Writes documents of ten fields.
    private static func fill(_ port: Int, _ count: Int) throws {
      let load = try GRPCLoad(port: port)
      for start in stride(from: 0, to: count, by: 500) {
        let writes = (start..<min(start + 500, count)).map { number in
          let fields = (0..<10).map { field in
            (
              "field\(field)",
              field % 2 == 0
                ? DocumentValue.integer(Int64(number * 10 + field))
                : .string("text \(number) of field \(field)")
            )
          }
          return DocumentMutation(
            DocumentKey(unchecked: "rooms/d\(number)"),
            .set(DocumentFields(DocumentMap(fields))))
        }
        let request = DocumentRequest(.commit(writes, transaction: [], nil), in: database)
        _ = try load.call("Commit", request.encode())
      }
    }

    /// Returns the documents of a second that a new client takes in.
    private static func receive(
      _ count: Int, _ kind: String, _ folder: String, _ server: ChildServer
    ) async throws -> Double {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      func store(_ name: String) throws -> any OrderedStore {
        kind == "memory" ? MemoryStore() : try SQLiteStore(path: folder + "/" + name)
      }
      var options = ClientOptions()
      options.documentCacheLimitBytes = nil
      options.syncsInBackground = kind != "memory"
      let transport = try TCPPlugin.open(TCPOptions(port: server.port))
      var parts = ClientParts(queue: try store("tree-queue"), cache: nil, transport: transport)
      parts.documents = DocumentParts(
        database: database, queue: try store("queue"), cache: try store("cache"))
      let client = try TernDatabase.open(parts, options: options)
      let busy = server.processorSeconds
      let start = ContinuousClock.now
      let own = processorSeconds
      for try await snapshot in client.documents.collection("rooms").snapshots() {
        if !snapshot.metadata.isFromCache, snapshot.count == count { break }
      }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      print(
        "initial sync of \(count) documents into \(kind): \(BenchLine.tenths(seconds)) s,",
        "processor \(BenchLine.tenths(processorSeconds - own)) s of the client,",
        "\(BenchLine.tenths(server.processorSeconds - busy)) s of the server")
      await client.close()
      return Double(count) / seconds
    }

    /// The processor time of this process so far.
    private static var processorSeconds: Double {
      var time = timespec()
      unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Returns the documents of a second that the server sends to a client that does nothing with
    /// them.
    private static func count(_ count: Int, _ port: Int) throws -> Double {
      let load = try GRPCLoad(port: port)
      let target = WatchTarget(
        id: 2,
        subject: .query(DocumentQuery.collection(CollectionPath(unchecked: "rooms")).target))
      let request = DocumentRequest(.listen(.add(target)), in: database)
      let start = ContinuousClock.now
      try load.listen(request.encode(), streams: 1, messages: count + 3)
      return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }
  }
#endif
