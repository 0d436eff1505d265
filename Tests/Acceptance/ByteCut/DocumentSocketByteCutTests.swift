#if TCP
  import Foundation
  import TernClient
  import TernCore
  import TernLedger
  import TernServer
  import TernStorageMemory
  import TernSync
  import TernTransportTCP
  import Testing

  /// One session of every kind of write to documents over real sockets, cut after every few bytes
  /// of either direction. Which bytes is chosen anew in every run, and printed.
  @Suite struct DocumentSocketByteCutTests {
    /// How many bytes lie between two cuts.
    private static let stride = 7
    /// Set this in the environment to cut again where an earlier run did.
    private static let variable = "TERN_BYTE_CUT_OFFSET"

    @Test(
      "a socket cut after any byte loses no write to documents and repeats none",
      .timeLimit(.minutes(3)), arguments: CutProxy.Way.allCases)
    func everyCut(way: CutProxy.Way) async throws {
      var chance = SystemRandomNumberGenerator()
      let chosen = ProcessInfo.processInfo.environment[Self.variable].flatMap { Int($0) }
      let first = chosen ?? Int.random(in: 0..<Self.stride, using: &chance)
      print("cutting documents \(way) from byte \(first): \(Self.variable)=\(first)")

      let table = try await DocumentCutTable()
      try await table.play("whole")
      let length = table.proxy.carried(way)
      #expect(length > 500)
      var cuts = 0
      for bytes in Swift.stride(from: first, to: length, by: Self.stride) {
        table.proxy.cut(way, after: bytes)
        try await table.play("\(way)\(bytes)")
        if table.proxy.hasCut { cuts += 1 }
      }
      // A session's last bytes may go missing unnoticed: how much is said varies a little.
      #expect(cuts * 10 > length / Self.stride * 9, "\(cuts) cuts in \(length) bytes")
      try await table.close()
    }
  }

  /// A server, a proxy before it, and a client beside the proxy that sees what became of a session.
  private struct DocumentCutTable {
    let proxy = CutProxy()
    private let server: TernServer
    private let transports: [TCPTransport]
    private let inspector: Documents
    private let database: DocumentDatabase

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
      database = try DocumentDatabase(projectID: "cut")
      inspector = try Self.client(database, over: direct)
    }

    private static func client(
      _ database: DocumentDatabase, over transport: TCPTransport
    ) throws -> Documents {
      let parts = DocumentParts(database: database, queue: MemoryStore(), cache: MemoryStore())
      return try Documents.open(parts, over: transport, ambient: .hurried)
    }

    func close() async throws {
      await inspector.terminate()
      await server.stop()
      for transport in transports { await transport.shutdown() }
      try await proxy.close()
    }

    /// Plays the session with a client of its own, and looks at what the server has then.
    func play(_ name: String) async throws {
      let client = try Self.client(database, over: transports[0])
      let eager = DocumentCutSession.eager(client)
      try await DocumentCutSession.play(client, in: name)
      eager.cancel()
      await client.terminate()
      let found = try await DocumentCutSession.found(inspector, in: name)
      #expect(found == DocumentCutSession.expected, "\(name)")
    }
  }
#endif
