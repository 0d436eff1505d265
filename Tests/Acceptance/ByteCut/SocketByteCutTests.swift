#if TCP
  import TernClient
  import TernCore
  import TernStorageMemory
  import TernSync
  import TernTransactions
  import TernTransport
  import Testing

  /// One session of every kind of write to the tree over real sockets, cut after every few bytes
  /// of either direction.
  @Suite struct SocketByteCutTests {
    @Test(
      "a socket cut after any byte loses no write and repeats none", .timeLimit(.minutes(30)),
      arguments: CutProxy.Way.allCases)
    func everyCut(way: CutProxy.Way) async throws {
      let table = try await CutTable()
      let inspector = try client(over: table.direct)
      try await table.cutEverywhere(way, every: 5, least: 1_000) { name in
        let writer = try client(over: table.cut)
        let eager = Task {
          for await state in writer.tree.connection where state == .waiting {
            await writer.tree.goOnline()
          }
        }
        try await write(writer.tree[name])
        eager.cancel()
        await writer.close()
        try expectAll(in: try await inspector.tree[name].get().node, name)
      }
      await inspector.close()
      try await table.close()
    }

    private func client(over transport: any Transport) throws -> TernDatabase {
      var options = ClientOptions()
      options.readPatience = .seconds(120)
      return try TernDatabase.open(
        ClientParts(queue: MemoryStore(), cache: nil, transport: transport), options: options)
    }

    private func expectAll(in found: TreeNode, _ name: String) throws {
      var expected: TreeNode = ["a": 3, "b": ["x": 1, "y": ["z": 2]], "count": 6, "taps": 2]
      let log = found.child(try TreeKey("log"))
      expected.setChild(try TreeKey("log"), log)
      #expect(found == expected, "\(name)")
      #expect(log.children.map { $0.node } == ["one", "two"], "\(name)")
    }

    /// Every kind of write, and the server's verdict on each.
    private func write(_ place: TreeReference) async throws {
      var writes = [try await place["a"].set(1)]
      writes.append(try await place["b"].update(["x": 1, "y/z": 2]))
      for delta in 1...3 as ClosedRange<Int64> {
        writes.append(try await place["count"].increment(by: .integer(delta)))
      }
      writes.append(try await place["a"].set(3))
      for text in ["one", "two"] {
        writes.append(try await place["log"].push(TreeNode(.string(text))).write)
      }
      for _ in 1...2 {
        let result = try await place["taps"].transaction { node in
          node = TreeNode(.integer(Int64(node.scalar?.number ?? 0) + 1))
          return true
        }
        guard case .committed = result else { throw TransactionError.cancelled }
      }
      for write in writes { try await write.acknowledged() }
    }
  }
#endif
