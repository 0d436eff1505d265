#if TCP
  import TernTransport
  import TernTransportTCP

  /// The cost of a connection to a server while nothing happens on it.
  enum IdleLinks {
    /// Opens `count` links to a relay and prints how much its memory grew by each.
    static func run(count: Int = 10_000) async throws {
      let server = try ChildServer.relay()
      defer { server.stop() }
      let transport = try TCPPlugin.open(TCPOptions(port: server.port))
      // The first links also pay for code that was never run before.
      try await open(100, transport)
      let before = server.residentBytes
      try await open(count, transport)
      let after = server.residentBytes
      print("idle links: \(count), \((after - before) / count) bytes each at the server")
      await transport.shutdown()
    }

    private static func open(_ count: Int, _ transport: any Transport) async throws {
      for _ in 0..<count {
        let link = try await transport.connect { _ in IdleHandler() }
        link.send([UInt8(ascii: "s")])
        link.flush()
      }
    }
  }

  private final class IdleHandler: LinkHandler {
    func linkDidReceive(_ frames: [[UInt8]]) {}
    func linkDidClose(_ reason: LinkClosure) {}
  }
#endif
