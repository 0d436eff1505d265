#if TCP && os(Linux)
  /// The time from the acknowledgement of a write at the leader's client to its event at a listener
  /// of a node that follows.
  struct ClusterLag {
    private static let perSecond = 1_000
    private static let seconds = 5
    private static let limitMilliseconds = 20.0

    let section: ClusterSection

    func lines() async throws -> [BenchLine] {
      try await section.withCluster(of: 2) { cluster in
        let leader = try await cluster.awaitLeader()
        var lags: [Double] = []
        for _ in 0..<section.rounds {
          let count = Self.perSecond * Self.seconds
          var probe = try WriteProbe(
            at: cluster.port(leader), listening: cluster.port(1 - leader), valueBytes: 100)
          let pause = Duration.seconds(1) / Self.perSecond
          // The first second also pays for code that was never run before.
          try probe.run(Self.perSecond, every: pause)
          let time = try probe.run(count, every: pause)
          print("writes/s acknowledged: \(Int(Double(count) / (time / .seconds(1))))")
          lags += probe.lags.dropFirst(Self.perSecond).map { $0 / .milliseconds(1) }
        }
        lags.sort()
        let p99 = lags[lags.count * 99 / 100]
        print(
          "lag of a follower, ms: p50 \(BenchLine.tenths(lags[lags.count / 2])), p99",
          "\(BenchLine.tenths(p99)), most \(BenchLine.tenths(lags[lags.count - 1]))")
        return [
          BenchLine(
            name: "lag of a follower, p99 ms", rate: p99, baseline: Self.limitMilliseconds,
            target: 1, isCost: true)
        ]
      }
    }
  }
#endif
