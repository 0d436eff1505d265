#if TCP && canImport(Glibc)
  import Dispatch
  import TernServer
  import TernTransport
  import TernTransportTCP
  import Testing

  @testable import TernGateway

  /// Bytes after which a connection ends.
  private let beginnings: [(name: String, bytes: String)] = [
    ("nothing", ""),
    ("half a preamble", "TERN"),
    ("a preamble", "TERN\0\0\0\u{1}"),
    ("half a frame", "TERN\0\0\0\u{1}\0\0\0\u{9}{\"t\""),
    ("half a head", "GET /a.json HTTP/1.1\r\nHost: local"),
    ("half a body", "PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"),
    ("a request", "GET /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ("a stream", "GET /a.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"),
    ("an upgrade", upgrade),
    ("an upgrade and half a frame", upgrade + "\u{1}"),
    ("no HTTP", "\u{3}\0\0\u{13}"),
  ]

  private let upgrade =
    "GET /.ws?v=5 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

  @Suite("Endings of connections") struct EndingsTests {
    /// Connections of each kind, for a server that looks at them when they have ended.
    private func end(_ count: Int, by end: (Peer) -> Void, at gateway: GatewayUnderTest) throws {
      let blocked = DispatchSemaphore(value: 0)
      let goOn = DispatchSemaphore(value: 0)
      // The server's thread waits, so that it finds every connection ended already.
      gateway.transport.enqueue {
        blocked.signal()
        goOn.wait()
      }
      blocked.wait()
      defer { goOn.signal() }
      for _ in 0..<count {
        for beginning in beginnings {
          let peer = try gateway.connect()
          peer.send(Array(beginning.bytes.unicodeScalars.map { UInt8($0.value) }))
          end(peer)
        }
      }
    }

    @Test("no connection leaves a link, a session or a slot, however it ends")
    func leftovers() async throws {
      var limits = GatewayLimits()
      limits.lingerSeconds = 1
      try await withGateway(limits: limits) { gateway in
        for _ in 0..<4 {
          try end(25, by: { $0.reset() }, at: gateway)
          // Closed with a goodbye: the peers are let go by the time the next round begins.
          try end(25, by: { _ in }, at: gateway)
        }
        let deadline = ContinuousClock.now + .seconds(300)
        var left: [Int] = [-1]
        while left != [0, 0, 0], ContinuousClock.now < deadline {
          // An answer comes after everything that waited before it.
          _ = try gateway.exchange(get("/a.json"))
          left = await [
            gateway.server.linkCount, gateway.server.sessionCount, gateway.server.slotsInUse,
          ]
        }
        #expect(left == [0, 0, 0], "links, sessions, slots")
      }
    }
  }
#endif
