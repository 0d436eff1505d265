#if TCP
  import Foundation

  /// The cost of being looked at: the writes of 64 clients at a server whose metrics are read once
  /// a second, more often than scrapers do, and whose access log is on, beside one that none of
  /// this is asked of.
  ///
  /// Counting itself is always on; it is what both do.
  struct MetricsSection {
    private static let clients = 64
    private static let depths = [16, 1]
    private static let seconds = 6.0
    private static let pause = Duration.seconds(1)
    private static let page = "/-/metrics"
    /// The pages that are read to know the cost of one.
    private static let pages = 5_000
    /// The most that a page may cost in answers of one value.
    private static let pageCost = 8.0

    func run(rounds: Int) async throws -> [BenchLine] {
      var rates: [String: [Double]] = [:]
      var costs: [String: [Double]] = [:]
      for round in 0..<rounds {
        for depth in Self.depths {
          // In turns, so that neither always has the quieter moment.
          for isObserved in round % 2 == 0 ? [false, true] : [true, false] {
            let result = try await Self.measure(depth, isObserved: isObserved)
            rates["\(depth) \(isObserved)", default: []].append(result.writesPerSecond)
            costs["\(depth) \(isObserved)", default: []].append(result.serverMicroseconds)
          }
        }
      }
      let cost = try await Self.pageCosts()
      let pageLine = BenchLine(
        name: "us of processor for a page", rate: cost.page, baseline: cost.value,
        target: Self.pageCost, isCost: true)
      return [pageLine]
        + Self.depths.flatMap { depth in
          let (on, off) = ("\(depth) true", "\(depth) false")
          func median(_ all: [String: [Double]], _ key: String) -> Double {
            BenchLine.median(all[key] ?? [0])
          }
          return [
            BenchLine(
              name: "writes, \(Self.clients) clients by \(depth)", rate: median(rates, on),
              baseline: median(rates, off), target: 0.97),
            BenchLine(
              name: "writes a second of processor, by \(depth)", rate: 1e6 / median(costs, on),
              baseline: 1e6 / median(costs, off), target: 0.97),
          ]
        }
    }

    private static func measure(
      _ depth: Int, isObserved: Bool
    ) async throws -> RequestLoad.Result {
      try await serve(isObserved: isObserved) { server in
        let observer = isObserved ? Task.detached { try await observe(server.port) } : nil
        let result = try await RequestLoad(
          clients: clients, depth: depth, language: .tree(depth: depth)
        ).run(at: server, seconds: seconds)
        observer?.cancel()
        if let reads = try await observer?.value, reads == 0 {
          throw BenchFailure(reason: "no metrics were read")
        }
        return result
      }
    }

    private static func serve<R>(
      isObserved: Bool, _ body: (ChildServer) async throws -> R
    ) async throws -> R {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server =
        isObserved
        ? try ChildServer.tree(in: folder.path, ServedTree.observed)
        : try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      return try await body(server)
    }

    /// Reads the metrics until it is cancelled, over a connection of its own that is kept. The
    /// reader takes as little as possible from the processors that all share here: a scraper is
    /// another machine.
    ///
    /// - Returns: The number of readings.
    private static func observe(_ port: Int) async throws -> Int {
      var pages = 0
      do {
        try await PageReader(page, at: port).read { count in
          pages = count
          try? await Task.sleep(for: pause)
          return !Task.isCancelled
        }
      } catch {
        if !Task.isCancelled { throw error }
      }
      return pages
    }

    /// Processor time of a server for one page, and for the answer to a read of one value beside
    /// it, in microseconds.
    private static func pageCosts() async throws -> (page: Double, value: Double) {
      try await serve(isObserved: true) { server in
        var costs: [Double] = []
        for path in [page, "/nothing.json"] {
          try await PageReader(path, at: server.port).read { $0 < pages / 10 }
          let busy = server.processorSeconds
          try await PageReader(path, at: server.port).read { $0 < pages }
          costs.append((server.processorSeconds - busy) * 1e6 / Double(pages))
        }
        return (costs[0], costs[1])
      }
    }
  }
#endif
