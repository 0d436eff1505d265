#if TCP && canImport(Glibc)
  import Foundation
  import Synchronization
  import TernLinkTesting
  import TernTransport
  import Testing

  @testable import TernTransportTCP

  /// A node that leads, and one that follows.
  private struct Pair {
    let server = EchoServer()
    let leader: TCPTransport
    let leading: NodeRelay
    let follower: TCPTransport
    let following: NodeRelay
    /// The leader's address.
    let address: String

    /// - Parameters:
    ///   - key: The secret of the follower; that of the leader is 1.
    ///   - place: The place that the leader knows of.
    init(
      leaderTLS: TLSOptions? = nil, tls: TLSOptions? = nil, key: UInt64 = 1,
      limit: Int = RelayLimits.connections,
      place: @autoclosure @escaping @Sendable () -> NodeRelay.Place = .here,
      foreign: ForeignProtocolSetup? = nil,
      copyHold: Duration = .seconds(RelayLimits.copyHoldSeconds)
    ) async throws {
      let server = server
      let listener = try await RelayedListener(
        tls: leaderTLS,
        relay: { NodeRelay(Self.setting($0, key: 1) { place() }, copyHold: copyHold) },
        prepare: { transport in
          if let foreign { transport.serveForeignProtocols(foreign) }
        }, accept: { server.open($0) })
      (leader, leading, address) = (listener.transport, listener.relay, listener.address)
      let address = address
      following = NodeRelay(
        Self.setting("127.0.0.1:1", key: key) { .node(address) }, limit: limit)
      var options = TCPOptions(port: 0)
      options.tls = tls
      follower = try TCPTransport(options)
      follower.relay(over: following)
    }

    private static func setting(
      _ address: String, key: UInt64, _ place: @escaping @Sendable () -> NodeRelay.Place
    ) -> NodeRelay.Setting {
      NodeRelay.Setting(
        address: address, code: keyedCode(key), now: { 1_000_000 },
        randomBits: { UInt64.random(in: .min ... .max) }, place: place)
    }

    /// Opens a link from the follower to the leader.
    func call(_ peer: String = "192.0.2.7:4321") async throws -> (
      link: any Link, ear: FrameReceiver
    ) {
      let follower = follower
      let ear = FrameReceiver { follower.executor.checkIsolated() }
      let link = try await follower.connect(to: address, for: peer, through: following) { _ in
        follower.executor.checkIsolated()
        return ear
      }
      return (link, ear)
    }

    /// Says something over a link, and returns what comes back.
    func say(_ text: String, _ call: (link: any Link, ear: FrameReceiver)) async -> String? {
      call.link.send(Array(text.utf8))
      call.link.flush()
      return await call.ear.nextText()
    }

    /// Says something over a link of its own, and returns what comes back.
    func say(_ text: String) async throws -> String? {
      let call = try await call()
      let answer = await say(text, call)
      call.link.close()
      return answer
    }

    /// Returns the error of an attempt to open a link.
    func failure(
      _ peer: String = "192.0.2.7:4321", to address: String? = nil
    ) async -> TransportError? {
      do throws(TransportError) {
        _ = try await follower.connect(
          to: address ?? self.address, for: peer, through: following
        ) { _ in
          Issue.record("a link that is not opened has no handler")
          return FrameReceiver()
        }
        return nil
      } catch { return error }
    }

    /// Waits until the figures of the follower pass a test.
    ///
    /// - Parameter atLeader: True for the figures of the leader.
    func settle(
      atLeader isLeader: Bool = false, _ isEnough: (NodeRelay.Figures) -> Bool
    ) async {
      let relay = isLeader ? leading : following
      if await relay.settle(on: follower, isEnough) == nil {
        Issue.record("the relay stays at \(relay.figures)")
      }
    }

    func end() async {
      await follower.shutdown()
      await leader.shutdown()
    }
  }

  @Suite("upstream links", .timeLimit(.minutes(2))) struct UpstreamLinkTests {
    @Test(
      "the leader takes a link for the client's own, and frames go both ways",
      arguments: [
        ("192.0.2.7:4321", "192.0.2.7:4321"), ("[2001:db8::7]:5000", "2001:db8::7:5000"),
        ("remote 127.0.0.1:50412 for https://example.com", "remote 127.0.0.1:50412"),
        ("[::1]:5000", "::1:5000"), ("loopback#3", "127.0.0.1:0"),
      ])
    func client(peer: String, told: String) async throws {
      let pair = try await Pair()
      let call = try await pair.call(peer)
      #expect(await pair.say("hello", call) == "hello")
      #expect(pair.server.peers == [told])
      #expect(call.link.peer == pair.address)
      #expect(pair.leading.figures.accepted == 1)
      #expect(pair.following.figures.upstream == 1 && pair.following.figures.upstreamOpened == 1)
      #expect(pair.following.figures.open == 0)
      await pair.end()
    }

    @Test("links stay open when relayed connections end, and their own end is told once")
    func ends() async throws {
      let pair = try await Pair()
      let (first, second, third) = (
        try await pair.call(), try await pair.call(), try await pair.call()
      )
      pair.following.endAll()
      for call in [first, second, third] {
        #expect(await pair.say("still here", call) == "still here")
      }
      first.link.close()
      #expect(await first.ear.nextText() == nil)
      await pair.settle { $0.upstream == 2 }
      second.link.abort()
      #expect(await second.ear.nextText() == nil)
      await pair.settle { $0.upstream == 1 }
      await pair.leader.shutdown()
      #expect(await third.ear.nextText() == nil)
      await pair.settle { $0.upstream == 0 }
      third.link.close()
      await pair.follower.shutdown()
      for call in [first, second, third] { #expect(call.ear.endCount == 1) }
      #expect(await pair.failure() == .shutDown)
      #expect(pair.following.figures.upstream == 0)
    }

    @Test("a node that does not know the secret is not believed")
    func wrongSecret() async throws {
      let pair = try await Pair(key: 2)
      let call = try await pair.call()
      #expect(await pair.say("hello", call) == nil)
      #expect(call.ear.endCount == 1)
      #expect(pair.leading.figures.disbelieved == 1 && pair.leading.figures.accepted == 0)
      #expect(pair.server.peers == [])
      await pair.settle { $0.upstream == 0 }
      await pair.end()
    }

    @Test("a node that does not lead ends the link")
    func notLeading() async throws {
      let pair = try await Pair(place: .node("127.0.0.1:2"))
      let call = try await pair.call()
      #expect(await pair.say("hello", call) == nil)
      #expect(pair.leading.figures.repeated == 1 && pair.leading.figures.relayed == 0)
      #expect(pair.server.peers == [])
      await pair.end()
    }

    @Test("a link waits for a node that is about to lead")
    func aboutToLead() async throws {
      let known = KnownPlace(.copy)
      let pair = try await Pair(place: known.place, copyHold: .seconds(60))
      let first = try await pair.call()
      async let answer = pair.say("hello", first)
      await pair.settle(atLeader: true) { $0.held == 1 }
      known.place = .here
      pair.leading.lookAgain()
      #expect(await answer == "hello")
      await pair.end()
    }

    @Test("a link does not wait for long for a node that is not about to lead")
    func notAboutToLead() async throws {
      let pair = try await Pair(place: .copy)
      #expect(try await pair.say("hello") == nil)
      #expect(pair.leading.figures.repeated == 1 && pair.leading.figures.held == 0)
      await pair.end()
    }

    @Test("a leader that cannot be reached, and a client that cannot be told, are typed errors")
    func unreachable() async throws {
      let pair = try await Pair()
      #expect(
        await pair.failure(to: "127.0.0.1:2") == .refused(host: "127.0.0.1", port: 2))
      guard case .invalidOption("host", _)? = await pair.failure(to: "nowhere") else {
        Issue.record("a text that is no address was taken")
        return
      }
      #expect(
        await pair.failure("unknown:0")
          == .unreachable(
            host: "127.0.0.1", port: port(of: pair),
            reason: "\"unknown:0\" has no address that a node could be told"))
      #expect(
        await pair.failure(to: "127.0.0.1:1")
          == .unreachable(host: "127.0.0.1", port: 1, reason: "it is this node itself"))
      let figures = pair.following.figures
      #expect(figures.upstream == 0 && figures.upstreamOpened == 0)
      #expect(figures.upstreamUnreachable == 1)
      await pair.end()
    }

    #if TLS
      @Test("a leader that says nothing is given up when its time is over")
      func silent() async throws {
        try await withFolder { folder in
          let certificate = try ThrowawayCertificate(in: folder)
          // Without a node that leads, it lets connections wait for longer.
          let pair = try await Pair(
            leaderTLS: certificate.server, tls: certificate.server, place: .unknown)
          let limit = Duration.seconds(RelayLimits.connectSeconds)
          #expect(
            await pair.failure()
              == .timedOut(host: "127.0.0.1", port: port(of: pair), after: limit))
          #expect(pair.following.figures.upstream == 0)
          #expect(pair.following.figures.upstreamUnreachable == 1)
          await pair.end()
        }
      }
    #endif

    @Test("links beyond the limit are refused, with relayed connections among them")
    func limits() async throws {
      let pair = try await Pair(limit: 1)
      let listener = try await pair.follower.listen { pair.server.open($0) }
      let first = try await pair.call()
      #expect(await pair.failure() == .tooManyConnections(limit: 1))
      let peer = try RawPeer(port: RelayedListener.port(of: listener.address))
      peer.send([0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1])
      await pair.settle { $0.refused == 1 }
      first.link.close()
      await pair.settle { $0.upstream == 0 }
      #expect(try await pair.say("hello") == "hello")
      #expect(pair.following.figures.upstreamRefused == 1)
      await pair.end()
    }

    @Test("links take descriptors of those for clients")
    func descriptors() async throws {
      let pair = try await Pair()
      pair.follower.count(in: ConnectionTable(limit: 1))
      let first = try await pair.call()
      #expect(await pair.failure() == .tooManyConnections(limit: 1))
      #expect(pair.following.figures.upstreamRefused == 1)
      first.link.close()
      await pair.settle { $0.upstream == 0 }
      #expect(try await pair.say("hello") == "hello")
      await pair.end()
    }

    @Test("a client that counts as remote is believed over this framing alone")
    func foreignProtocols() async throws {
      let setups = Mutex(0)
      let pair = try await Pair(foreign: { _, _, _ in
        setups.withLock { $0 += 1 }
        // It closes the connection.
        throw TransportError.shutDown
      })
      let client = ProxyHeader.Client(address: "127.0.0.1", port: 1)
      for (isRemote, count) in [(true, 0), (false, 1)] {
        let header = pair.following.header(for: client, isRemote: isRemote, to: pair.address)
        let peer = try RawPeer(port: port(of: pair))
        peer.send(try #require(header) + Array("PUT /a.json HTTP/1.1\r\n".utf8))
        #expect(peer.readToEnd() ?? [] == [])
        #expect(setups.withLock { $0 } == count)
      }
      await pair.end()
    }

    private func port(of pair: Pair) -> Int {
      RelayedListener.port(of: pair.address)
    }
  }

  #if TLS
    @Suite("upstream links over TLS", .timeLimit(.minutes(5))) struct SecureUpstreamLinkTests {
      @Test("nodes with one certificate trust each other, whichever authority signed it")
      func sameCertificate() async throws {
        try await withFolder { folder in
          let own = try ThrowawayCertificate(named: "tern.example", hasAddress: false, in: folder)
          let signed = try ThrowawayCertificate(signedBy: own, in: folder)
          for certificate in [own, signed] {
            let pair = try await Pair(leaderTLS: certificate.server, tls: certificate.server)
            #expect(try await pair.say("hello") == "hello")
            #expect(pair.server.peers == ["192.0.2.7:4321"])
            #expect(pair.leading.figures.accepted == 1)
            await pair.end()
          }
        }
      }

      @Test("nodes with certificates of one authority trust each other, and remember how")
      func sameAuthority() async throws {
        try await withFolder { folder in
          let authority = try ThrowawayCertificate(named: "authority.example", in: folder)
          let first = try ThrowawayCertificate(
            named: "a.example", hasAddress: false, signedBy: authority, in: folder)
          let second = try ThrowawayCertificate(
            named: "b.example", hasAddress: false, signedBy: authority, in: folder)
          var rooted = second.server
          rooted.roots = authority.certificate
          // The authority is behind the node's certificate, or among its roots.
          for tls in [try second.followed(by: authority).server, rooted] {
            let pair = try await Pair(leaderTLS: first.server, tls: tls)
            #expect(try await pair.say("hello") == "hello")
            #expect(try await pair.say("hello") == "hello")
            // The first one was tried with the other proof before.
            #expect(pair.leading.figures.accepted == 3)
            #expect(pair.following.figures.upstreamOpened == 2)
            #expect(pair.following.figures.upstreamUnreachable == 0)
            await pair.end()
          }
          // What neither of them knows is trusted by neither.
          let pair = try await Pair(leaderTLS: first.server, tls: second.server)
          #expect(isOfCertificate(await pair.failure()))
          #expect(pair.following.figures.upstreamUnreachable == 1)
          await pair.end()
        }
      }

      @Test("a certificate that is read again counts for later links")
      func reload() async throws {
        try await withFolder { folder in
          let old = try ThrowawayCertificate(in: folder)
          let new = try ThrowawayCertificate(in: folder)
          let pair = try await Pair(leaderTLS: new.server, tls: old.server)
          #expect(isOfCertificate(await pair.failure()))
          for (from, to) in [(new.certificate, old.certificate), (new.key, old.key)] {
            try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to))
          }
          try pair.follower.reloadCertificate()
          #expect(try await pair.say("hello") == "hello")
          await pair.end()
        }
      }

      @Test("a port with TLS takes no clear links, and a clear one none with TLS")
      func mixed() async throws {
        try await withFolder { folder in
          let certificate = try ThrowawayCertificate(in: folder)
          let secured = try await Pair(leaderTLS: certificate.server)
          #expect(try await secured.say("hello") == nil)
          await secured.end()
          let clear = try await Pair(tls: certificate.server)
          guard case .notSecure? = await clear.failure() else {
            Issue.record("a leader without TLS was taken for one with")
            return
          }
          await clear.end()
        }
      }

      private func isOfCertificate(_ error: TransportError?) -> Bool {
        guard case .notSecure(_, _, let reason)? = error else { return false }
        return reason.contains("signed by no authority")
      }
    }
  #endif

  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/tern-upstream-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }
#endif
