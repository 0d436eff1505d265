#if TCP && canImport(Glibc)
  import Synchronization
  import TernCore
  import Testing

  @testable import TernGateway
  @testable import TernServer

  @Suite("Large nodes, piece by piece") struct ExportTests {
    /// Little is large here.
    private let small: ServerLimits = {
      var limits = ServerLimits(wholeReadBytes: 10_000, exports: 2)
      // No export gives up its place because this machine is slow.
      limits.exportStallMilliseconds = 600_000
      return limits
    }()

    /// Writes children `0000`… below a path, of about a kilobyte each; answers their JSON.
    private func fill(_ gateway: GatewayUnderTest, _ count: Int) throws -> String {
      let text = String(repeating: "é", count: 500)
      let members = (0..<count).map { "\"k\(10_000 + $0)\":\"\($0) \(text)\"" }
      let json = "{" + members.joined(separator: ",") + "}"
      let answer = try gateway.exchange(
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
      try await withGateway(serverLimits: small) { gateway in
        let json = try fill(gateway, 500)
        let peer = try gateway.connect()
        peer.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let answer = peer.bytes(through: "\r\n0\r\n\r\n")
        #expect(answer.position(of: "ransfer-") != nil)
        #expect(unchunked(answer) == Array(json.utf8))
        peer.send("GET /big/k10001.json?shallow=true HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(peer.read(through: "\"1 é").hasPrefix("HTTP/1.1 200 OK"))
        let head = try gateway.exchange(
          "HEAD /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200 OK"), "\(head)")
      }
    }

    @Test("what is printed, tagged or asked for in another way is the same")
    func otherWays() async throws {
      try await withGateway(serverLimits: small) { gateway in
        let json = try fill(gateway, 20)
        let tagged = try gateway.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "X-Firebase-ETag: true\r\n\r\n")
        #expect(tagged.hasSuffix(json) && tagged.contains("ETag: "))
        let export = try gateway.exchange(
          "GET /big.json?format=export HTTP/1.0\r\nHost: localhost\r\n\r\n")
        #expect(export.hasSuffix(json), "HTTP/1.0 knows no chunks: \(export.prefix(300))")
      }
    }

    @Test("a client without permission to read it gets nothing of it")
    func denied() async throws {
      let rules = #"{"rules": {"big": {".write": true}}}"#
      try await withGateway(serverLimits: small, rules: rules) { gateway in
        _ = try fill(gateway, 20)
        let answer = try gateway.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 401"))
        let stream = try gateway.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Accept: text/event-stream\r\n\r\n")
        #expect(stream.hasPrefix("HTTP/1.1 401"))
      }
    }

    @Test("readers that stop reading delay no others, and no more than the limit are taken")
    func slowReaders() async throws {
      try await withGateway(serverLimits: small) { gateway in
        // More than the sockets of both ends take by themselves.
        _ = try fill(gateway, 6_000)
        let slow = try (0..<2).map { _ in try gateway.connectNarrow() }
        for peer in slow {
          peer.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
          #expect(peer.read(through: "k10000").hasPrefix("HTTP/1.1 200 OK"))
        }
        let third = try gateway.exchange(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(third.hasPrefix("HTTP/1.1 503"), "\(third.prefix(100))")
        let write = "PUT /big/k10000.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        let answer = try gateway.exchange(write + "Content-Length: 1\r\n\r\n1")
        #expect(answer.hasSuffix("\r\n1"))
        // They still see what there was when they began.
        for peer in slow {
          #expect(peer.bytes(through: "\r\n0\r\n\r\n").occurrences(of: "\"k1") == 6_000 - 1)
        }
      }
    }

    @Test("what is sent and not taken stays within its limit, however the reader pauses")
    func bounded() async throws {
      try await withGateway(serverLimits: small) { gateway in
        let json = try fill(gateway, 3_000)
        let meter = Meter()
        let export = try #require(
          await gateway.server.export(try TreePath("big"), .value, of: "default") { meter.hear($0) }
        )
        while let waiting = await meter.whenFull() {
          // The producer waits now, so that these two cannot be overtaken.
          meter.took(waiting / 2)
          export.take(waiting / 2)
        }
        #expect(meter.told == json.utf8.count)
        #expect(meter.most > TreeExport.aheadBytes)
        #expect(meter.most <= Self.aheadLimit)
      }
    }

    /// The limit on bytes under way, and one piece that ends with a child of ours.
    private static let aheadLimit = TreeExport.aheadBytes + TreeExport.pieceBytes + 2_048

    @Test("of a node that is large no more waits for a reader that stalls than its limit")
    func stalled() async throws {
      try await withGateway(serverLimits: small) { gateway in
        // More than the sockets of both ends take by themselves.
        _ = try fill(gateway, 6_000)
        for header in ["", "Accept: text/event-stream\r\n"] {
          let peer = try gateway.connectNarrow()
          peer.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\(header)\r\n")
          #expect(peer.read(through: "k10000").contains("HTTP/1.1 200 OK"))
          var most = 0
          let deadline = ContinuousClock.now + .seconds(60)
          while most < TreeExport.aheadBytes, ContinuousClock.now < deadline {
            most = max(most, await gateway.server.untakenBytes)
          }
          #expect(most >= TreeExport.aheadBytes, "the reader was to stall")
          for _ in 0..<100 { most = max(most, await gateway.server.untakenBytes) }
          #expect(most <= Self.aheadLimit)
          #expect(peer.bytes(through: "\"k15999\"").occurrences(of: "\"k1") == 6_000 - 1)
        }
      }
    }

    @Test("events that a stream cannot say yet are held up to a limit, and then it is cut off")
    func heldEvents() async throws {
      var limits = GatewayLimits()
      limits.streamBytes = 20_000
      try await withGateway(limits: limits, serverLimits: small) { gateway in
        _ = try fill(gateway, 6_000)
        let stream = try gateway.connectNarrow()
        stream.send(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        _ = stream.read(through: "k10000")
        let writer = try gateway.connect()
        for number in 1...50 {
          writer.send(
            "PUT /big/n.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n"
              + "\(number + 10)")
          _ = writer.read(through: "\r\n\r\n\(number + 10)")
        }
        let ends = await gateway.ends { !$0.isEmpty }
        #expect(
          ends.contains {
            if case .linkClosed(let why) = $0 { why.hasPrefix("lost") } else { false }
          })
        #expect(!stream.readToEnd().contains("event: put\ndata: {\"path\":\"/n\""))
      }
    }

    @Test("a stream begins with what is there, and misses nothing that happens meanwhile")
    func stream() async throws {
      try await withGateway(serverLimits: small) { gateway in
        _ = try fill(gateway, 6_000)
        let stream = try gateway.connectNarrow()
        stream.send(
          "GET /big.json HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        #expect(stream.read(through: "k10000").contains(#"data: {"path":"/","data":"#))
        let writer = try gateway.connect()
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
      try await withGateway(serverLimits: small) { gateway in
        _ = try fill(gateway, 6_000)
        do {
          let peer = try gateway.connectNarrow()
          peer.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
          _ = peer.read(through: "k10000")
        }
        let staying = try gateway.connectNarrow()
        staying.send("GET /big.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = staying.read(through: "k10000")
        await gateway.server.stop()
      }
    }
  }

  /// Hears an export, and counts what was told and not taken.
  private final class Meter: Sendable {
    private struct State {
      var told = 0
      var taken = 0
      var most = 0
      var isOver = false
      var waiting: CheckedContinuation<Int?, Never>?
    }

    private let state = Mutex(State())

    var told: Int { state.withLock { $0.told } }
    /// The most that was told and not taken at any time.
    var most: Int { state.withLock { $0.most } }

    func hear(_ event: TreeExport.Event) {
      let news: (CheckedContinuation<Int?, Never>, Int?)? = state.withLock { state in
        if case .piece(let bytes) = event {
          state.told += bytes.count
          state.most = max(state.most, state.told - state.taken)
        } else {
          state.isOver = true
        }
        let (isReady, answer) = Self.news(state)
        guard isReady, let waiting = exchange(&state.waiting, with: nil) else { return nil }
        return (waiting, answer)
      }
      news?.0.resume(returning: news?.1)
    }

    func took(_ bytes: Int) { state.withLock { $0.taken += bytes } }

    /// Waits until as much is told and not taken as may be; `nil` at the end.
    func whenFull() async -> Int? {
      await withCheckedContinuation { done in
        let news: Int?? = state.withLock { state in
          let (isReady, answer) = Self.news(state)
          if isReady { return .some(answer) }
          state.waiting = done
          return nil
        }
        if let news { done.resume(returning: news) }
      }
    }

    private static func news(_ state: borrowing State) -> (isReady: Bool, answer: Int?) {
      if state.isOver { return (true, nil) }
      let ahead = state.told - state.taken
      return (ahead >= TreeExport.aheadBytes, ahead)
    }
  }

  extension TernServer {
    /// The most that any export has told and its taker has not done with.
    fileprivate var untakenBytes: Int { exports.all.map(\.untakenBytes).max() ?? 0 }
  }
#endif
