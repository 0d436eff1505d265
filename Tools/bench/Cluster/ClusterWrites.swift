#if TCP && os(Linux)
  /// Durable writes through one shard, of clients at the leader and at a node that follows.
  struct ClusterWrites {
    private static let clients = 64
    /// Writes that each client has under way: as many as our own keeps there, and one.
    private static let depths = [16, 1]
    private static let seconds = 3.0
    private static let valueBytes = 100
    /// Writes of the one client that waits for each.
    private static let single = 500
    private static let aim = 10_000.0

    let section: ClusterSection
    /// True for the lines of the leader beside libpq.
    let withBaseline: Bool
    /// True for the lines of a node that follows.
    let atFollower: Bool
    private var figures: [String: [Double]] = [:]

    init(section: ClusterSection, withBaseline: Bool, atFollower: Bool) {
      (self.section, self.withBaseline, self.atFollower) = (section, withBaseline, atFollower)
    }

    func run(rounds: Int) async throws -> [BenchLine] {
      try await section.withCluster(of: 2) { cluster in
        var writes = self
        let leader = try await cluster.awaitLeader()
        for _ in 0..<rounds { try await writes.measure(cluster, leader) }
        return writes.lines
      }
    }

    private mutating func measure(_ cluster: BenchCluster, _ leader: Int) async throws {
      if withBaseline { try measureBare(cluster, leader) }
      for depth in Self.depths {
        let load = RequestLoad(
          clients: Self.clients, depth: depth, language: .tree(depth: depth))
        for (name, node) in [("leader", leader), ("follower", 1 - leader)] {
          if node != leader, !atFollower { continue }
          let result = try await load.run(at: cluster.server(node), seconds: Self.seconds)
          note("\(name) \(depth)", result.writesPerSecond)
          print(
            "by \(depth) at the \(name): \(Int(result.writesPerSecond)) writes/s; processor time,",
            "µs a write of the node: \(BenchLine.tenths(result.serverMicroseconds))")
        }
      }
      guard try await cluster.awaitLeader() == leader else {
        throw BenchFailure(reason: "another node leads")
      }
    }

    private mutating func note(_ name: String, _ rate: Double) {
      figures[name, default: []].append(rate)
    }

    /// The loops over libpq, and the one client whose delays are compared with theirs.
    private mutating func measureBare(_ cluster: BenchCluster, _ leader: Int) throws {
      let bare = try BarePostgres(section.connection)
      let start = ContinuousClock.now
      var batches = 0
      while ContinuousClock.now - start < .seconds(Self.seconds) {
        try bare.append(rows: Self.clients, bytes: Self.valueBytes)
        batches += 1
      }
      note("loop", Double(batches * Self.clients) / ((ContinuousClock.now - start) / .seconds(1)))
      var delays: [Double] = []
      for _ in 0..<Self.single {
        let start = ContinuousClock.now
        try bare.appendInOrder(bytes: Self.valueBytes)
        delays.append((ContinuousClock.now - start) / .milliseconds(1))
      }
      note("bare p50", BenchLine.median(delays))
      try bare.finish()
      var writer = try WriteProbe(at: cluster.port(leader), valueBytes: Self.valueBytes)
      try writer.run(Self.single, every: nil)
      note("p50", BenchLine.median(writer.delays.map { $0 / .milliseconds(1) }))
    }

    private var lines: [BenchLine] {
      let medians = figures.mapValues(BenchLine.median)
      func line(_ name: String, _ ours: String, _ baseline: Double, _ target: Double) -> BenchLine {
        BenchLine(name: name, rate: medians[ours] ?? 0, baseline: baseline, target: target)
      }
      var lines: [BenchLine] = []
      if withBaseline {
        lines += Self.depths.map { depth in
          line(
            "64 clients by \(depth): loop of 64 rows", "leader \(depth)", medians["loop"] ?? 0, 0.5)
        }
        lines.append(line("64 clients by 16: the aim", "leader 16", Self.aim, 1))
        var delay = line("one client, p50 ms: two statements", "p50", medians["bare p50"] ?? 0, 2)
        delay.isCost = true
        lines.append(delay)
      }
      if atFollower {
        lines += Self.depths.map { depth in
          line(
            "at a follower by \(depth): at the leader", "follower \(depth)",
            medians["leader \(depth)"] ?? 0, 0.7)
        }
      }
      return lines
    }
  }
#endif
