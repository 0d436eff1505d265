#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("Large nodes, piece by piece") struct ExportTests {
    /// Little is large here.
    private let small = ServerLimits(wholeReadBytes: 10_000, exports: 2)

    /// Writes children `0000`… below a path, of about a kilobyte each; answers their JSON.
    private func fill(_ door: DoorUnderTest, _ count: Int) throws -> String {
      let text = String(repeating: "é", count: 500)
      let members = (0..<count).map { "\"k\(10_000 + $0)\":\"\($0) \(text)\"" }
      let json = "{" + members.joined(separator: ",") + "}"
      let answer = try door.exchange(
        "PUT /big.json?print=silent HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
          + "Content-Length: \(json.utf8.count)\r\n\r\n" + json)
      #expect(answer.hasPrefix("HTTP/1.1 204"), "\(answer.prefix(200))")
      return json
    }

    /// The body of an answer that came in chunks.
    private func unchunked(_ answer: [UInt8]) -> [UInt8] {
      var start = (answer.position(of: "\r\n\r\n") ?? 0) + 4
      var body: [UInt8] = []
      while let end = answer.position(of: "\r\n", from: start),
        let count = Int(String(decoding: answer[start..<end], as: UTF8.self), radix: 16),
        count > 0, answer.count >= end + 4 + count
      {
        body += answer[(end + 2)..<(end + 2 + count)]
        start = end + 4 + count
      }
      return body
    }

    @Test("a large node comes whole, and the connection goes on")
    func whole() async throws {
      try await withDoor(serverLimits: small) { door in
        let json = try fill(door, 500)
        let peer = try door.connect()
        peer.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let answer = peer.bytes(through: "\r\n0\r\n\r\n")
        #expect(answer.position(of: "ransfer-") != nil)
        #expect(unchunked(answer) == Array(json.utf8))
        peer.send("GET /big/k10001.json?shallow=true HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(peer.read(through: "\"1 é").hasPrefix("HTTP/1.1 200 OK"))
        let head = try door.exchange(
          "HEAD /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200 OK"), "\(head)")
      }
    }

    @Test("what is printed, tagged or asked for in another way is the same")
    func otherWays() async throws {
      try await withDoor(serverLimits: small) { door in
        let json = try fill(door, 20)
        let tagged = try door.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "X-Firebase-ETag: true\r\n\r\n")
        #expect(tagged.hasSuffix(json) && tagged.contains("ETag: "))
        let export = try door.exchange(
          "GET /big.json?format=export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        #expect(export.hasSuffix(json), "HTTP/1.0 knows no chunks: \(export.prefix(300))")
      }
    }

    @Test("whoever may not read it gets nothing of it")
    func denied() async throws {
      let rules = #"{"rules": {"big": {".write": true}}}"#
      try await withDoor(serverLimits: small, rules: rules) { door in
        _ = try fill(door, 20)
        let answer = try door.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 401"))
        let stream = try door.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Accept: text/event-stream\r\n\r\n")
        #expect(stream.hasPrefix("HTTP/1.1 401"))
      }
    }

    @Test("readers that stop reading hold no one up, and no more than may be are taken")
    func slowReaders() async throws {
      try await withDoor(serverLimits: small) { door in
        // More than the sockets of both ends take by themselves.
        _ = try fill(door, 6_000)
        let slow = try (0..<2).map { _ in try door.connectNarrow() }
        for peer in slow {
          peer.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
          #expect(peer.read(through: "k10000").hasPrefix("HTTP/1.1 200 OK"))
        }
        let third = try door.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(third.hasPrefix("HTTP/1.1 503"), "\(third.prefix(100))")
        let write = "PUT /big/k10000.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        let answer = try door.exchange(write + "Content-Length: 1\r\n\r\n1")
        #expect(answer.hasSuffix("\r\n1"))
        // They still see what there was when they began.
        for peer in slow {
          #expect(peer.bytes(through: "\r\n0\r\n\r\n").occurrences(of: "\"k1") == 6_000 - 1)
        }
      }
    }

    @Test("a stream begins with what is there, and misses nothing that happens meanwhile")
    func stream() async throws {
      try await withDoor(serverLimits: small) { door in
        _ = try fill(door, 6_000)
        let stream = try door.connectNarrow()
        stream.send(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        #expect(stream.read(through: "k10000").contains(#"data: {"path":"/","data":"#))
        let writer = try door.connect()
        for number in 1...5 {
          writer.send(
            "PUT /big/n.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n\(number)")
          _ = writer.read(through: "\r\n\r\n\(number)")
        }
        let rest = stream.bytes(through: "\"data\":5}\n\n")
        #expect(rest.occurrences(of: "\"k1") == 6_000 - 1)
        for number in 1...5 {
          let event = "event: put\ndata: {\"path\":\"/n\",\"data\":\(number)}\n\n"
          #expect(rest.occurrences(of: event) == 1, "\(number)")
        }
      }
    }

    @Test("a reader that goes lets the server stop")
    func gone() async throws {
      try await withDoor(serverLimits: small) { door in
        _ = try fill(door, 6_000)
        do {
          let peer = try door.connectNarrow()
          peer.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
          _ = peer.read(through: "k10000")
        }
        let staying = try door.connectNarrow()
        staying.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = staying.read(through: "k10000")
        await door.server.stop()
      }
    }
  }
#endif
