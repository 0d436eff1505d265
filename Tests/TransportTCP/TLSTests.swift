#if TLS && canImport(Glibc)
  import Foundation
  import Synchronization
  import TernLinkTesting
  import TernTransport
  import Testing

  @testable import TernTransportTCP

  /// An echo behind TLS at a free port.
  private struct Endpoint {
    let transport: TCPTransport
    let port: Int

    init(_ tls: TLSOptions?) async throws {
      var options = TCPOptions(port: 0)
      options.tls = tls
      transport = try TCPTransport(options)
      let listener = try await transport.listen { EchoServer().open($0) }
      port = RelayedListener.port(of: listener.address)
    }

    /// Says something over a link of its own, and answers what comes back.
    func say(_ text: String, _ tls: TLSOptions?, host: String = "127.0.0.1") async throws -> String?
    {
      let (client, ear) = try await call(tls, host: host)
      client.link.send(Array(text.utf8))
      client.link.flush()
      let answer = await ear.nextText()
      await client.transport.shutdown()
      return answer
    }

    func call(
      _ tls: TLSOptions?, host: String = "127.0.0.1"
    ) async throws -> (client: (transport: TCPTransport, link: any Link), ear: FrameReceiver) {
      var options = TCPOptions(host: host, port: port)
      options.tls = tls
      options.preambleTimeoutSeconds = 5
      let transport = try TCPTransport(options)
      let ear = FrameReceiver()
      do {
        return ((transport, try await transport.connect { _ in ear }), ear)
      } catch {
        await transport.shutdown()
        throw error
      }
    }
  }

  @Suite("TLS", .timeLimit(.minutes(10))) struct TLSTests {
    private func withFolder(_ body: (String) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.path + "/tern-tls-" + UUID().uuidString
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try await body(folder)
    }

    private func isNotSecure(_ body: () async throws -> String?) async -> Bool {
      do {
        _ = try await body()
        return false
      } catch {
        if case .notSecure? = error as? TransportError { return true }
        return false
      }
    }

    @Test("a certificate is taken by its address and by its name")
    func names() async throws {
      try await withFolder { folder in
        let certificate = try ThrowawayCertificate(in: folder)
        let endpoint = try await Endpoint(certificate.server)
        #expect(try await endpoint.say("hello", certificate.client) == "hello")
        #expect(try await endpoint.say("hello", certificate.client, host: "localhost") == "hello")
        var named = certificate.client
        named.serverName = "localhost"
        #expect(try await endpoint.say("hello", named) == "hello")
        await endpoint.transport.shutdown()
      }
    }

    @Test("a peer that cannot prove to be the server is sent nothing")
    func impostors() async throws {
      try await withFolder { folder in
        let certificate = try ThrowawayCertificate(in: folder)
        let other = try ThrowawayCertificate(in: folder)
        let endpoint = try await Endpoint(certificate.server)
        // Not trusted: of another root, and of the system's.
        #expect(await isNotSecure { try await endpoint.say("secret", other.client) })
        #expect(await isNotSecure { try await endpoint.say("secret", TLSOptions()) })
        await endpoint.transport.shutdown()
        let named = try ThrowawayCertificate(hasAddress: false, in: folder)
        let namedEndpoint = try await Endpoint(named.server)
        var client = named.client
        #expect(await isNotSecure { try await namedEndpoint.say("secret", client) })
        client.serverName = "tern.example"
        #expect(await isNotSecure { try await namedEndpoint.say("secret", client) })
        client.serverName = "localhost"
        #expect(try await namedEndpoint.say("hello", client) == "hello")
        await namedEndpoint.transport.shutdown()
        let plain = try await Endpoint(nil)
        #expect(await isNotSecure { try await plain.say("secret", certificate.client) })
        await plain.transport.shutdown()
      }
    }

    @Test("a certificate for the address does not do where a name was asked for")
    func addressForName() async throws {
      try await withFolder { folder in
        let certificate = try ThrowawayCertificate(named: "other.example", in: folder)
        let endpoint = try await Endpoint(certificate.server)
        #expect(try await endpoint.say("hello", certificate.client) == "hello", "the address")
        #expect(
          await isNotSecure {
            try await endpoint.say("secret", certificate.client, host: "localhost")
          })
        var named = certificate.client
        named.serverName = "localhost"
        #expect(await isNotSecure { try await endpoint.say("secret", named) })
        named.serverName = "OTHER.example."
        #expect(try await endpoint.say("hello", named) == "hello")
        named.serverName = "127.0.0.2"
        #expect(await isNotSecure { try await endpoint.say("secret", named) }, "another address")
        await endpoint.transport.shutdown()
      }
    }

    @Test(
      "a star stands for one label",
      arguments: [
        ("db.example", "db.example", true), ("DB.Example.", "db.example", true),
        ("*.example", "db.example", true), ("*.example", "a.db.example", false),
        ("*.example", ".example", false), ("*.example", "example", false),
        ("d*.example", "db.example", false), ("*", "localhost", false),
        ("db.example", "xdb.example", false), ("", "localhost", false),
      ])
    func stars(pattern: String, name: String, isCovered: Bool) {
      #expect(TLSIdentity.covers(Array(pattern.utf8), Array(name.utf8)) == isCovered)
      #expect(TLSIdentity("127.0.0.1") == .address([127, 0, 0, 1]))
      #expect(TLSIdentity("LocalHost.") == .name(Array("localhost".utf8)))
    }

    @Test("an endpoint behind TLS answers nothing in the clear")
    func clear() async throws {
      try await withFolder { folder in
        let certificate = try ThrowawayCertificate(in: folder)
        let endpoint = try await Endpoint(certificate.server)
        #expect(try await endpoint.say("hello", nil) == nil)
        #expect(try await endpoint.say("hello", certificate.client) == "hello")
        await endpoint.transport.shutdown()
      }
    }

    @Test("another certificate is shown to later connections; present ones stay")
    func reload() async throws {
      try await withFolder { folder in
        let first = try ThrowawayCertificate(in: folder)
        let second = try ThrowawayCertificate(in: folder)
        let trusted = folder + "/first.pem"
        try FileManager.default.copyItem(atPath: first.certificate, toPath: trusted)
        var old = TLSOptions()
        old.roots = trusted
        let endpoint = try await Endpoint(first.server)
        let (client, ear) = try await endpoint.call(old)
        for (from, to) in [(second.certificate, first.certificate), (second.key, first.key)] {
          try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to))
        }
        try endpoint.transport.reloadCertificate()
        #expect(try await endpoint.say("new", second.client) == "new")
        #expect(await isNotSecure { try await endpoint.say("old", old) })
        client.link.send(Array("still here".utf8))
        client.link.flush()
        #expect(await ear.nextText() == "still here")
        // What is no certificate changes nothing.
        try Data("nothing".utf8).write(to: URL(filePath: first.certificate))
        #expect(throws: TransportError.self) { try endpoint.transport.reloadCertificate() }
        #expect(try await endpoint.say("new", second.client) == "new")
        await client.transport.shutdown()
        await endpoint.transport.shutdown()
      }
    }

    @Test("invalid options are rejected before any socket listens or connects")
    func options() async throws {
      try await withFolder { folder in
        let certificate = try ThrowawayCertificate(in: folder)
        let other = try ThrowawayCertificate(in: folder)
        var half = certificate.server
        half.key = nil
        var mixed = certificate.server
        mixed.key = other.key
        var missing = certificate.server
        missing.certificate = folder + "/nothing.pem"
        for tls in [half, mixed, missing, TLSOptions()] {
          await #expect(throws: TransportError.self) { _ = try await Endpoint(tls) }
        }
        let endpoint = try await Endpoint(certificate.server)
        var rootless = TLSOptions()
        rootless.roots = folder + "/nothing.pem"
        await #expect(throws: TransportError.self) { try await endpoint.say("hello", rootless) }
        await endpoint.transport.shutdown()
      }
    }
  }
#endif
