#if TCP
  import Foundation
  import TernLedger
  import TernServer
  import TernStorageMemory
  import TernSync
  import TernTransportTCP
  import Testing

  /// A server, a proxy before it that cuts sockets, and a way beside the proxy for a client that
  /// looks at what became of a session.
  struct CutTable {
    /// Goes through the proxy.
    let cut: TCPTransport
    /// Goes beside it.
    let direct: TCPTransport
    private let proxy = CutProxy()
    private let home: TCPTransport
    private let server: TernServer
    /// Set this in the environment to cut again where an earlier run did.
    private static let variable = "TERN_BYTE_CUT_OFFSET"

    init() async throws {
      let ledger = try EmbeddedLedger(
        store: MemoryStore(), uptime: RuntimeEnvironment.system.stopwatch())
      home = try TCPTransport(TCPOptions(port: 0))
      server = try await TernServer(ledger: ledger, on: home)
      let address = try await server.listen(on: home)
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      direct = try TCPTransport(TCPOptions(port: port))
      cut = try TCPTransport(TCPOptions(port: try await proxy.open(to: port)))
    }

    func close() async throws {
      await server.stop()
      for transport in [cut, direct, home] { await transport.shutdown() }
      try await proxy.close()
    }

    /// Plays a session whole, and then once for every `stride` bytes that it sent one way, cut
    /// there. Which bytes is chosen anew in every run, and printed.
    ///
    /// - Parameters:
    ///   - least: The bytes that a whole session sends at the least, so that there is what to cut.
    ///   - play: Plays the session under a name of its own, and checks what the server has then.
    func cutEverywhere(
      _ way: CutProxy.Way, every stride: Int, least: Int, _ play: (String) async throws -> Void
    ) async throws {
      var chance = SystemRandomNumberGenerator()
      let chosen = ProcessInfo.processInfo.environment[Self.variable].flatMap { Int($0) }
      let first = chosen ?? Int.random(in: 0..<stride, using: &chance)
      print("cutting \(way) every \(stride) bytes: \(Self.variable)=\(first)")

      try await play("whole")
      let length = proxy.carried(way)
      #expect(length > least)
      var cuts = 0
      for bytes in Swift.stride(from: first, to: length, by: stride) {
        proxy.cut(way, after: bytes)
        try await play("\(way)\(bytes)")
        if proxy.hasCut { cuts += 1 }
      }
      // A session's last bytes may go missing unnoticed: how much is said varies a little.
      #expect(cuts * 10 > length / stride * 9, "\(cuts) cuts in \(length) bytes")
    }
  }
#endif
