#if TCP && canImport(Glibc)
  import TernClient
  import TernCore
  import TernStorageMemory
  import TernSync
  import TernTransport
  import TernTransportTCP
  import TernTransportWebSocket
  import Testing

  @testable import TernGateway

  /// Our own clients over WebSocket, at the port of everything else.
  @Suite("Links over WebSocket at the gateway") struct LinkTunnelTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    private static func request(
      path: String = "/.tern", protocols: String = "tern", others: String = ""
    ) -> String {
      "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \(key)\r\n"
        + "Sec-WebSocket-Protocol: \(protocols)\r\n\(others)\r\n"
    }

    private static func transport(to port: Int) throws -> WebSocketTransport {
      try WebSocketTransport(WebSocketOptions(TCPOptions(port: port)))
    }

    @Test("a client over WebSocket reads what a client over HTTP wrote, and is heard")
    func clients() async throws {
      try await withGateway { gateway in
        let transport = try Self.transport(to: gateway.port)
        let client = try TernDatabase.open(
          ClientParts(queue: MemoryStore(), cache: MemoryStore(), transport: transport))
        // Longer than one message of the tunnel, in both directions.
        let long = String(repeating: "long text, ", count: 40_000)
        let write = try await client.tree["a/long"].set(TreeNode(.string(long)))
        try await write.acknowledged()
        #expect(try gateway.exchange(get("/a/long.json")).hasSuffix("\"\(long)\""))
        let body = "\"over HTTP\""
        let stored = try gateway.exchange(
          "PUT /a/b.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        #expect(stored.hasPrefix("HTTP/1.1 200"))
        #expect(try await client.tree["a/b"].get().string == "over HTTP")
        #expect(try await client.tree["a/long"].get().string == long)
        await client.close()
        await transport.shutdown()
      }
    }

    @Test("a request of a web page, for another protocol, or without a key opens no link")
    func denied() async throws {
      try await withGateway { gateway in
        for (request, status) in [
          (Self.request(others: "Origin: http://127.0.0.1\r\n"), "403"),
          (Self.request(protocols: "chat"), "400"),
          (Self.request().replacing(Self.key, with: "short"), "400"),
          (Self.request().replacing("Version: 13", with: "Version: 8"), "426"),
          (Self.request().replacing("Upgrade: websocket", with: "Upgrade: h2c"), "400"),
          (Self.request(path: "/.terns"), "404"),
        ] {
          let peer = try gateway.connect()
          peer.send(request)
          #expect(peer.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 \(status)"), "\(request)")
        }
      }
    }

    @Test("frames without a mask, text and reserved kinds end the connection")
    func badFrames() async throws {
      try await withGateway { gateway in
        for (frame, code) in [
          ([0x82, 0x04] + Array("TERN".utf8), 1002),
          ([0x81, 0x81, 0, 0, 0, 0, 0x41], 1003),
          ([0xC2, 0x81, 0, 0, 0, 0, 0x41], 1002),
          ([0x83, 0x81, 0, 0, 0, 0, 0x41], 1002),
        ] as [([UInt8], Int)] {
          let peer = try gateway.connect()
          peer.send(Self.request())
          #expect(peer.read(through: "\r\n\r\n").contains("Sec-WebSocket-Protocol: tern"))
          // The server's half of the preamble of frames.
          #expect(peer.read(count: 10)?.suffix(8) == [0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1])
          peer.send(frame)
          #expect(peer.read(count: 4) == [0x88, 0x02, UInt8(code >> 8), UInt8(code & 0xFF)])
        }
      }
    }

    @Test("a ping is answered with its payload")
    func ping() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        peer.send(Self.request())
        _ = peer.read(through: "\r\n\r\n")
        _ = peer.read(count: 10)
        peer.send([0x89, 0x82, 0, 0, 0, 0, 0x68, 0x69] as [UInt8])
        #expect(peer.read(count: 4) == [0x8A, 0x02, 0x68, 0x69])
      }
    }

    @Test("a client that meets no WebSocket learns what answered")
    func noWebSocket() async throws {
      try await withGateway { gateway in
        var options = WebSocketOptions(TCPOptions(port: gateway.port))
        options.path = "/nowhere"
        let transport = try WebSocketTransport(options)
        let expected = TransportError.unreachable(
          host: "127.0.0.1", port: gateway.port,
          reason: "it answered HTTP 404 and opened no WebSocket")
        await #expect(throws: expected) {
          try await transport.connect { _ in Deaf() }
        }
        await transport.shutdown()
      }
      #expect(throws: TransportError.self) {
        try WebSocketTransport(WebSocketOptions(path: "no slash"))
      }
    }

    private final class Deaf: LinkHandler {
      func linkDidReceive(_ frames: [[UInt8]]) {}
      func linkDidClose(_ reason: LinkClosure) {}
    }
  }
#endif
