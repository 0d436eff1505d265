#if TCP && canImport(Glibc)
  import Synchronization
  import TernCore
  import TernLedger
  import TernSecurity
  import TernSync
  import TernTestKit
  import TernTransport
  import TernTransportTCP
  import Testing

  @testable import TernGateway
  @testable import TernServer

  /// A client that asks the node of another shard for large data gets the statuses of the node that
  /// has them, whether that refuses the question or, a moment later, the reading.
  @Suite("Large reads of another shard over HTTP", .timeLimit(.minutes(5)))
  struct ShardedReadTests {
    /// A directory by which `games` is led by one other node.
    private struct OtherShard: ShardDirectory {
      let table: ShardTable
      let address: String
      var own: UInt32 { 0 }

      func leader(of shard: UInt32) async throws(LedgerError) -> String? { address }
    }

    /// Links to the other node over TCP; `step` happens before the link with each number is opened.
    private struct Steps: LeaderLinks {
      let transport: TCPTransport
      let step: @Sendable (Int) async -> Void
      private let count = Counter()

      init(_ port: Int, _ step: @escaping @Sendable (Int) async -> Void) throws {
        transport = try TCPTransport(TCPOptions(port: port))
        self.step = step
      }

      func connect(
        to address: String, for client: String, _ open: @escaping LinkOpening
      ) async throws(TransportError) -> any Link {
        await step(count.next())
        return try await transport.connect(open)
      }
    }

    private final class Counter: Sendable {
      private let value = Atomic(0)

      func next() -> Int { value.add(1, ordering: .relaxed).newValue }
    }

    /// A node that calls everything large, and answers the question for it by given frames.
    private struct Scripted: LeaderLinks {
      let answers: [[UInt8]]
      /// True to end the link behind them.
      let ends: Bool

      func connect(
        to address: String, for client: String, _ open: @escaping LinkOpening
      ) async throws(TransportError) -> any Link {
        let link = ScriptedLink(answers, ends: ends)
        link.begin(open(link))
        return link
      }
    }

    private final class ScriptedLink: Link {
      private let answers: [[UInt8]]
      private let ends: Bool
      private let handler = Mutex<(any LinkHandler)?>(nil)

      init(_ answers: [[UInt8]], ends: Bool) { (self.answers, self.ends) = (answers, ends) }

      var peer: String { "other" }
      var queuedBytes: Int { 0 }

      func begin(_ handler: any LinkHandler) { self.handler.withLock { $0 = handler } }
      func flush() {}
      func setReading(_ on: Bool) {}
      func close() { handler.withLock { $0 = nil } }

      func send(_ frame: [UInt8]) {
        guard let handler = handler.withLock({ $0 }), let read = try? DirectFrame(frame, .request)
        else { return }
        if read.pieceForm == nil {
          let large = try? DirectFrame(.large, read.number).encoded()
          return handler.linkDidReceive([large ?? []])
        }
        if !answers.isEmpty { handler.linkDidReceive(answers) }
        if ends { handler.linkDidClose(.closedByPeer) }
      }
    }

    /// The node of the data, and one of another shard that clients ask.
    private func withNodes(
      requests: Int? = nil, rules: String = #"{"rules": {".read": true}}"#,
      step: @escaping @Sendable (Int, TernServer) async -> Void = { _, _ in },
      _ body: (GatewayUnderTest) async throws -> Void
    ) async throws {
      let rates = RateLimits(
        requestsPerAddress: requests.map { _ in 1 }, burstSeconds: requests ?? 1)
      let clock = ManualClock()
      let still = RuntimeEnvironment(
        millisecondsSinceEpoch: { 1_760_000_000_000 }, clock: clock,
        randomBits: RuntimeEnvironment.system.randomBits)
      let right = try await GatewayUnderTest(
        serverLimits: ServerLimits(wholeReadBytes: 10_000, rates: rates), rules: rules,
        ambient: still)
      let server = right.server
      let links = try Steps(right.port) { await step($0, server) }
      try await withWrongNode(links) { wrong in
        let text = String(repeating: "x", count: 20_000)
        let put = try right.exchange(
          "PUT /big.json?ns=games&print=silent HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Authorization: Bearer owner\r\nContent-Length: \(text.utf8.count + 2)\r\n\r\n"
            + "\"\(text)\"")
        #expect(put.hasPrefix("HTTP/1.1 204"), "\(put)")
        try await body(wrong)
      }
      await links.transport.shutdown()
      await right.stop()
    }

    private func withWrongNode(
      _ links: any LeaderLinks, _ body: (GatewayUnderTest) async throws -> Void
    ) async throws {
      try await withGateway { wrong in
        await wrong.server.serveShards(
          by: OtherShard(table: try ShardTable([1: ["games"]]), address: "10.9.8.7:9000"),
          over: links)
        // The call to the server has left the thread that may wait for sockets.
        try await apart { try await body(wrong) }
      }
    }

    private func read(_ gateway: GatewayUnderTest, _ fields: String = "") throws -> String {
      try gateway.exchange(
        "GET /big.json?ns=games HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\r\n")
    }

    @Test("rules and tokens that do not count are 401, and no byte of the data is told")
    func denied() async throws {
      try await withNodes(rules: #"{"rules": {}}"#) { wrong in
        let whole = try read(wrong, "Authorization: Bearer owner\r\n")
        #expect(whole.hasPrefix("HTTP/1.1 200") && whole.contains("xxx"))
        let stranger = try read(wrong)
        #expect(stranger.hasPrefix("HTTP/1.1 401"), "\(stranger)")
        #expect(stranger.contains("Permission denied"), "\(stranger)")
        let forged = try read(wrong, "Authorization: Bearer forged\r\n")
        #expect(forged.hasPrefix("HTTP/1.1 401"), "\(forged)")
        for stream in ["", "Authorization: Bearer forged\r\n"] {
          let refused = try read(wrong, "Accept: text/event-stream\r\n" + stream)
          #expect(refused.hasPrefix("HTTP/1.1 401"), "\(refused)")
        }
        #expect(![stranger, forged].contains { $0.contains("xxx") })
      }
    }

    @Test("a right that is lost between the question and the reading is 401")
    func lostRight() async throws {
      let step: @Sendable (Int, TernServer) async -> Void = { number, right in
        guard number == 2 else { return }
        let request = DirectRequest(
          namespace: "games", isLocal: true, address: "127.0.0.1",
          credential: Credential(.service, token: "owner", isLocal: true),
          .setRules(Array(#"{"rules": {}}"#.utf8), isTrial: false))
        _ = await withCheckedContinuation { done in
          Task { await right.ask(request) { done.resume(returning: $0) } }
        }
      }
      try await withNodes(step: step) { wrong in
        let answer = try read(wrong)
        #expect(answer.hasPrefix("HTTP/1.1 401"), "\(answer)")
        #expect(answer.contains("Permission denied") && !answer.contains("xxx"), "\(answer)")
      }
    }

    @Test("too many requests are 429, at the question and at the reading", arguments: [1, 2, 3])
    func tooMany(requests: Int) async throws {
      // One writes the data.
      try await withNodes(requests: requests) { wrong in
        let answer = try read(wrong)
        if requests == 3 {
          #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("xxx"), "\(answer)")
        } else {
          #expect(answer.hasPrefix("HTTP/1.1 429"), "\(answer)")
          #expect(answer.contains("Retry-After: 1\r\n"), "\(answer)")
          #expect(answer.contains("Too many requests"), "\(answer)")
        }
      }
    }

    /// A refusal of the other node, and the beginning and a part of the answer to the client.
    static let refusals: [(refusal: DirectRefusal, status: Int, part: String)] = [
      (.unauthenticated("The token was revoked."), 401, "The token was revoked."),
      (
        .permissionDenied(AccessRefusal(id: "0123456789abcdef")), 401,
        "X-Tern-Denial: 0123456789abcdef"
      ),
      (.invalid("No such thing."), 400, "No such thing."),
      (.tooBig(limitBytes: 9), 400, "maximum size of 9 bytes"),
      (.damaged, 500, "damaged"),
      (
        .tooMany(RateExcess(isOfAddress: false, perSecond: 1, waitMilliseconds: 1_500)), 429,
        "Retry-After: 2\r\n"
      ),
      (.sentAway(.moved(host: "elsewhere.example.com")), 307, "elsewhere.example.com"),
      (.sentAway(.closed(reason: "for good")), 423, "for good"),
      (.unavailable("Too much is being read already. Try again."), 503, "Retry-After: 1\r\n"),
    ]

    @Test("each refusal of the reading keeps its status and its fields", arguments: 0..<9)
    func refusal(index: Int) async throws {
      let (refusal, status, part) = Self.refusals[index]
      let frame = try DirectFrame(.refused(refusal), RemoteExport.number).encoded()
      try await withWrongNode(Scripted(answers: [frame], ends: false)) { wrong in
        // The connection goes on behind it.
        let peer = try wrong.connect()
        for _ in 0..<2 {
          peer.send("GET /big.json?ns=games HTTP/1.1\r\nHost: localhost\r\n\r\n")
          let answer = peer.read(through: "\"}")
          #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
          #expect(answer.contains(part), "\(answer)")
        }
      }
    }

    @Test("a node that is lost or talks nonsense is 503 before the first byte, without its address")
    func lost() async throws {
      let nonsense = try DirectFrame(.done, RemoteExport.number).encoded()
      for links in [Scripted(answers: [], ends: true), Scripted(answers: [nonsense], ends: false)] {
        try await withWrongNode(links) { wrong in
          let answer = try read(wrong)
          #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
          #expect(answer.contains("Retry-After: 1\r\n"), "\(answer)")
        }
      }
      try await withWrongNode(Unreachable()) { wrong in
        let answer = try read(wrong)
        #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
        #expect(!answer.contains("10.9.8.7"), "\(answer)")
      }
    }

    private struct Unreachable: LeaderLinks {
      func connect(
        to address: String, for client: String, _ open: @escaping LinkOpening
      ) async throws(TransportError) -> any Link {
        throw .refused(host: "10.9.8.7", port: 9000)
      }
    }

    @Test("a refusal behind the first bytes cuts the answer off, so that it is not taken for whole")
    func cutOff() async throws {
      let piece = DirectFrame.piece(Array("\"abc".utf8), RemoteExport.number)
      let refusal = try DirectFrame(.refused(.permissionDenied()), RemoteExport.number).encoded()
      let ends = [
        Scripted(answers: [piece, refusal], ends: false), Scripted(answers: [piece], ends: true),
      ]
      for links in ends {
        try await withWrongNode(links) { wrong in
          let answer = try read(wrong)
          #expect(answer.hasPrefix("HTTP/1.1 200") && !answer.hasSuffix("0\r\n\r\n"), "\(answer)")
        }
      }
    }
  }
#endif
