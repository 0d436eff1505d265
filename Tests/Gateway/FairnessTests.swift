#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import TernTreeWire
  import Testing

  @testable import TernGateway

  @Suite("Fairness, over sockets") struct FairnessTests {
    private func put(_ path: String, _ body: String) -> String {
      "PUT \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("listeners that stop reading are let go with a reason, over every door; others hear all")
    func slowConsumers() async throws {
      var limits = GatewayLimits()
      limits.lingerSeconds = 1
      let serverLimits = ServerLimits(queuedBytes: 1 << 20)
      try await withDoor(limits: limits, serverLimits: serverLimits) { door in
        // Three that listen and read no further than that they do.
        let socket = try door.connectNarrow()
        _ = socket.openWebSocket()
        socket.ask(1, "q", #"{"p":"/big","h":""}"#)
        #expect(socket.message().contains(#""s":"ok""#))
        let stream = try door.connectNarrow()
        stream.send(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        _ = stream.read(through: "\n\n")
        let native = try NativePeer(port: door.port, receiveBytes: 4_096)
        native.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = native.frame()
        native.send(Array(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/big","h":""}}}"#.utf8))
        #expect(native.frame().contains(#""s":"ok""#))
        // One that reads what it is told.
        let reader = try door.connect()
        _ = reader.openWebSocket()
        reader.ask(1, "q", #"{"p":"/big","h":""}"#)
        #expect(reader.message().contains(#""s":"ok""#))
        let writer = try door.connect()
        let text = String(repeating: "x", count: 200_000)
        var heard = 0
        for number in 0..<100 {
          writer.send(put("/big/n.json?print=silent", "\"\(number) \(text)\""))
          #expect(writer.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 204"))
          if reader.message().contains("\"\(number) xxx") { heard += 1 }
        }
        #expect(heard == 100)
        let reasons = await door.ends {
          $0.count { if case .tooSlow = $0 { true } else { false } } == 3
        }
        for case .tooSlow(let bytes, let limit) in reasons {
          #expect(bytes > limit && limit == 1 << 20)
        }
        // What is left of the connections ends, instead of waiting for readers for ever.
        for peer in [socket, stream] { _ = peer.readToEnd() }
        _ = native.readToEnd()
        reader.ask(2, "g", #"{"p":"/other","q":{}}"#)
        #expect(reader.message().contains(#""s":"ok""#))
      }
    }

    @Test("one connection that floods does not keep another's request from its turn")
    func flood() async throws {
      try await withDoor(serverLimits: ServerLimits(batchFrames: 64)) { door in
        let flooding = try door.connect()
        _ = flooding.openWebSocket()
        let other = try door.connect()
        _ = other.openWebSocket()
        let increment = #"{"p":"/f","d":{".sv":{"increment":1}}}"#
        let request = masked(1, #"{"t":"d","d":{"r":1,"a":"p","b":\#(increment)}}"#)
        let count = 40_000
        flooding.send((0..<count).flatMap { _ in request })
        other.ask(1, "g", #"{"p":"/f","q":{}}"#)
        let answer = other.message()
        let seen = answer.firstMatch(of: /"s":"ok","d":(\d+)/).flatMap { Int($0.output.1) }
        // The server reads faster than it decides, and so most of the flood waits by now; without
        // turns all of it would have come first.
        #expect(seen.map { $0 < count * 3 / 4 } == true, "\(answer)")
      }
    }

    @Test("rates are refused in the words of each door")
    func rates() async throws {
      let rates = RateLimits(requestsPerAddress: 1, burstSeconds: 20)
      try await withDoor(serverLimits: ServerLimits(rates: rates)) { door in
        let socket = try door.connect()
        _ = socket.openWebSocket()
        let native = try NativePeer(port: door.port)
        native.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = native.frame()
        let rest = try door.connect()
        var last = ""
        for _ in 0..<40 {
          rest.send("GET /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
          let head = rest.read(through: "\r\n\r\n")
          let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) }
          last = head + String(decoding: rest.read(count: length ?? 0) ?? [], as: UTF8.self)
          if !head.hasPrefix("HTTP/1.1 200") { break }
        }
        #expect(last.hasPrefix("HTTP/1.1 429"), "\(last)")
        #expect(last.contains("Too many requests: one address may make 1 a second."), "\(last)")
        let told = "Too many requests: one address"
        socket.ask(1, "g", #"{"p":"/","q":{}}"#)
        let answer = socket.message()
        #expect(answer.contains(#""s":"unavailable""#) && answer.contains(told), "\(answer)")
        native.send(Array(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/","q":{}}}}"#.utf8))
        #expect(native.frame().contains(told))
      }
    }
  }
#endif
