#if TCP && os(Linux)
  /// One writer at the leader, and many listeners: all at the one node that there is, or over two
  /// nodes that follow.
  struct ClusterFanOut {
    private static let listeners = 2_000
    private static let messages = 1_000

    let section: ClusterSection

    func lines() async throws -> [BenchLine] {
      var rates: [String: [Double]] = [:]
      var busiest: [String: [Double]] = [:]
      for _ in 0..<section.rounds {
        for (name, count) in [("one node", 1), ("two followers", 3)] {
          let result = try await measure(nodes: count)
          rates[name, default: []].append(result.deliveriesPerSecond)
          busiest[name, default: []].append(result.busiestNanoseconds)
        }
      }
      func median(_ values: [String: [Double]], _ name: String) -> Double {
        BenchLine.median(values[name] ?? [0])
      }
      // With fewer cores than processes, this tells more than the rates.
      print(
        "processor time of the busiest node, ns an event: one node",
        "\(Int(median(busiest, "one node"))), two followers",
        Int(median(busiest, "two followers")))
      return [
        BenchLine(
          name: "events over two followers: one node", rate: median(rates, "two followers"),
          baseline: median(rates, "one node"), target: 1.5)
      ]
    }

    private func measure(nodes: Int) async throws -> FanOutClient.Result {
      try await section.withCluster(of: nodes) { cluster in
        let leader = try await cluster.awaitLeader()
        let followers = (0..<nodes).filter { $0 != leader }
        let client = FanOutClient(
          server: try cluster.server(leader),
          listening: followers.isEmpty ? nil : try followers.map(cluster.server),
          subscribers: Self.listeners, language: try FanOutProtocol.tree(payloadBytes: 100))
        return try await client.run(messages: Self.messages, paced: 20, perSecond: 20)
      }
    }
  }
#endif
