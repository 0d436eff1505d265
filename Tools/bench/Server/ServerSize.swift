#if TCP
  import TernCore
  import TernQuery
  import TernTransport
  import TernTransportTCP
  import TernTreeWire

  /// The cost of an idle server, and the time of its start.
  enum ServerSize {
    static func run() async throws {
      try await idle(10_000)
      try await start(leaves: 1_000_000)
    }

    /// Opens `count` sessions and prints how much the server's memory grew by each.
    private static func idle(_ count: Int) async throws {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let transport = try TCPPlugin.open(TCPOptions(port: server.port))
      var clients: [FrameClient] = []
      // The first ones also pay for code that was never run before.
      for _ in 0..<100 { clients.append(try await FrameClient(transport)) }
      let before = server.residentBytes
      for _ in 0..<count { clients.append(try await FrameClient(transport)) }
      let bytes = (server.residentBytes - before) / count
      print("idle sessions: \(count), \(bytes) bytes each at the server, limit 20480")
      await transport.shutdown()
    }

    /// Fills a store, then measures from starting a server's process to its first answer.
    private static func start(leaves: Int) async throws {
      let folder = try BenchFolder()
      defer { folder.remove() }
      try await fill(folder.path, leaves)
      for round in 1...3 {
        let clock = ContinuousClock()
        let start = clock.now
        let server = try ChildServer.tree(in: folder.path)
        let listening = clock.now
        let transport = try TCPPlugin.open(TCPOptions(port: server.port))
        var client = try await FrameClient(transport)
        let response = try await client.request(.get(try TreePath("big/500/77"), .all))
        let answered = clock.now
        use(response.payload.count)
        print(
          "start on \(leaves) leaves, round \(round): listening after",
          "\((listening - start) / .milliseconds(1)) ms, first read answered after",
          "\((answered - start) / .milliseconds(1)) ms, limit 100")
        await transport.shutdown()
        server.stop()
      }
    }

    private static func fill(_ folder: String, _ leaves: Int) async throws {
      let server = try ChildServer.tree(in: folder)
      defer { server.stop() }
      let transport = try TCPPlugin.open(TCPOptions(port: server.port))
      var client = try await FrameClient(transport)
      for group in 0..<(leaves / 1_000) {
        let children = (0..<1_000).map { number in
          (
            key: TreeKey(unchecked: "\(number)"),
            node: TreeNode(.string("leaf \(group * 1_000 + number)"))
          )
        }
        let node = TreeNode(children: ChildMap(unsorted: children))
        _ = try await client.request(
          .put(try TreePath("big/\(group)"), node, expectedHash: nil, WriteHeader()))
      }
      await transport.shutdown()
    }
  }
#endif
