#if TCP && canImport(Glibc)
  import NIOCore
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  @Suite("Unread output") struct UnreadOutputTests {
    @Test("pings whose pongs are not read make nothing grow, and the newest is answered")
    func pongs() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connectNarrow()
        _ = peer.openWebSocket()
        let payload = [UInt8](repeating: 7, count: 100)
        let pings = (0..<1_000).flatMap { _ in masked(9, payload) }
        for _ in 0..<200 { #expect(peer.send(pings)) }
        peer.send(masked(9, "last"))
        var count = 0
        while let frame = peer.frame(), frame.payload != Array("last".utf8) {
          #expect(frame.opcode == 10)
          count += 1
        }
        // What the system's buffers hold was answered; what came behind that was not kept.
        #expect(count < 200_000, "all pongs were queued")
        peer.ask(1, "g", #"{"p":"/other","q":{}}"#)
        #expect(peer.message().contains(#""s":"ok""#))
      }
    }

    @Test("reads of one burst are answered in portions, as the client reads")
    func portions() async throws {
      let limits = ServerLimits(queuedBytes: 8 << 20)
      try await withGateway(serverLimits: limits) { gateway in
        let writer = try gateway.connect()
        let text = String(repeating: "x", count: 2 << 20)
        writer.send(
          "PUT /big.json?print=silent HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Length: \(text.utf8.count + 2)\r\n\r\n\"\(text)\"")
        #expect(writer.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
        let reader = try gateway.connectNarrow()
        _ = reader.openWebSocket()
        let native = try NativePeer(port: gateway.port, receiveBytes: 4_096)
        native.send(Array(#"{"t":"c","d":{"t":"h"}}"#.utf8))
        let request = #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/big","q":{}}}}"#
        reader.send((0..<40).flatMap { _ in masked(1, request) })
        // Others are served meanwhile.
        for number in 0..<20 {
          writer.send(get("/n\(number).json").replacing("close", with: "keep-alive"))
          #expect(writer.answer().body == "null")
        }
        // Had all been made at once, 80 MiB would wait, and the client would be cut off.
        for _ in 0..<40 { #expect(reader.message().utf8.count > text.utf8.count) }
      }
    }

    @Test("many listeners over WebSocket share the bytes of one push")
    func sharing() {
      let shared = SharedFrames([[UInt8](repeating: 97, count: 3 << 20), Array("{}".utf8)])
      let first = GatewayFrames.shared(shared).webSocketBuffers
      let second = GatewayFrames.shared(shared).webSocketBuffers
      let places = [first, second].map { buffers in
        buffers.map { unsafe $0.withUnsafeReadableBytes(\.baseAddress) }
      }
      #expect(places[0] == places[1])
      #expect(first.allSatisfy { $0.readableBytes < 2 << 20 })
      let own = GatewayFrames.own(shared.frames).webSocketBuffers
      let bytes = [own, first].map { $0.flatMap { Array($0.readableBytesView) } }
      #expect(bytes[0] == bytes[1])
    }
  }
#endif
