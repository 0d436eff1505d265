#if TCP
  import Foundation

  /// One publisher, many subscribers: this transport against redis-server, one client program.
  enum FanOut {
    private static let subscribers = 1000
    private static let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 100)

    /// Measures both in turn and prints a line for each, and their ratio.
    static func run(messages: Int = 3000, rounds: Int = 3) async throws {
      var best: [String: FanOutClient.Result] = [:]
      for round in 0..<rounds {
        for server in ["tern", "redis"] {
          let result = try await measure(server, messages, paced: round == 0 ? 200 : 50)
          let isBetter =
            (best[server]?.deliveriesPerSecond ?? 0) < result.deliveriesPerSecond
          if isBetter { best[server] = result }
        }
      }
      guard let tern = best["tern"], let redis = best["redis"] else { return }
      report("tern transport", tern)
      report("redis-server", redis)
      let ratio = tern.deliveriesPerSecond / redis.deliveriesPerSecond
      print("fan-out ratio, transport to redis: \(String(format: "%.2f", ratio))")
    }

    private static func report(_ name: String, _ result: FanOutClient.Result) {
      let times = result.latencies.map { $0 / .microseconds(1) }
      let line = String(
        format: "fan-out to %d, %d bytes: %.2f M deliveries/s; at 50/s p50 %.0f us, p99 %.0f us",
        subscribers, payload.count, result.deliveriesPerSecond / 1e6, times[times.count / 2],
        times[times.count * 99 / 100])
      print("\(name): \(line)")
    }

    private static func measure(
      _ server: String, _ messages: Int, paced: Int
    ) async throws -> FanOutClient.Result {
      let process = try server == "tern" ? ChildServer.relay() : ChildServer.redis()
      defer { process.stop() }
      let language =
        server == "tern"
        ? FanOutProtocol.relay(payload: payload) : FanOutProtocol.redis(payload: payload)
      let client = FanOutClient(server: process, subscribers: subscribers, language: language)
      return try await client.run(messages: messages, paced: paced, perSecond: 50)
    }
  }
#endif
