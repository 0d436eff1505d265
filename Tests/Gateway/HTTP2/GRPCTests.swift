#if TCP && canImport(Glibc)
  import Synchronization
  import TernDocumentWire
  import TernSecurity
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  @Suite("gRPC over HTTP/2", .timeLimit(.minutes(10)))
  struct GRPCTests {
    @Test("documents are written and read")
    func unary() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.call("Commit", DocumentMessages.commit(["a"]), on: 1)
        let written = client.answer(on: 1)
        #expect(written.fields[":status"] == "200")
        #expect(written.fields["content-type"] == "application/grpc")
        #expect(written.status == 0)
        #expect(written.messages.count == 1)
        client.call("GetDocument", DocumentMessages.get("a"), on: 3)
        let read = client.answer(on: 3)
        #expect(read.status == 0)
        #expect(read.messages.count == 1)
      }
    }

    @Test("the access log has each call with its status, and no query of its path")
    func accessLog() async throws {
      try await withGateway { gateway in
        let records = Mutex<[AccessRecord]>([])
        gateway.server.surroundings.accessLog = { record in records.withLock { $0.append(record) } }
        let client = HTTP2Peer(try gateway.connect())
        client.call("Commit", DocumentMessages.commit(["a"]), on: 1)
        #expect(client.answer(on: 1).status == 0)
        client.call("GetDocument", DocumentMessages.get("none"), on: 3)
        #expect(client.answer(on: 3).status == 5)
        client.head(
          HTTP2Peer.call("Commit?key=secret").map {
            $0.0 == "content-type" ? ($0.0, "application/grpc+json") : $0
          }, on: 5)
        #expect(client.answer(on: 5).fields[":status"] == "415")
        let told = records.withLock { $0 }
        let service = "/google.firestore.v1.Firestore/"
        #expect(
          told.map(\.path) == ["Commit", "GetDocument", "Commit"].map { service + $0 })
        #expect(told.map(\.status) == [200, 200, 415])
        #expect(told.map(\.grpcStatus) == [0, 5, nil])
        #expect(told[0].bytes > 0 && told[1].bytes == 0)
        #expect(told.allSatisfy { $0.address == "127.0.0.1" && $0.method == "POST" })
      }
    }

    @Test("the preface may come in pieces")
    func pieces() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        for byte in HTTP2Peer.preface.prefix(6) { peer.send([byte]) }
        peer.send(
          HTTP2Peer.preface.dropFirst(6) + HTTP2Peer.frame(HTTP2Peer.settings, []))
        #expect(peer.read(count: 9)?[3] == HTTP2Peer.settings)
      }
    }

    @Test("an error without messages is one head, its text escaped")
    func trailersOnly() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.call("GetDocument", DocumentMessages.get("ä"), on: 1)
        let answer = client.answer(on: 1)
        #expect(answer.fields[":status"] == "200")
        #expect(answer.fields["content-type"] == "application/grpc")
        #expect(answer.status == 5)
        #expect(answer.fields["grpc-message"]?.contains("%C3%A4") == true)
      }
    }

    @Test("a message may span frames, and the end may come alone")
    func spans() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.head(
          HTTP2Peer.call("Commit").map {
            $0.0 == "content-type" ? ($0.0, "application/grpc+proto") : $0
          }, on: 1)
        for byte in HTTP2Peer.message(DocumentMessages.commit(["a"])) {
          client.send(HTTP2Peer.data, [byte], stream: 1)
        }
        client.send(HTTP2Peer.data, [], flags: 1, stream: 1)
        let answer = client.answer(on: 1)
        #expect(answer.status == 0)
        #expect(answer.fields["content-type"] == "application/grpc+proto")
      }
    }

    @Test("an unknown method, and one of another service, are unimplemented")
    func unknownMethods() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.call("Fly", [], on: 1)
        let answer = client.answer(on: 1)
        #expect(answer.status == 12)
        #expect(
          answer.fields["grpc-message"]
            == "Method google.firestore.v1.Firestore/Fly is unimplemented")
        client.call("../../Other/Get", [], on: 3)
        #expect(client.answer(on: 3).status == 12)
      }
    }

    @Test(
      "messages may be compressed, and then those of the answer are",
      arguments: MessageCoding.allCases)
    func compressed(_ coding: MessageCoding) async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        let large = DocumentMessages.commit(["a"], bytes: 20_000)
        let small = try #require(coding.compress(large))
        #expect(small.count < large.count / 10)
        client.head(HTTP2Peer.call("Commit", [("grpc-encoding", coding.rawValue)]), on: 1)
        client.send(HTTP2Peer.data, HTTP2Peer.message(small, flag: 1), flags: 1, stream: 1)
        #expect(client.answer(on: 1).status == 0)
        let headers = [
          ("grpc-encoding", coding.rawValue), ("grpc-accept-encoding", "identity, deflate, gzip"),
        ]
        // A message that compression would not make smaller is plain, also in such a call.
        client.call("GetDocument", DocumentMessages.get("a"), on: 3, headers)
        let answer = client.answer(on: 3)
        #expect(answer.status == 0)
        #expect(answer.fields["grpc-encoding"] == coding.rawValue)
        #expect(answer.body.first == 1)
        let message = try coding.decompress(try #require(answer.messages.first), limit: 1 << 20)
        #expect(message.count > 20_000)
        client.call("GetDocument", DocumentMessages.get("a"), on: 5)
        #expect(client.answer(on: 5).messages == [message])
      }
    }

    @Test("compression that is unknown, absent, broken or too large ends its call alone")
    func invalidCompression() async throws {
      var limits = GatewayLimits()
      limits.http2.messageBytes = 100_000
      try await withGateway(limits: limits) { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.call("Commit", [], on: 1, [("grpc-encoding", "br")])
        let unknown = client.answer(on: 1)
        #expect(unknown.status == 12)
        #expect(unknown.fields["grpc-accept-encoding"] == "gzip, deflate, identity")
        let bomb = try #require(MessageCoding.gzip.compress(Array(repeating: 0, count: 1_000_000)))
        let whole = try #require(MessageCoding.gzip.compress(DocumentMessages.get("a")))
        let cases: [(coding: String?, bytes: [UInt8], code: Int)] = [
          (nil, [1], 13), ("gzip", [1, 2, 3], 13), ("gzip", whole + [0], 13),
          ("gzip", whole.dropLast(), 13), ("deflate", whole, 13), ("gzip", bomb, 8),
        ]
        for (index, item) in cases.enumerated() {
          let stream = UInt32(3 + 2 * index)
          let fields = item.coding.map { [("grpc-encoding", $0)] } ?? []
          client.head(HTTP2Peer.call("GetDocument", fields), on: stream)
          client.send(
            HTTP2Peer.data, HTTP2Peer.message(item.bytes, flag: 1), flags: 1, stream: stream)
          #expect(client.answer(on: stream).status == item.code, "\(index)")
        }
        client.call("GetDocument", DocumentMessages.get("a"), on: 99)
        #expect(client.answer(on: 99).status == 5)
      }
    }

    @Test("other content types are rejected by HTTP's codes")
    func contentTypes() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        func status(_ stream: UInt32, _ change: (String, String) -> String?) -> String? {
          let fields = HTTP2Peer.call("Commit").compactMap { field in
            change(field.0, field.1).map { (field.0, $0) }
          }
          client.head(fields, on: stream, ends: true)
          return client.answer(on: stream).fields[":status"]
        }
        #expect(status(1) { $0 == "content-type" ? "application/grpc-web" : $1 } == "415")
        #expect(status(3) { $0 == "content-type" ? "application/grpc+json" : $1 } == "415")
        #expect(status(5) { $0 == "content-type" ? nil : $1 } == "415")
        #expect(status(7) { $0 == ":method" ? "GET" : $1 } == "405")
      }
    }

    @Test("a message that is too large, or not whole, ends its call and nothing else")
    func invalidMessages() async throws {
      var limits = GatewayLimits()
      limits.http2.messageBytes = 1_000
      try await withGateway(limits: limits) { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.head(HTTP2Peer.call("Commit"), on: 1)
        client.send(HTTP2Peer.data, [0] + UInt32(1_001).bytes, stream: 1)
        #expect(client.answer(on: 1).status == 8)
        client.head(HTTP2Peer.call("Commit"), on: 3)
        client.send(HTTP2Peer.data, [0] + UInt32(10).bytes + [1], flags: 1, stream: 3)
        #expect(client.answer(on: 3).status == 13)
        client.head(HTTP2Peer.call("Commit"), on: 5)
        client.send(HTTP2Peer.data, [7] + UInt32(10).bytes, flags: 1, stream: 5)
        #expect(client.answer(on: 5).status == 13)
        client.call("Commit", DocumentMessages.commit(["a"]), on: 7)
        #expect(client.answer(on: 7).status == 0)
        #expect(gateway.server.budget.usedBytes(for: .receiving) == 0)
      }
    }

    @Test("a listener's head comes at once, then what it watches, until its client resets it")
    func listen() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.head(HTTP2Peer.call("Listen"), on: 1)
        let head = try #require(client.next(HTTP2Peer.headers))
        #expect(client.fields(head)[":status"] == "200")
        client.send(HTTP2Peer.data, HTTP2Peer.message(DocumentMessages.watch("a")), stream: 1)
        _ = try #require(client.next(HTTP2Peer.data))
        client.send(HTTP2Peer.reset, UInt32(8).bytes, stream: 1)
        client.call("Commit", DocumentMessages.commit(["a"]), on: 3)
        #expect(client.answer(on: 3).status == 0)
        #expect(gateway.server.budget.usedBytes(for: .listens) == 0)
      }
    }

    @Test("a stream of writes ends well when its client has said all")
    func write() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.head(HTTP2Peer.call("Write"), on: 1)
        let handshake = HTTP2Peer.message(DocumentMessages.handshake)
        client.send(HTTP2Peer.data, handshake, flags: 1, stream: 1)
        let answer = client.answer(on: 1)
        #expect(answer.messages.count == 1)
        #expect(answer.status == 0)
      }
    }

    @Test("a call ends at its deadline")
    func deadline() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.head(HTTP2Peer.call("Listen", [("grpc-timeout", "50m")]), on: 1)
        #expect(client.answer(on: 1).status == 4)
        client.head(HTTP2Peer.call("Commit", [("grpc-timeout", "10m")]), on: 3)
        #expect(client.answer(on: 3).status == 4)
        client.head(HTTP2Peer.call("Commit", [("grpc-timeout", "soon")]), on: 5)
        #expect(client.answer(on: 5).fields[":status"] == "400")
      }
    }

    @Test("REST is served beside gRPC")
    func rest() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.head(
          [
            (":method", "PUT"), (":scheme", "http"), (":authority", "127.0.0.1"),
            (":path", "/a.json?ns=n"), ("content-type", "application/json"),
          ], on: 1)
        client.send(HTTP2Peer.data, Array(#"{"b":1}"#.utf8), flags: 1, stream: 1)
        let written = client.answer(on: 1)
        #expect(written.fields[":status"] == "200")
        #expect(String(decoding: written.body, as: UTF8.self) == #"{"b":1}"#)
        client.call("Commit", DocumentMessages.commit(["a"]), on: 3)
        #expect(client.answer(on: 3).status == 0)
      }
    }

    @Test("an invalid credential is refused, the development's owner is not")
    func credentials() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        let message = DocumentMessages.commit(["a"])
        client.call("Commit", message, on: 1, [("authorization", "Bearer nonsense")])
        #expect(client.answer(on: 1).status == 16)
        client.call("Commit", message, on: 3, [("authorization", "Bearer owner")])
        #expect(client.answer(on: 3).status == 0)
      }
    }

    @Test("a request that came by a proxy, or for another page, is not local")
    func origin() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        let message = DocumentMessages.commit(["a"])
        client.call("Commit", message, on: 1, [("x-forwarded-for", "10.0.0.1")])
        #expect(client.answer(on: 1).status == 7)
        client.call("Commit", message, on: 3, [("origin", "https://elsewhere.example")])
        #expect(client.answer(on: 3).status == 7)
        client.call("Commit", message, on: 5)
        #expect(client.answer(on: 5).status == 0)
      }
    }

    @Test("a stopping server ends calls with a code, and tells the connection to go away")
    func goAway() async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect())
        client.head(HTTP2Peer.call("Listen"), on: 1)
        _ = try #require(client.next(HTTP2Peer.headers))
        client.call("Commit", DocumentMessages.commit(["a"]), on: 3)
        #expect(client.answer(on: 3).status == 0)
        await gateway.server.stop()
        var status: String?
        var lastStreams: [UInt32] = []
        while let frame = client.next() {
          if frame.type == HTTP2Peer.headers { status = client.fields(frame)["grpc-status"] }
          if frame.type == HTTP2Peer.goAway {
            lastStreams.append(frame.payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
          }
        }
        #expect(status == "14")
        // Calls that were on their way are not lost: the first farewell names no last stream.
        #expect(lastStreams.first == UInt32(Int32.max))
      }
    }

    @Test("a silent client is pinged, and lost when it does not answer")
    func keepalive() async throws {
      var limits = GatewayLimits()
      limits.http2.pingSeconds = 1
      limits.http2.pingTimeoutSeconds = 300
      try await withGateway(limits: limits) { gateway in
        let alive = HTTP2Peer(try gateway.connect())
        #expect(alive.next(HTTP2Peer.ping) != nil)
        #expect(alive.next(HTTP2Peer.ping) != nil)
      }
      limits.http2.pingTimeoutSeconds = 1
      try await withGateway(limits: limits) { gateway in
        let silent = HTTP2Peer(try gateway.connect())
        var pings = 0
        while let frame = silent.next(answersPings: false) {
          if frame.type == HTTP2Peer.ping { pings += 1 }
        }
        #expect(pings == 1)
      }
    }
  }
#endif
