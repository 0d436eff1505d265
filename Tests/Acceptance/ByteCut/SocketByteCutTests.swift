#if TCP
  import Foundation
  import TernClient
  import TernCore
  import TernLedger
  import TernServer
  import TernStorageMemory
  import TernSync
  import TernTransactions
  import TernTransportTCP
  import Testing

  /// One session of every kind of write over real sockets, cut after every few bytes of either
  /// direction. Which bytes is chosen anew in every run, and printed.
  @Suite struct SocketByteCutTests {
    /// How many bytes lie between two cuts.
    private static let stride = 5
    /// Set this in the environment to cut again where an earlier run did.
    private static let variable = "TERN_BYTE_CUT_OFFSET"

    @Test(
      "a socket cut after any byte loses no write and repeats none", .timeLimit(.minutes(2)),
      arguments: CutProxy.Way.allCases)
    func everyCut(way: CutProxy.Way) async throws {
      var chance = SystemRandomNumberGenerator()
      let chosen = ProcessInfo.processInfo.environment[Self.variable].flatMap { Int($0) }
      let first = chosen ?? Int.random(in: 0..<Self.stride, using: &chance)
      print("cutting \(way) from byte \(first): \(Self.variable)=\(first)")

      let table = try await CutTable()
      try await table.play("whole")
      let length = table.proxy.carried(way)
      #expect(length > 1_000)
      var cuts = 0
      for bytes in Swift.stride(from: first, to: length, by: Self.stride) {
        table.proxy.cut(way, after: bytes)
        try await table.play("\(way) \(bytes)")
        if table.proxy.hasCut { cuts += 1 }
      }
      // A session's last bytes may go missing unnoticed: how much is said varies a little.
      #expect(cuts * 10 > length / Self.stride * 9, "\(cuts) cuts in \(length) bytes")
      try await table.close()
    }
  }

  /// A server, a proxy before it, and a client beside the proxy that sees what became of a session.
  private struct CutTable {
    let proxy = CutProxy()
    private let server: TernServer
    private let transports: [TCPTransport]
    private let inspector: Tern

    init() async throws {
      let ledger = try EmbeddedLedger(
        store: MemoryStore(), millisecondsSinceEpoch: Ambient.system.millisecondsSinceEpoch)
      let home = try TCPTransport(TCPOptions(port: 0))
      server = try await TernServer(ledger: ledger, on: home)
      let address = try await server.listen(on: home)
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      let direct = try TCPTransport(TCPOptions(port: port))
      let cut = try TCPTransport(TCPOptions(port: try await proxy.open(to: port)))
      transports = [cut, direct, home]
      inspector = try Tern.open(
        ClientParts(queue: MemoryStore(), cache: nil, transport: direct))
    }

    func close() async throws {
      await inspector.close()
      await server.stop()
      for transport in transports { await transport.shutdown() }
      try await proxy.close()
    }

    /// Plays the session with a client of its own, and looks at what the server has then.
    func play(_ name: String) async throws {
      let client = try Tern.open(
        ClientParts(queue: MemoryStore(), cache: nil, transport: transports[0]))
      let eager = Task {
        for await state in client.tree.connection where state == .waiting {
          await client.tree.goOnline()
        }
      }
      try await Self.write(client.tree[name])
      eager.cancel()
      await client.close()
      let found = try await inspector.tree[name].get().node
      var expected: TreeNode = ["a": 3, "b": ["x": 1, "y": ["z": 2]], "count": 6, "taps": 2]
      let log = found.child(try TreeKey("log"))
      expected.setChild(try TreeKey("log"), log)
      #expect(found == expected, "\(name)")
      #expect(log.children.map { $0.node } == ["one", "two"], "\(name)")
    }

    /// Every kind of write, and the server's verdict on each.
    private static func write(_ place: TreeReference) async throws {
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
