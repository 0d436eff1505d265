#if TCP && canImport(Glibc)
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("WebSocket, over sockets") struct WebSocketEndpointTests {
    @Test("a client listens, writes, and hears itself before the answer")
    func conversation() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        let greeting = peer.openWebSocket()
        #expect(greeting.hasPrefix(#"{"t":"c","d":{"t":"h","d":{"ts":"#), "\(greeting)")
        #expect(greeting.contains(#""h":"localhost""#), "the host it came to")
        peer.ask(1, "s", #"{"c":{"sdk.js":1}}"#)
        #expect(peer.message() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
        peer.ask(2, "q", #"{"p":"/fleet","h":""}"#)
        #expect(peer.message() == #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}"#)
        peer.send(masked(1, "0"))
        peer.ask(3, "p", #"{"p":"/fleet/7","d":{"eta":840}}"#)
        #expect(
          peer.message() == #"{"t":"d","d":{"a":"d","b":{"p":"fleet/7","d":{"eta":840},"v":1}}}"#)
        #expect(peer.message() == #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":"","v":1}}}"#)
        peer.ask(4, "p", #"{"p":"/fleet/7/eta","d":1,"h":"bogus"}"#)
        #expect(peer.message().contains(#""s":"datastale""#))
        peer.ask(5, "x", "{}")
        #expect(peer.message().contains(#""s":"failed""#))
        #expect(try gateway.exchange(get("/fleet.json")).hasSuffix(#"{"7":{"eta":840}}"#))
      }
    }

    @Test("what comes in one piece with the upgrade's request is heard, too")
    func eager() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        let request = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/fleet/7","d":1}}}"#
        #expect(peer.openWebSocket(eager: masked(1, request)).hasPrefix(#"{"t":"c""#))
        #expect(peer.message() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":"","v":1}}}"#)
      }
    }

    @Test("long messages travel in parts, in both directions")
    func parts() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        _ = peer.openWebSocket()
        let long = String(repeating: "ü😀x", count: 9_000)
        let request = Array(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"\#(long)"}}}"#.utf8)
        let pieces = MessageParts.cut(request)
        #expect(pieces.count > 3)
        for piece in pieces { peer.send(masked(1, Array(piece))) }
        #expect(peer.message().contains(#""s":"ok""#))
        peer.ask(2, "g", #"{"p":"/a","q":{}}"#)
        #expect(peer.message() == #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":"\#(long)"}}}"#)
      }
    }

    @Test("what a client left happens when it goes, and before its next session does anything")
    func disconnect() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        let greeting = peer.openWebSocket()
        let session = try #require(greeting.firstMatch(of: /"s":"([0-9a-f]{32})"/)?.output.1)
        peer.ask(1, "o", #"{"p":"/presence/ann","d":"gone"}"#)
        #expect(peer.message().contains(#""s":"ok""#))
        let next = try gateway.connect()
        _ = next.openWebSocket("/.ws?v=5&ls=\(session)")
        next.ask(1, "g", #"{"p":"/presence","q":{}}"#)
        #expect(next.message().contains(#""d":{"ann":"gone"}"#))
        #expect(peer.message().contains(#""t":"e""#))
        #expect(peer.message().hasPrefix("closed 1000"))
      }
    }

    @Test("a goodbye is answered, and a ping too")
    func goodbye() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        _ = peer.openWebSocket()
        peer.send(masked(9, "are you there"))
        let pong = try #require(peer.frame())
        #expect(pong.opcode == 10 && pong.payload == Array("are you there".utf8))
        peer.send(masked(8, [3, 233]))
        #expect(peer.message() == "closed 1001 ")
        #expect(peer.frame() == nil)
      }
    }

    @Test("what breaks the protocol ends the connection with a reason")
    func broken() async throws {
      try await withGateway { gateway in
        for (bytes, expected) in [
          ([0x81, 0x01, 0x61], "closed 1002 a frame is not masked"),
          (masked(2, "x"), "closed 1003 only text is understood"),
          (masked(1, [0xFF]), "closed 1007 a text is not UTF-8"),
          (
            [0x81, 0xFF, 0, 0, 0, 0, 0x7F, 0, 0, 0],
            "closed 1009 a message is larger than 67043328 bytes"
          ),
          (masked(1, "99999"), "closed 1002 a message of 99999 parts"),
        ] as [([UInt8], String)] {
          let peer = try gateway.connect()
          _ = peer.openWebSocket()
          peer.send(bytes)
          #expect(peer.message() == expected)
          #expect(peer.frame() == nil)
        }
        let peer = try gateway.connect()
        _ = peer.openWebSocket()
        peer.send(masked(1, "no message"))
        #expect(peer.message().contains(#""t":"e""#))
        #expect(peer.message().hasPrefix("closed"))
      }
    }

    @Test(
      "a handshake that is none is refused",
      arguments: [
        ("GET /.ws?v=5 HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        (
          "GET /.ws?v=5 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
          "426"
        ),
        (
          "GET /.ws?v=5 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n\r\n", "400"
        ),
        (
          "GET /.ws?v=4 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
          "400"
        ),
        (
          "GET /.ws?v=5&s=x HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
          "404"
        ),
      ])
    func handshake(request: String, status: String) async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        peer.send(request)
        #expect(peer.read(through: "\r\n").hasPrefix("HTTP/1.1 " + status))
      }
    }

    @Test("a page of a stranger may connect, and is allowed nothing without rules")
    func foreignPage() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        _ = peer.openWebSocket(headers: "Origin: https://evil.example\r\n")
        peer.ask(1, "g", #"{"p":"/","q":{}}"#)
        #expect(peer.message().contains("permission_denied"))
        peer.ask(2, "gauth", #"{"cred":"owner"}"#)
        #expect(peer.message().contains("invalid_token"))
      }
    }

    @Test("an order without an index is reported by a listen, and rejected for a get")
    func index() async throws {
      let rules = #"{"rules": {".read": true, "a": {".indexOn": "n"}}}"#
      try await withGateway(rules: rules) { gateway in
        let peer = try gateway.connect()
        _ = peer.openWebSocket()
        for (path, index, warned) in [
          ("a", "n", false), ("a", "m", true), ("b", ".key", false), ("b", ".value", true),
        ] {
          let query = #"{"p":"/\#(path)","q":{"i":"\#(index)","l":2,"vf":"l"}"#
          peer.ask(1, "q", query + #","t":1,"h":""}"#)
          #expect(peer.message().contains(#"{"w":["no_index"]}"#) == warned, "\(path) \(index)")
          peer.ask(2, "g", query + "}")
          let text =
            #"Index not defined, add \".indexOn\": \"\#(index)\", for path \"/\#(path)\", to the rules"#
          #expect(peer.message().contains(text) == warned, "\(path) \(index)")
        }
      }
    }

    @Test("a client that does not read is let go, and others go on")
    func slowReader() async throws {
      var limits = ServerLimits()
      limits.queuedBytes = 4 << 20
      try await withGateway(serverLimits: limits) { gateway in
        let slow = try gateway.connect()
        _ = slow.openWebSocket()
        slow.ask(1, "q", #"{"p":"/","h":""}"#)
        #expect(slow.message().contains("ok"))
        let writer = try gateway.connect()
        _ = writer.openWebSocket()
        let block = String(repeating: "x", count: 1 << 20)
        var isGone = false
        for number in 1...64 where !isGone {
          for part in MessageParts.cut(
            Array(#"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/a","d":"\#(block)"}}}"#.utf8))
          {
            writer.send(masked(1, Array(part)))
          }
          #expect(writer.message().contains("ok"))
          isGone = await gateway.server.linkCount == 1
        }
        #expect(isGone, "it was still served after 64 MiB")
      }
    }
  }

  /// A request that reads.
  func get(_ target: String, headers: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
  }
#endif
