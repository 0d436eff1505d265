#if TCP
  import Foundation

  /// The cost of being looked at: the writes of 64 clients at a server whose metrics are read ten
  /// times a second and whose access log is on, beside one that none of this is asked of.
  ///
  /// Counting itself is always on; it is what both do.
  struct MetricsSection {
    private static let clients = 64
    private static let depths = [16, 1]
    private static let seconds = 4.0
    private static let pause = Duration.milliseconds(100)

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
      return Self.depths.flatMap { depth in
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
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server =
        isObserved
        ? try ChildServer.tree(in: folder.path, ServedTree.observed)
        : try ChildServer.tree(in: folder.path)
      defer { server.stop() }
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

    /// Reads the metrics until it is cancelled.
    ///
    /// - Returns: The number of readings.
    private static func observe(_ port: Int) async throws -> Int {
      var count = 0
      while !Task.isCancelled {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
          "curl", "--silent", "--fail", "--output", "/dev/null",
          "http://127.0.0.1:\(port)/-/metrics",
        ]
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus == 0 { count += 1 }
        try? await Task.sleep(for: pause)
      }
      return count
    }
  }
#endif
