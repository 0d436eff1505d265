#if TCP && canImport(Glibc)
  import Synchronization
  import TernSecurity
  import TernServer
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// Every denial has an id; by it the operator finds the decision of the rules.
  @Suite("Denials, over every endpoint") struct DenialTests {
    private static let rules = """
      {
        // Only small numbers.
        "rules": {"n": {".read": false, ".write": true,
          ".validate": "newData.isNumber() &&
            newData.val() < 10"},
          "open": {".read": true}}
      }
      """

    /// The log of the operator.
    private final class Log: Sendable {
      let entries = Mutex<[String]>([])

      /// The one entry that has an id.
      func entry(_ id: Substring?) throws -> String {
        let id = try #require(id)
        return try #require(entries.withLock { $0.first { $0.contains("[\(id)]") } }, "\(id)")
      }
    }

    private func withLog(_ body: (GatewayUnderTest, Log) async throws -> Void) async throws {
      let log = Log()
      let gateway = try await GatewayUnderTest(
        rules: Self.rules, denied: { text in log.entries.withLock { $0.append("\(text)") } })
      do { try await apart { try await body(gateway, log) } } catch {
        await gateway.stop()
        throw error
      }
      await gateway.stop()
    }

    /// Checks the reason in an entry: a ten is not less than ten; the rule, the part of it, its
    /// operands and its position.
    private func expectReason(_ entry: String) {
      let lines = [
        "denied at /n: the .validate rule at 4:19 does not hold", ".validate of /n at /n: false",
        "newData.val() < 10 is false", "5:7: newData.val() is 10",
      ]
      for line in lines { #expect(entry.contains(line), "\(line) is missing in\n\(entry)") }
    }

    @Test("each endpoint reports an id, and the log the rule, its parts and their values under it")
    func ids() async throws {
      try await withLog { gateway, log in
        let id = /Permission denied \[([0-9a-f]{16})\]/
        let (write, read) = (
          frame(1, "p", #"{"p":"/n","d":10}"#), frame(2, "q", #"{"p":"/n","h":""}"#)
        )
        let socket = try gateway.connect()
        _ = socket.openWebSocket()
        let poll = try PollPeer(gateway)
        let native = try NativePeer(port: gateway.port)
        native.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = native.frame()
        let endpoints: [(String, (String) -> String)] = [
          (
            "WebSocket",
            { request in
              socket.send(masked(1, request))
              return socket.message()
            }
          ),
          ("long polling", { poll.ask($0) }),
          (
            "our framing",
            { request in
              native.send(Array(request.utf8))
              return native.frame()
            }
          ),
        ]
        for (name, ask) in endpoints {
          let written = ask(write)
          expectReason(try log.entry(written.firstMatch(of: id)?.output.1))
          let listening = ask(read)
          let entry = try log.entry(listening.firstMatch(of: id)?.output.1)
          #expect(entry.contains("no .read rule grants it"), "\(name): \(entry)")
        }
        let field = /X-Tern-Denial: ([0-9a-f]{16})/
        let rest = try gateway.connect()
        rest.send("PUT /n.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n10")
        let refused = rest.answer()
        #expect(refused.body == #"{"error":"Permission denied"}"#, "the sentence clients know")
        expectReason(try log.entry(refused.head.firstMatch(of: field)?.output.1))
        rest.send(
          "GET /n.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        let stream = rest.answer()
        #expect(stream.head.hasPrefix("HTTP/1.1 401"))
        #expect(stream.body == #"{"error":"Permission denied"}"#)
        #expect(try log.entry(stream.head.firstMatch(of: field)?.output.1).contains(".read"))
      }
    }

    @Test("a listener that is denied later receives an id over each endpoint, and the log says why")
    func revoked() async throws {
      try await withLog { gateway, log in
        let listen = frame(1, "q", #"{"p":"/open","h":""}"#)
        let socket = try gateway.connect()
        _ = socket.openWebSocket()
        socket.send(masked(1, listen))
        #expect(socket.message().contains(#""s":"ok""#))
        let poll = try PollPeer(gateway)
        #expect(poll.ask(listen).contains(#""s":"ok""#))
        poll.poll()
        let native = try NativePeer(port: gateway.port)
        native.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = native.frame()
        native.send(Array(listen.utf8))
        #expect(native.frame().contains(#""s":"ok""#))
        let stream = try gateway.connect()
        stream.send(
          "GET /open.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        #expect(stream.read(through: "\n\n\r\n").contains("event: put"))

        let rules = #"{"rules": {"open": {".read": "auth != null"}}}"#
        let answer = try gateway.exchange(
          "PUT /.settings/rules.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Authorization: Bearer owner\r\nContent-Length: \(rules.utf8.count)\r\n\r\n"
            + rules)
        #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        let push = /"a":"c","b":\{"p":"open","d":"Permission denied \[([0-9a-f]{16})\]"\}/
        for told in [socket.message(), poll.answer(), native.frame()] {
          let entry = try log.entry(told.firstMatch(of: push)?.output.1)
          #expect(entry.contains("auth != null is false"), "\(told): \(entry)")
        }
        let event = /event: cancel\ndata: "Permission denied \[([0-9a-f]{16})\]"\n\n/
        let end = stream.readToEnd()
        #expect(
          try log.entry(end.firstMatch(of: event)?.output.1).contains("auth != null is false"))
      }
    }

    @Test("repeated denials are answered each time, and explained a few times a second")
    func flood() async throws {
      try await withLog { gateway, log in
        let socket = try gateway.connect()
        _ = socket.openWebSocket()
        let count = 500
        for number in 1...count { socket.ask(number, "p", #"{"p":"/n","d":10}"#) }
        for _ in 1...count { #expect(socket.message().contains("Permission denied [")) }
        let entries = log.entries.withLock { $0 }
        #expect(entries.count == count)
        #expect(entries.contains { !$0.contains("\n") }, "there are short ones")
        expectReason(try #require(entries.first))
      }
    }

    @Test("what a client has written cannot make itself a line of the log")
    func forgedLines() async throws {
      try await withLog { gateway, log in
        let socket = try gateway.connect()
        _ = socket.openWebSocket()
        socket.ask(1, "p", #"{"p":"/n","d":"1\ntern: denied\u001b[2J\u2028\""}"#)
        #expect(socket.message().contains("permission_denied"))
        let entry = try #require(log.entries.withLock { $0.first })
        #expect(!entry.contains("\u{1B}") && !entry.contains("\ntern"), "\(entry)")
      }
    }
  }
#endif
