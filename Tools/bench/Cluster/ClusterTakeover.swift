#if TCP && os(Linux)
  import TernClient
  import TernStorageMemory
  import TernTransport

  /// The time that clients which know all nodes wait for an acknowledgement when another node
  /// begins to lead.
  struct ClusterTakeover {
    private static let nodes = 3
    private static let killLimitMilliseconds = 5_000.0
    private static let stepDownLimitMilliseconds = 300.0
    /// Clients of a leader that steps down.
    private static let clients = 9
    private static let standardRounds = 10

    let section: ClusterSection

    private var rounds: Int { section.givenRounds ?? Self.standardRounds }

    func lines() async throws -> [BenchLine] {
      try await section.withCluster(of: Self.nodes) { cluster in
        try await kills(cluster) + stepDowns(cluster)
      }
    }

    // MARK: The leader is killed

    private func kills(_ cluster: BenchCluster) async throws -> [BenchLine] {
      var slowest: [Double] = []
      for _ in 0..<rounds { slowest.append(try await kill(cluster)) }
      slowest.sort()
      let p99 = slowest[slowest.count * 99 / 100]
      print(
        "\(rounds) leaders killed, ms to the next acknowledgement of the slowest client: least",
        "\(BenchLine.tenths(slowest[0])), p50 \(BenchLine.tenths(slowest[slowest.count / 2])), p99",
        BenchLine.tenths(p99))
      return [
        BenchLine(
          name: "leader killed, p99 ms", rate: p99, baseline: Self.killLimitMilliseconds,
          target: 1, isCost: true)
      ]
    }

    /// Kills the leader, and starts it again.
    ///
    /// - Returns: Milliseconds until each client, one at each node, had an acknowledgement of a
    ///   write that it began after the kill.
    private func kill(_ cluster: BenchCluster) async throws -> Double {
      let leader = try await cluster.awaitLeader()
      var slowest = Duration.zero
      try await withWriters(Self.nodes, cluster) { log in
        let start = ContinuousClock.now
        cluster.kill(leader)
        for client in 0..<Self.nodes {
          let end = try await log.acknowledgement(of: client, begunAfter: start)
          slowest = max(slowest, end - start)
        }
      }
      cluster.stop(leader)
      try cluster.start(leader)
      return slowest / .milliseconds(1)
    }

    // MARK: The leader steps down

    private func stepDowns(_ cluster: BenchCluster) async throws -> [BenchLine] {
      var gaps: [Double] = []
      // The slowest write of each client, by the part of the node at which it began.
      var slowest: [String: [Double]] = [:]
      var (writes, failures) = (0, 0)
      for _ in 0..<rounds {
        let leader = try await cluster.awaitLeader()
        var next = leader
        let log = try await withWriters(Self.clients, cluster) { log in
          let words = try await cluster.stepDown()
          next = cluster.ports.firstIndex { words == "127.0.0.1:\($0) leads" } ?? leader
          guard next != leader else {
            throw BenchFailure(reason: "the leader did not step down: \(words)")
          }
          let moved = ContinuousClock.now
          for client in 0..<Self.clients {
            _ = try await log.acknowledgement(of: client, begunAfter: moved)
          }
        }
        gaps.append(log.longestGap / .milliseconds(1))
        for (client, time) in log.longestWrites.enumerated() {
          let node = client % Self.nodes
          let part = node == leader ? "leader" : node == next ? "next" : "follower"
          slowest[part, default: []].append(time / .milliseconds(1))
        }
        writes += log.count + log.failures.count
        failures += log.failures.count
        if let first = log.failures.first { print("an error at a client: \(first)") }
      }
      gaps.sort()
      let p99 = gaps[gaps.count * 99 / 100]
      print(
        "\(rounds) leaders stepped down, ms: without an acknowledgement p50",
        "\(BenchLine.tenths(gaps[gaps.count / 2])), p99 \(BenchLine.tenths(p99))")
      for (part, name) in [
        ("leader", "the old leader"), ("next", "the next one"), ("follower", "the other node"),
      ] {
        let times = slowest[part] ?? [0]
        print(
          "the slowest write of clients at \(name), ms: p50",
          "\(BenchLine.tenths(BenchLine.median(times))), most",
          BenchLine.tenths(times.max() ?? 0))
      }
      return [
        BenchLine(
          name: "leader stepped down, gap p99 ms", rate: p99,
          baseline: Self.stepDownLimitMilliseconds, target: 1, isCost: true),
        BenchLine(
          name: "stepped down: slowest write, ms", rate: slowest.values.joined().max() ?? 0,
          baseline: Self.stepDownLimitMilliseconds, target: 1, isCost: true),
        BenchLine(
          name: "stepped down: writes without error", rate: Double(writes - failures),
          baseline: Double(writes), target: 1),
      ]
    }

    // MARK: Clients

    /// Lets clients write, each beginning at another node, while `body` runs: each one write after
    /// the other. All have had an acknowledgement before.
    @discardableResult
    private func withWriters(
      _ count: Int, _ cluster: BenchCluster, _ body: (WriteLog) async throws -> Void
    ) async throws -> WriteLog {
      let log = WriteLog(clients: count)
      var databases: [TernDatabase] = []
      for client in 0..<count {
        let transport = try cluster.transport(first: client)
        var parts = ClientParts(queue: MemoryStore(), cache: nil, transport: transport)
        parts.whenClosed = { await transport.shutdown() }
        databases.append(try TernDatabase.open(parts))
      }
      let tasks = databases.enumerated().map { client, database in
        Task { await log.write(as: client, on: database) }
      }
      let result: Result<Void, any Error>
      do {
        let start = ContinuousClock.now
        for client in 0..<count {
          _ = try await log.acknowledgement(of: client, begunAfter: start)
        }
        log.begin()
        result = .success(try await body(log))
      } catch {
        result = .failure(error)
      }
      log.end()
      for database in databases { await database.close() }
      for task in tasks { await task.value }
      try result.get()
      return log
    }
  }
#endif
