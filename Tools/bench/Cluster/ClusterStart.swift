#if TCP && os(Linux)
  import TernCore
  import TernQuery
  import TernTransport
  import TernTransportTCP
  import TernTreeWire

  /// The time in which a node without a copy is ready.
  struct ClusterStart {
    private static let limitMilliseconds = 20_000.0
    private static let leavesPerWrite = 1_000

    let section: ClusterSection

    private var leaves: Int { max(Self.leavesPerWrite, section.rows) }

    func lines() async throws -> [BenchLine] {
      try await section.withCluster(of: 1) { cluster in
        try await fill(at: cluster.port(0))
        try await cluster.awaitCheckpoint()
        var times: [Double] = []
        for _ in 0..<section.rounds {
          let node = try cluster.add()
          let start = ContinuousClock.now
          try cluster.start(node)
          try await cluster.awaitReady(node)
          times.append((ContinuousClock.now - start) / .milliseconds(1))
          try await check(at: cluster.port(node))
          cluster.stop(node)
          try cluster.forget(node)
        }
        print(
          "ready on \(leaves) leaves after",
          times.map { BenchLine.tenths($0) }.joined(separator: ", "), "ms")
        return [
          BenchLine(
            name: "a new node ready, ms", rate: BenchLine.median(times),
            baseline: Self.limitMilliseconds, target: 1, isCost: true)
        ]
      }
    }

    private func fill(at port: Int) async throws {
      let transport = try TCPPlugin.open(TCPOptions(port: port))
      var client = try await FrameClient(transport)
      for group in 0..<(leaves / Self.leavesPerWrite) {
        let children = (0..<Self.leavesPerWrite).map { number in
          (key: TreeKey(unchecked: "\(number)"), node: TreeNode(.string(Self.leaf(group, number))))
        }
        let node = TreeNode(children: ChildMap(unsorted: children))
        _ = try await client.request(
          .put(try TreePath("big/\(group)"), node, expectedHash: nil, WriteHeader()))
      }
      await transport.shutdown()
    }

    /// Reads the last leaf from the new node.
    private func check(at port: Int) async throws {
      let transport = try TCPPlugin.open(TCPOptions(port: port))
      var client = try await FrameClient(transport)
      let (group, number) = (leaves / Self.leavesPerWrite - 1, Self.leavesPerWrite - 1)
      let response = try await client.request(.get(try TreePath("big/\(group)/\(number)"), .all))
      let text = String(decoding: response.payload, as: UTF8.self)
      await transport.shutdown()
      guard text.contains(Self.leaf(group, number)) else {
        throw BenchFailure(reason: "the new node has \(text)")
      }
    }

    private static func leaf(_ group: Int, _ number: Int) -> String {
      "leaf \(group * leavesPerWrite + number)"
    }
  }
#endif
