#if TCP
  import ArgumentParser

  /// Durable writes of many clients: the server, etcd, the least a server can be, and SQLite with
  /// nothing around it.
  struct WriteSection {
    private static let clients = 64
    /// Writes that each client has under way: as many as our own keeps there, and one.
    enum Depth: Int, CaseIterable, ExpressibleByArgument {
      case several = 16
      case one = 1
    }

    private static let seconds = 2.0

    /// The only depth to measure; both when it is `nil`.
    let only: Depth?
    private var rates: [String: [Double]] = [:]
    private var costs: [String: [Double]] = [:]

    init(only: Depth?) { self.only = only }

    private var depths: [Int] {
      Depth.allCases.filter { only ?? $0 == $0 }.map(\.rawValue)
    }

    #if os(Linux)
      private static let servers = ["tern", "bare", "etcd"]
    #else
      private static let servers = ["tern", "etcd"]
    #endif

    /// Measures everything in turn, with one write of each client under way and with several.
    func run(rounds: Int) async throws -> [BenchLine] {
      var section = self
      for _ in 0..<rounds { try await section.measure() }
      return section.lines
    }

    private mutating func measure() async throws {
      rates["loop", default: []].append(try Self.loop(batch: Self.clients))
      for depth in depths {
        rates["threads \(depth)", default: []].append(try Self.threads(depth: depth))
        for server in Self.servers {
          let result = try await Self.measure(server, depth)
          rates["\(server) \(depth)", default: []].append(result.writesPerSecond)
          costs["\(server) \(depth)", default: []].append(result.serverMicroseconds)
        }
      }
    }

    private var lines: [BenchLine] {
      let medians = rates.mapValues(BenchLine.median)
      for depth in depths {
        let texts = Self.servers.map { server in
          let cost = BenchLine.median(costs["\(server) \(depth)"] ?? [0])
          return "\(server) \((cost * 10).rounded() / 10)"
        }
        let text = texts.joined(separator: ", ")
        print("processor time of the server, µs a write, by \(depth): \(text)")
      }
      return depths.flatMap { depth in
        let ours = medians["tern \(depth)"] ?? 0
        func line(_ baseline: String, _ name: String, _ target: Double) -> BenchLine {
          BenchLine(
            name: "\(Self.clients) clients by \(depth): \(name)", rate: ours,
            baseline: medians[baseline] ?? 0, target: target)
        }
        var lines = [
          line("etcd \(depth)", "etcd", 1), line("loop", "loop of \(Self.clients) rows", 0.6),
          line("threads \(depth)", "threads", 0.6),
        ]
        if medians["bare \(depth)"] != nil {
          lines.append(line("bare \(depth)", "bare server", 0.6))
        }
        return lines
      }
    }

    private static func measure(_ server: String, _ depth: Int) async throws -> RequestLoad.Result {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let process = try await start(server, folder.path)
      defer { process.stop() }
      return try await RequestLoad(
        clients: clients, depth: depth, language: language(of: server, depth)
      ).run(at: process, seconds: seconds)
    }

    private static func language(of server: String, _ depth: Int) -> RequestProtocol {
      switch server {
      case "tern": .tree(depth: depth)
      case "bare": .bare
      default: .etcd
      }
    }

    private static func start(_ server: String, _ folder: String) async throws -> ChildServer {
      if server == "tern" { return try .tree(in: folder) }
      #if os(Linux)
        if server == "bare" { return try .bare(in: folder) }
      #endif
      let process = try ChildServer.etcd(in: folder)
      // It prints nothing when it is ready; a client that connects too early is turned away.
      try await Task.sleep(for: .seconds(3))
      return process
    }

    /// Threads that wait for a loop over the C library.
    private static func threads(depth: Int) throws -> Double {
      let folder = try BenchFolder()
      defer { folder.remove() }
      return try BareGroupCommit(path: folder.path + "/bare.sqlite")
        .run(writers: clients, depth: depth, seconds: seconds)
    }

    /// Measures a loop over the C library that always finds `batch` rows waiting: the same keys and
    /// values, one row a write, without waiters.
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
