#if TCP
  /// Durable writes of many clients: the server, etcd, and SQLite with nothing around it.
  enum WriteSection {
    private static let clients = 64
    /// Writes that each client has under way: as many as our own keeps there, and one.
    private static let depths = [16, 1]

    /// Measures everything in turn, with one write of each client under way and with several.
    static func run(rounds: Int = 3) async throws -> [BenchLine] {
      var rates: [String: [Double]] = [:]
      func add(_ rate: Double, _ name: String) { rates[name, default: []].append(rate) }
      for _ in 0..<rounds {
        add(try loop(batch: clients), "loop")
        for depth in depths {
          add(try threads(depth: depth), "threads \(depth)")
          for server in ["tern", "etcd"] {
            add(try await measure(server, depth), "\(server) \(depth)")
          }
        }
      }
      let medians = rates.mapValues(BenchLine.median)
      func line(_ depth: Int, _ baseline: String, _ name: String, _ target: Double) -> BenchLine {
        BenchLine(
          name: "\(clients) clients by \(depth): \(name)", rate: medians["tern \(depth)"] ?? 0,
          baseline: medians[baseline] ?? 0, target: target)
      }
      return depths.flatMap { depth in
        [
          line(depth, "etcd \(depth)", "etcd", 1),
          line(depth, "loop", "loop of \(clients) rows", 0.6),
          line(depth, "threads \(depth)", "threads", 0.6),
        ]
      }
    }

    private static func measure(_ server: String, _ depth: Int) async throws -> Double {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let process = try await start(server, folder.path)
      defer { process.stop() }
      return try await RequestLoad(
        port: process.port, clients: clients, depth: depth,
        language: server == "tern" ? .tree(depth: depth) : .etcd
      ).run(seconds: 2)
    }

    private static func start(_ server: String, _ folder: String) async throws -> ChildServer {
      if server == "tern" { return try .tree(in: folder) }
      let process = try ChildServer.etcd(in: folder)
      // It says nothing when it is ready; whoever connects too early is turned away.
      try await Task.sleep(for: .seconds(3))
      return process
    }

    /// Threads that wait for a loop over the C library.
    private static func threads(depth: Int) throws -> Double {
      let folder = try BenchFolder()
      defer { folder.remove() }
      return try BareGroupCommit(path: folder.path + "/bare.sqlite")
        .run(writers: clients, depth: depth, seconds: 2)
    }

    /// A loop over the C library that always finds `batch` rows waiting: the same keys and values,
    /// one row a write, nobody to wake.
    private static func loop(batch: Int) throws -> Double {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let store = try BareSQLite(path: folder.path + "/bare.sqlite")
      let count = max(20, 100_000 / batch) * batch
      let keys = (0..<count).map { number in
        Array(RequestProtocol.key(number % clients, number / clients).utf8)
      }
      let value = Array(RequestProtocol.value.utf8)
      try store.put(keys[..<(count / 2)], value, batch: batch)
      let seconds = try BenchLine.seconds {
        try store.put(keys[(count / 2)...], value, batch: batch)
      }
      return Double(count - count / 2) / seconds
    }
  }
#endif
