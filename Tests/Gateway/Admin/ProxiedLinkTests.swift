#if TCP && canImport(Glibc)
  import NIOCore
  import NIOEmbedded
  import Synchronization
  import TernTransport
  import Testing

  @testable import TernGateway
  @testable import TernTransportTCP

  @Suite("Links behind proxies") struct ProxiedLinkTests {
    private final class Owner: LinkHandler {
      func linkDidReceive(_ frames: [[UInt8]]) {}
      func linkDidClose(_ reason: LinkClosure) {}
    }

    @Test("a link without a gateway opens behind the header, under the name of its client")
    func bare() async throws {
      let transport = try TCPTransport(TCPOptions(port: 0))
      transport.trust(try #require(TrustedProxies(["127.0.0.1"])), expectsHeader: true)
      let peers = Mutex<[String]>([])
      let listener = try await transport.listen { link in
        peers.withLock { $0.append(link.peer) }
        return Owner()
      }
      let port = try #require(listener.address.split(separator: ":").last.flatMap { Int($0) })
      try await apart {
        let peer = try Peer(port: port)
        let header = "PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\r\n"
        peer.send(Array("\(header)TERN".utf8) + [0, 0, 0, 1])
        #expect(peer.read(through: "TERN") == "TERN")
        #expect(peers.withLock { $0 } == ["192.0.2.7:5000"])
        let silent = try Peer(port: port)
        silent.send("HELLO")
        #expect(silent.readToEnd() == "")
        #expect(peers.withLock { $0.count } == 1)
      }
      await transport.shutdown()
    }

    @Test(
      "a loopback address in a header counts only from a proxy on this machine",
      arguments: [
        ("10.0.0.1", "127.0.0.1", "10.0.0.1"), ("10.0.0.1", "::1", "10.0.0.1"),
        ("10.0.0.1", "192.0.2.7", "192.0.2.7"), ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.7", "192.0.2.7"), ("::1", "::1", "::1"),
      ])
    func loopback(proxy: String, named: String, believed: String) throws {
      let channel = EmbeddedChannel()
      try channel.pipeline.syncOperations.addHandler(ProxyHeaderHandler(timeout: .seconds(1)))
      try channel.connect(to: SocketAddress(ipAddress: proxy, port: 7_000)).wait()
      let family = named.contains(":") ? "TCP6" : "TCP4"
      let header = "PROXY \(family) \(named) \(named) 5000 80\r\n"
      try channel.writeInbound(ByteBuffer(string: header + "x"))
      #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "x"))
      #expect(ProxiedPeer.of(channel)?.address == believed)
      #expect(ProxiedPeer.of(channel)?.port == 5_000)
      _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test(
      "peers on this machine are told by their whole address",
      arguments: [
        ("127.0.0.1:1", true), ("127.8.0.1:1", true), ("[::1]:1", true), ("::1:1", true),
        ("::ffff:127.0.0.1:1", true), ("[::ffff:127.0.0.1]:1", true), ("::1:1234:5000", false),
        ("::1234:5000", false), ("[::1:2]:1", false), ("192.0.2.7:1", false), ("unknown", false),
      ])
    func peers(peer: String, isLocal: Bool) {
      #expect(HostName.isLoopbackPeer(peer) == isLocal)
    }
  }
#endif
