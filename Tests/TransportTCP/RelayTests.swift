#if TCP && canImport(Glibc)
  import Dispatch
  import Synchronization
  import TernLinkTesting
  import TernTransport
  import Testing

  @testable import TernTransportTCP

  private let hello: [UInt8] = [0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1]
  private let question: [UInt8] = [0, 0, 0, 2, 7, 9]

  /// A code that only who knows the key can make, as far as these tests go.
  func keyedCode(_ key: UInt64) -> RelayHeader.Coding {
    { message in
      (0..<UInt64(RelayHeader.codeBytes)).map { index in
        let sum = message.reduce(key &+ index) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        // The last bytes are to count in every bit as well.
        return UInt8(truncatingIfNeeded: ((sum ^ sum >> 29) &* 0xBF58_476D_1CE4_E5B9) >> 56)
      }
    }
  }

  private let header = RelayHeader(
    client: ProxyHeader.Client(address: "192.0.2.7", port: 4_321), time: 1_000_000, nonce: 42)

  @Suite("headers of relays") struct RelayHeaderTests {
    @Test("a header is read as it was written", arguments: ["192.0.2.7", "2001:db8::7"])
    func written(address: String) throws {
      var header = header
      header.client = ProxyHeader.Client(address: address, port: 65_535)
      let bytes = try #require(header.bytes(to: "db:9000", keyedCode(1)))
      let reading = RelayHeader.read(bytes + [1, 2, 3], at: "db:9000", keyedCode(1))
      #expect(reading == .whole(header, byteCount: bytes.count))
      // Any reader of the PROXY protocol understands it.
      #expect(ProxyHeader(bytes) == .whole(header.client, byteCount: bytes.count))
      for count in 0..<bytes.count {
        #expect(
          RelayHeader.read(Array(bytes.prefix(count)), at: "db:9000", keyedCode(1)) == .undecided)
      }
    }

    @Test("a header with any bit changed, for another node, or under another secret is none")
    func forged() throws {
      let bytes = try #require(header.bytes(to: "db:9000", keyedCode(1)))
      for bit in 0..<bytes.count * 8 {
        var changed = bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        let reading = RelayHeader.read(changed, at: "db:9000", keyedCode(1))
        #expect(reading == .forged || reading == .other, "bit \(bit)")
      }
      #expect(RelayHeader.read(bytes, at: "db:9001", keyedCode(1)) == .forged)
      #expect(RelayHeader.read(bytes, at: "db:9000", keyedCode(2)) == .forged)
      #expect(RelayHeader.read(Array("GET / HTTP/1.1".utf8), at: "db:9000", keyedCode(1)) == .other)
      var other = header
      other.client = ProxyHeader.Client(address: "loopback#3", port: 1)
      #expect(other.bytes(to: "db:9000", keyedCode(1)) == nil)
    }

    @Test("a header is believed once, while it is fresh, and up to a limit")
    func admission() {
      let window = RelayLimits.clockDifferenceMilliseconds
      var admission = RelayAdmission(limit: 3)
      var header = header
      #expect(admission.admit(header, now: header.time + window + 1) == .stale)
      #expect(admission.admit(header, now: header.time - window - 1) == .stale)
      #expect(admission.admit(header, now: .min) == .stale)
      #expect(admission.admit(header, now: header.time - window) == .admitted)
      #expect(admission.admit(header, now: header.time + window) == .replayed)
      for nonce in 1...2 as ClosedRange<UInt128> {
        header.nonce = nonce
        #expect(admission.admit(header, now: header.time) == .admitted)
      }
      header.nonce = 3
      #expect(admission.admit(header, now: header.time) == .overloaded)
      header.time += 3 * window
      #expect(admission.admit(header, now: header.time) == .admitted)
      #expect(admission.count == 1)
    }

    @Test("addresses of nodes have a host and a port")
    func addresses() {
      #expect(TCPAddress(withPort: "10.0.0.1:9000")?.port == 9_000)
      #expect(TCPAddress(withPort: "[fd00::1]:9000")?.host == "fd00::1")
      #expect(TCPAddress(withPort: "db-1:9000")?.host == "db-1")
      for text in ["", ":9000", "db", "db:", "db:0", "db:65536", "fd00::1:9000", "db:x"] {
        #expect(TCPAddress(withPort: text) == nil, "\(text)")
      }
    }

    @Test("the pages of the operator are told by their first bytes")
    func operators() {
      #expect(RelayGate.isOperators(Array("GET /-/readyz".utf8)) == true)
      #expect(RelayGate.isOperators(Array("HEAD /-/metrics HTTP/1.1".utf8)) == true)
      #expect(RelayGate.isOperators(Array("GET /-/read".utf8)) == nil)
      #expect(RelayGate.isOperators([]) == nil)
      for text in ["GET /a.json", "GET /-/console", "PUT /-/x", "TERN", "PRI * HTTP/2.0", "\u{16}"]
      {
        #expect(RelayGate.isOperators(Array(text.utf8)) == false, "\(text)")
      }
    }
  }

  /// Sends back what it is sent, and keeps who it was; sends a lot for a frame of one byte.
  private final class Server: Sendable {
    struct Heard {
      var peers: [String] = []
      var drained = 0
    }

    static let flood = 24 << 20
    let heard = Mutex(Heard())

    func open(_ link: any Link) -> any LinkHandler {
      heard.withLock { $0.peers.append(link.peer) }
      return Handler(link, self)
    }

    private final class Handler: LinkHandler {
      private let link: any Link
      private let server: Server

      init(_ link: any Link, _ server: Server) { (self.link, self.server) = (link, server) }

      func linkDidReceive(_ frames: [[UInt8]]) {
        for frame in frames {
          link.send(frame.count == 1 ? [UInt8](repeating: frame[0], count: Server.flood) : frame)
        }
        link.flush()
      }

      func linkDidDrain() { server.heard.withLock { $0.drained += 1 } }
      func linkDidClose(_ reason: LinkClosure) {}
    }
  }

  /// A node that leads, and one that stands by.
  private struct Nodes {
    let server = Server()
    let leader: TCPTransport
    let leading: NodeRelay
    let standby: TCPTransport
    let relaying: NodeRelay
    let leaderPort: Int
    let port: Int
    /// The place that the standby knows of.
    let known: KnownPlace
    var address: String { "127.0.0.1:\(leaderPort)" }

    init(
      limit: Int = RelayLimits.connections, preambleSeconds: Int = 10,
      patience: Duration = .seconds(60), lookMilliseconds: Int64 = RelayLimits.lookMilliseconds
    ) async throws {
      let server = server
      let listener = try await RelayedListener(
        relay: { NodeRelay(Self.setting($0) { .here }) }, accept: { server.open($0) })
      (leader, leading) = (listener.transport, listener.relay)
      leaderPort = RelayedListener.port(of: listener.address)
      let known = KnownPlace(.node(listener.address))
      self.known = known
      relaying = NodeRelay(
        Self.setting("127.0.0.1:1") { known.place }, limit: limit, patience: patience,
        lookMilliseconds: lookMilliseconds)
      var options = TCPOptions(port: 0)
      options.preambleTimeoutSeconds = preambleSeconds
      standby = try TCPTransport(options)
      standby.relay(over: relaying)
      let own = try await standby.listen { server.open($0) }.address
      port = RelayedListener.port(of: own)
    }

    static func setting(
      _ address: String, _ place: @escaping @Sendable () -> NodeRelay.Place
    ) -> NodeRelay.Setting {
      NodeRelay.Setting(
        address: address, code: keyedCode(1), now: { header.time },
        randomBits: { UInt64.random(in: .min ... .max) }, place: place)
    }

    /// Waits until the figures of the standby pass a test.
    func settle(_ isEnough: (NodeRelay.Figures) -> Bool) async {
      if await relaying.settle(on: standby, isEnough) == nil {
        Issue.record("the relay stays at \(relaying.figures)")
      }
    }

    func end() async {
      await standby.shutdown()
      await leader.shutdown()
    }

    /// Sends bytes, ends its output, and returns what comes back.
    func exchange(_ bytes: [UInt8], port: Int? = nil) async throws -> [UInt8] {
      let peer = try RawPeer(port: port ?? self.port)
      peer.send(bytes)
      peer.closeOutput()
      return await apart { peer.readToEnd() ?? [] }
    }
  }

  /// Runs what blocks on a thread of its own.
  private func apart<R: Sendable>(_ body: @escaping () -> R) async -> R {
    let body = Unchecked(body)
    return await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: body.value()) }
    }
  }

  /// Carries a value to another thread; its test does not touch it meanwhile.
  private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  @Suite("relays between nodes", .timeLimit(.minutes(2))) struct RelayTests {
    @Test("a node that stands by passes bytes both ways, and the ends of both sides")
    func passes() async throws {
      let nodes = try await Nodes()
      #expect(try await nodes.exchange(hello + question) == hello + question)
      #expect(nodes.relaying.figures.relayed == 1)
      #expect(nodes.leading.figures.accepted == 1)
      #expect(nodes.server.heard.withLock { $0.peers.count } == 1)
      await nodes.end()
    }

    @Test("the leader believes a good header once, and no other")
    func believes() async throws {
      let nodes = try await Nodes()
      let good = try #require(header.bytes(to: nodes.address, keyedCode(1)))
      let first = try await nodes.exchange(good + hello + question, port: nodes.leaderPort)
      #expect(first == hello + question)
      #expect(nodes.server.heard.withLock { $0.peers } == ["192.0.2.7:4321"])
      var stale = header
      (stale.nonce, stale.time) = (43, header.time - RelayLimits.clockDifferenceMilliseconds - 1)
      var fresh = header
      fresh.nonce = 44
      let bad = [
        good,
        try #require(stale.bytes(to: nodes.address, keyedCode(1))),
        try #require(fresh.bytes(to: nodes.address, keyedCode(2))),
        try #require(fresh.bytes(to: "127.0.0.1:1", keyedCode(1))),
      ]
      for bytes in bad {
        let answer = try await nodes.exchange(bytes + hello + question, port: nodes.leaderPort)
        #expect(answer == [])
      }
      let whole = try #require(fresh.bytes(to: nodes.address, keyedCode(1)))
      #expect(try await nodes.exchange(Array(whole.dropLast()), port: nodes.leaderPort) == [])
      #expect(nodes.leading.figures.disbelieved == 4)
      #expect(nodes.leading.figures.accepted == 1)
      #expect(nodes.server.heard.withLock { $0.peers.count } == 1)
      await nodes.end()
    }

    @Test("what was relayed once is not relayed again")
    func loops() async throws {
      let nodes = try await Nodes()
      let first = try #require(header.bytes(to: "127.0.0.1:1", keyedCode(1)))
      #expect(try await nodes.exchange(first + hello + question) == [])
      #expect(nodes.relaying.figures.repeated == 1)
      #expect(nodes.relaying.figures.relayed == 0)
      await nodes.end()
    }

    @Test("when the leader changes, relayed connections end")
    func leaderChanges() async throws {
      let nodes = try await Nodes()
      let peer = try RawPeer(port: nodes.port)
      peer.send(hello + question)
      #expect(await apart { peer.read(count: hello.count + question.count) } == hello + question)
      #expect(nodes.relaying.figures.open == 1)
      nodes.relaying.endAll()
      #expect(await apart { peer.readToEnd() ?? [] } == [])
      #expect(try await nodes.exchange(hello + question) == hello + question)
      await nodes.end()
    }

    @Test("a connection waits for a node that leads, and is relayed then")
    func waits() async throws {
      let nodes = try await Nodes(limit: 2)
      // Nothing listens at port 1: that leader has died.
      for place in [NodeRelay.Place.unknown, .node("127.0.0.1:1")] {
        nodes.known.place = place
        let peers = try [RawPeer(port: nodes.port), RawPeer(port: nodes.port)]
        for peer in peers { peer.send(hello + question) }
        await nodes.settle { $0.held == 2 }
        // One more is too many.
        #expect(try await nodes.exchange(hello + question) == [])
        nodes.known.place = .node(nodes.address)
        for peer in peers {
          #expect(
            await apart { peer.read(count: hello.count + question.count) } == hello + question)
          peer.closeOutput()
          #expect(await apart { peer.readToEnd() ?? [] } == [])
        }
        await nodes.settle { $0.held == 0 && $0.open == 0 }
      }
      #expect(nodes.relaying.figures.refused == 2)
      #expect(nodes.relaying.figures.relayed == 4)
      await nodes.end()
    }

    @Test("a connection that waits looks again at once when the relay is told of a change")
    func looksAgain() async throws {
      let nodes = try await Nodes(lookMilliseconds: 3_600_000)
      nodes.known.place = .unknown
      let peers = try [RawPeer(port: nodes.port), RawPeer(port: nodes.port)]
      for peer in peers { peer.send(hello + question) }
      await nodes.settle { $0.held == 2 }
      nodes.relaying.lookAgain()
      nodes.known.place = .node(nodes.address)
      nodes.relaying.lookAgain()
      for peer in peers {
        #expect(
          await apart { peer.read(count: hello.count + question.count) } == hello + question)
      }
      await nodes.settle { $0.held == 0 }
      await nodes.end()
    }

    @Test("a connection that has waited for its time is served here, or ended")
    func waitsNoLonger() async throws {
      let nodes = try await Nodes(patience: .milliseconds(200))
      nodes.known.place = .unknown
      #expect(try await nodes.exchange(hello + question) == hello + question)
      nodes.known.place = .node("127.0.0.1:1")
      #expect(try await nodes.exchange(hello + question) == [])
      #expect(nodes.relaying.figures.unreachable == 1)
      await nodes.end()
      // What ends meanwhile is counted out.
      let patient = try await Nodes(patience: .seconds(30))
      patient.known.place = .unknown
      do {
        let peer = try RawPeer(port: patient.port)
        peer.send(hello)
        await patient.settle { $0.held == 1 }
      }
      await patient.settle { $0.held == 0 && $0.open == 0 }
      await patient.end()
    }

    @Test("a leader that is gone, and connections beyond the limit, end")
    func limits() async throws {
      let nodes = try await Nodes(limit: 1, patience: .milliseconds(100))
      let peer = try RawPeer(port: nodes.port)
      peer.send(hello + question)
      #expect(await apart { peer.read(count: hello.count + question.count) } == hello + question)
      #expect(try await nodes.exchange(hello + question) == [])
      #expect(nodes.relaying.figures.refused == 1)
      await nodes.leader.shutdown()
      #expect(await apart { peer.readToEnd() ?? [] } == [])
      peer.closeOutput()
      var answer = try await nodes.exchange(hello + question)
      // The place of the first is free once both of its ends are closed.
      while nodes.relaying.figures.unreachable == 0 {
        answer = try await nodes.exchange(hello + question)
      }
      #expect(answer == [])
      await nodes.standby.shutdown()
    }

    @Test("a client that reads nothing holds up its own connection at the leader, and no other")
    func slowReader() async throws {
      let nodes = try await Nodes()
      let slow = try RawPeer(port: nodes.port)
      slow.send(hello + [0, 0, 0, 1, 5])
      #expect(await apart { slow.read(count: hello.count + 4) }.count == hello.count + 4)
      for _ in 0..<50 {
        #expect(try await nodes.exchange(hello + question) == hello + question)
      }
      #expect(nodes.server.heard.withLock { $0.drained } == 0, "the relay holds what is not read")
      let rest = await apart { slow.read(count: Server.flood) }
      #expect(rest.count == Server.flood && rest.allSatisfy { $0 == 5 })
      await nodes.end()
    }

    @Test("connections that say nothing cost the leader nothing, and end")
    func halfOpen() async throws {
      let nodes = try await Nodes(preambleSeconds: 2)
      let silent = try (0..<2_000).map { _ in try RawPeer(port: nodes.port) }
      #expect(try await nodes.exchange(hello + question) == hello + question)
      #expect(nodes.leading.figures.accepted == 1)
      let all = Unchecked(silent)
      #expect(await apart { all.value.allSatisfy { $0.readToEnd() == [] } })
      #expect(nodes.leading.figures.accepted == 1)
      await nodes.end()
    }
  }
#endif
