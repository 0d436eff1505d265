#if TCP && canImport(Glibc)
  import Synchronization
  import TernLedger
  import TernSecurity
  import TernServer
  import TernStorageMemory
  import TernTransport
  import Testing

  @testable import TernGateway
  @testable import TernTransportTCP

  @Suite("Behind proxies") struct ProxyTests {
    @Test("networks are told apart by their bits")
    func networks() throws {
      let proxies = try #require(TrustedProxies(["10.0.0.0/8", "192.0.2.7", "fd00::/8", "::1"]))
      for inside in ["10.200.0.1", "192.0.2.7", "fd12::7", "::1", "::ffff:10.1.1.1"] {
        #expect(proxies.contains(inside), "\(inside)")
      }
      for outside in ["11.0.0.1", "192.0.2.8", "fe80::1", "::2", "", "unknown", "10.0.0"] {
        #expect(!proxies.contains(outside), "\(outside)")
      }
      for wrong in ["10.0.0.0/33", "10.0.0", "a", "::/129", "1.2.3.4/", "1:2:3"] {
        #expect(TrustedProxies([wrong]) == nil, "\(wrong)")
      }
    }

    private func caller(_ peer: String, _ forwarded: String, trusted: [String]) throws -> Caller {
      let request = HTTPRequest(
        method: "GET", target: "/",
        headers: [("Host", "localhost"), ("X-Forwarded-For", forwarded)],
        peer: peer)
      return Caller(request, .root, behind: try #require(TrustedProxies(trusted)))
    }

    @Test("the client is the last address that no trusted proxy has, and is never local")
    func forwarded() throws {
      let trusted = ["127.0.0.1", "10.0.0.0/8"]
      for (list, address) in [
        ("192.0.2.7", "192.0.2.7"), ("1.1.1.1, 192.0.2.7", "192.0.2.7"),
        ("192.0.2.7, 10.1.1.1", "192.0.2.7"), ("192.0.2.7:8080", "192.0.2.7"),
        ("[2001:db8::1]:80", "2001:db8::1"), ("127.0.0.1", "127.0.0.1"),
        ("192.0.2.7, garbage", "127.0.0.1"),
      ] {
        let caller = try caller("127.0.0.1:50000", list, trusted: trusted)
        #expect(caller.address == address, "\(list)")
        #expect(!caller.isLocal, "\(list)")
      }
      let stranger = try caller("192.0.2.9:50000", "127.0.0.1", trusted: trusted)
      #expect(stranger.address == "192.0.2.9")
    }

    @Test("headers of version 1 are read to their line end")
    func text() {
      let whole = Array("PROXY TCP4 192.0.2.7 10.0.0.1 5000 80\r\nGET /".utf8)
      #expect(ProxyHeader(whole) == .whole(.init(address: "192.0.2.7", port: 5_000), byteCount: 39))
      for count in 0..<39 {
        #expect(ProxyHeader(Array(whole.prefix(count))) == .undecided, "\(count)")
      }
      #expect(ProxyHeader(Array("PROXY UNKNOWN\r\n".utf8)) == .whole(nil, byteCount: 15))
      for wrong in [
        "GET / HTTP/1.1\r\n", "PROXY TCP4 a b 1 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 70000\r\n",
        "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n",
        "PROXY " + String(repeating: "x", count: 200),
      ] {
        #expect(ProxyHeader(Array(wrong.utf8)) == .invalid, "\(wrong)")
      }
    }

    private let signature: [UInt8] = [
      0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]

    @Test("headers of version 2 are read with their lengths")
    func binary() {
      let addresses: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x13, 0x88, 0, 80]
      let whole = signature + [0x21, 0x11, 0, 12] + addresses
      #expect(ProxyHeader(whole) == .whole(.init(address: "192.0.2.7", port: 5_000), byteCount: 28))
      for count in 0..<28 { #expect(ProxyHeader(Array(whole.prefix(count))) == .undecided) }
      #expect(ProxyHeader(signature + [0x20, 0x00, 0, 0]) == .whole(nil, byteCount: 16))
      #expect(ProxyHeader(signature + [0x31, 0x11, 0, 12] + addresses) == .invalid)
      #expect(ProxyHeader(signature + [0x21, 0x11, 0, 4] + addresses) == .invalid)
      #expect(ProxyHeader(signature + [0x21, 0x11, 0xFF, 0xFF]) == .invalid)
    }

    @Test("a connection with a PROXY header is its client's; one without is closed")
    func connection() async throws {
      let transport = try TCPTransport(TCPOptions(port: 0))
      let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
      let server = try await TernServer(
        ledger: ledger, on: transport, authorizer: AllowLocal(),
        authenticator: OwnerAuthenticator())
      Gateway.open(to: server, on: transport)
      transport.trust(try #require(TrustedProxies(["127.0.0.0/8"])), expectsHeader: true)
      let address = try await server.listen(on: transport)
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      func exchange(_ head: String) throws -> String {
        let peer = try Peer(port: port)
        peer.send(head + "GET /a.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return peer.readToEnd()
      }
      // Local is who comes from this machine, not who comes over a proxy on it.
      let local = try exchange("PROXY TCP4 127.0.0.1 127.0.0.1 5000 80\r\n")
      #expect(local.hasPrefix("HTTP/1.1 200"), "\(local)")
      let remote = try exchange("PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\r\n")
      #expect(remote.hasPrefix("HTTP/1.1 401"), "\(remote)")
      #expect(try exchange("") == "")
      let native = try Peer(port: port)
      native.send(
        Array("PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\r\nTERN".utf8) + [0, 0, 0, 1])
      _ = native.read(through: "TERN")
      var status = await ServerOperations(of: server).connections(limit: 10)
      while "\(status)".contains("192.0.2.7") == false {
        await Task.yield()
        status = await ServerOperations(of: server).connections(limit: 10)
      }
      native.reset()
      await server.stop()
      await transport.shutdown()
    }
  }
#endif
