#if TCP && canImport(Glibc)
  import TernCore
  import TernDocumentJSON
  import TernDocumentWire
  import Testing

  @testable import TernGateway

  /// The conversations of mobile Firestore clients over gRPC, written from the protocol: the
  /// clients themselves cannot run here.
  @Suite("Mobile Firestore clients, as traces (the clients cannot run here)")
  struct MobileTraceTests {
    /// A platform's client, by what it sends beside the messages.
    enum Platform: String, CaseIterable, Sendable {
      case android, apple

      var headers: [(String, String)] {
        let database = "projects/p/databases/(default)"
        let own: [(String, String)] =
          switch self {
          case .android:
            [
              ("user-agent", "grpc-java-okhttp/1.62.2"), ("grpc-accept-encoding", "gzip"),
              ("x-goog-api-client", "gl-java/ fire/25.1.1 grpc/"),
              ("x-firebase-gmpid", "1:2:android:3"),
            ]
          case .apple:
            [
              ("user-agent", "grpc-objc/1.65.5 grpc-c/42.0.0 (ios; chttp2)"),
              ("grpc-accept-encoding", "identity, deflate, gzip"),
              ("x-goog-api-client", "gl-objc/ fire/11.5.0 grpc/"),
              (
                "x-firebase-client",
                "H4sIAAAAAAAAAKtWykhNLCpJSk0sKVayio7VUSpLLSrOzM9TslIyUqoFAFyivEQfAAAA"
              ),
              ("x-firebase-gmpid", "1:2:ios:3"),
            ]
          }
        return own + [
          ("google-cloud-resource-prefix", database), ("x-goog-request-params", database),
        ]
      }

      /// The settings of the connection: Android's window is small, and grows by updates.
      var settings: [(UInt16, UInt32)] {
        switch self {
        case .android: [(2, 0), (3, 0), (4, 65_535)]
        case .apple: [(2, 0), (3, 0), (4, 4 << 20), (6, 16_384)]
        }
      }

      /// A query for the first result of a collection, as the client orders it.
      func add(_ target: Int, token: String? = nil) -> String {
        let token = token.map { #","resumeToken":"\#($0)""# } ?? ""
        return #"{"database":"projects/p/databases/(default)","addTarget":{"query":{"parent":"#
          + #""projects/p/databases/(default)/documents","structuredQuery":{"from":[{"collectionId":"#
          + #""rooms"}],"orderBy":[{"field":{"fieldPath":"__name__"},"direction":"ASCENDING"}]}},"#
          + #""targetId":\#(target)\#(token)}}"#
      }
    }

    /// One stream of a client.
    private struct Stream {
      let client: HTTP2Peer
      let id: UInt32
      let method: DocumentMethod
      let buffer: Buffer

      final class Buffer { var bytes: [UInt32: [UInt8]] = [:] }

      init(
        _ client: HTTP2Peer, _ id: UInt32, _ method: DocumentMethod, _ platform: Platform,
        _ buffer: Buffer
      ) {
        (self.client, self.id, self.method, self.buffer) = (client, id, method, buffer)
        client.head(HTTP2Peer.call(method.rawValue, platform.headers), on: id)
      }

      func say(_ json: String, ends: Bool = false) throws {
        let message = try DocumentJSON.binary(.request(method), json: Array(json.utf8))
        client.send(HTTP2Peer.data, HTTP2Peer.message(message), flags: ends ? 1 : 0, stream: id)
      }

      /// The next message, as JSON; what comes on other streams waits for them.
      func hear() throws -> String {
        while true {
          let bytes = buffer.bytes[id] ?? []
          let count = bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
          if bytes.count >= 5, bytes.count >= 5 + count {
            buffer.bytes[id] = Array(bytes.dropFirst(5 + count))
            let text = try DocumentJSON.json(
              .response(method), binary: Array(bytes[5..<(5 + count)]))
            return String(decoding: text, as: UTF8.self)
          }
          let frame = try #require(client.next(HTTP2Peer.data))
          client.take(frame)
          buffer.bytes[frame.stream, default: []] += frame.payload
        }
      }

      /// The messages up to one that contains a text.
      func hear(through mark: String) throws -> [String] {
        var told = [try hear()]
        while told.last?.contains(mark) == false { told.append(try hear()) }
        return told
      }
    }

    private func write(_ stream: Stream, _ path: String, _ text: String, token: String) throws
      -> String
    {
      try stream.say(
        #"{"streamToken":"\#(token)","writes":[{"update":{"name":"\#(DocumentClient.root)/\#(path)","#
          + #""fields":{"text":{"stringValue":"\#(text)"}}}}]}"#)
      let told = try stream.hear()
      #expect(told.contains(#""writeResults":[{"updateTime":"#), "\(told)")
      return String(try #require(told.firstMatch(of: /"streamToken":"([^"]+)"/)).output.1)
    }

    @Test(
      "F43 F45 an offline cache: listens, writes, loses the network, and resumes",
      arguments: Platform.allCases)
    func session(_ platform: Platform) async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect(), settings: platform.settings)
        let buffer = Stream.Buffer()
        // The listener waits for its head before it sends anything.
        let listen = Stream(client, 1, .listen, platform, buffer)
        let head = client.fields(try #require(client.next(HTTP2Peer.headers)))
        #expect(head[":status"] == "200")
        #expect(head["content-type"] == "application/grpc")
        try listen.say(platform.add(2))
        let empty = try listen.hear(through: "CURRENT") + [listen.hear()]
        #expect(brief(empty) == ["ADD", "CURRENT", "boundary"])
        // Writes have a stream of their own; the first answer carries nothing but a token.
        let writer = Stream(client, 3, .write, platform, buffer)
        try writer.say(#"{"database":"projects/p/databases/(default)"}"#)
        let hello = try writer.hear()
        #expect(!hello.contains("writeResults"))
        var token = String(
          try #require(hello.firstMatch(of: /"streamToken":"([^"]+)"/)).output.1)
        token = try write(writer, "rooms/a", "é🐧", token: token)
        token = try write(writer, "rooms/b", "2", token: token)
        let told = try listen.hear(through: "rooms/b") + [listen.hear()]
        #expect(brief(told).filter { $0 != "boundary" } == ["change a", "change b"])
        // Its keepalive every 30 seconds is no abuse, whatever the interval seems to be here.
        for _ in 0..<20 {
          client.send(HTTP2Peer.ping, [0, 0, 0, 0, 0, 0, 0, 1])
          #expect(try #require(client.next(HTTP2Peer.ping)).flags == 1)
        }
        // A document that is in question is looked up beside the query.
        try listen.say(
          #"{"database":"projects/p/databases/(default)","addTarget":{"documents":{"documents":"#
            + #"["\#(DocumentClient.root)/rooms/z"]},"targetId":1},"labels":"#
            + #"{"goog-listen-tags":"limbo-document"}}"#)
        let limbo = try listen.hear(through: "CURRENT") + [listen.hear()]
        #expect(brief(limbo).filter { $0 != "boundary" } == ["ADD", "delete z", "CURRENT"])
        try listen.say(#"{"database":"projects/p/databases/(default)","removeTarget":1}"#)
        #expect(brief(try listen.hear(through: "REMOVE")).last == "REMOVE")
        let resume = try MobileTraceTests.token(in: told + limbo)
        // disableNetwork: the writer says that no more will come, the listener just ends.
        try writer.say(#"{"streamToken":"\#(token)"}"#, ends: true)
        _ = client.answer(on: 3)
        client.send(HTTP2Peer.reset, UInt32(8).bytes, stream: 1)
        try await other(gateway, "c")
        // enableNetwork: a new stream goes on from the token, with what is new and nothing else.
        let again = Stream(client, 5, .listen, platform, buffer)
        try again.say(platform.add(2, token: resume))
        let missed = brief(try again.hear(through: "CURRENT"))
        #expect(missed.filter { $0.hasPrefix("change") } == ["change c"], "\(missed)")
      }
    }

    /// Writes as another client.
    private func other(_ gateway: GatewayUnderTest, _ id: String) async throws {
      let answer = try DocumentClient(gateway).send("PATCH", "/rooms/\(id)", "{}")
      #expect(answer.status == 200)
    }

    private static func token(in messages: [String]) throws -> String {
      let found = messages.compactMap { $0.firstMatch(of: /"resumeToken":"([^"]+)"/) }.last
      return String(try #require(found).output.1)
    }

    @Test(
      "F43 F45 a rejected write ends its stream, and the client goes on with the next one",
      arguments: Platform.allCases)
    func rejected(_ platform: Platform) async throws {
      try await withGateway { gateway in
        let client = HTTP2Peer(try gateway.connect(), settings: platform.settings)
        let buffer = Stream.Buffer()
        let writer = Stream(client, 1, .write, platform, buffer)
        try writer.say(#"{"database":"projects/p/databases/(default)"}"#)
        let hello = try writer.hear()
        let token = String(
          try #require(hello.firstMatch(of: /"streamToken":"([^"]+)"/)).output.1)
        try writer.say(
          #"{"streamToken":"\#(token)","writes":[{"update":{"name":"\#(DocumentClient.root)/rooms/x"},"#
            + #""updateMask":{"fieldPaths":["a"]},"currentDocument":{"exists":true}}]}"#)
        let end = client.answer(on: 1)
        #expect(end.status == 5)
        #expect(end.fields["grpc-message"]?.contains("No document to update: ") == true)
        let next = Stream(client, 3, .write, platform, buffer)
        try next.say(#"{"database":"projects/p/databases/(default)"}"#)
        let fresh = try #require(try next.hear().firstMatch(of: /"streamToken":"([^"]+)"/))
        _ = try write(next, "rooms/y", "1", token: String(fresh.output.1))
      }
    }
  }
#endif
