#if TCP && canImport(Glibc)
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("HTTP, targets with an address") struct AbsoluteTargetTests {
    private func status(_ target: String, host: String, _ gateway: GatewayUnderTest) throws
      -> String
    {
      let answer = try gateway.exchange(
        "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
      return String(answer.prefix(12).suffix(3))
    }

    @Test("a target may begin with the address of this server, and with no other")
    func targets() async throws {
      try await withGateway { gateway in
        for (target, host, expected) in [
          ("http://localhost/a/b.json", "localhost", "200"),
          ("HTTP://LocalHost/a.json?shallow=true", "localhost", "200"),
          ("http://localhost:80/a.json", "localhost:80", "200"),
          ("http://localhost", "localhost", "200"), ("http://localhost?x=1", "localhost", "200"),
          ("https://localhost/a.json", "localhost", "400"),
          ("http://other/a.json", "localhost", "400"), ("http:///a.json", "", "400"),
          ("http://localhost@other/a.json", "localhost", "400"),
          ("http://localhost/a.json#b", "localhost", "400"),
          ("ftp://localhost/a.json", "localhost", "400"),
          ("http://http://localhost/a.json", "localhost", "400"),
        ] {
          let found = try status(target, host: host, gateway)
          #expect(found == expected, "\(target)")
        }
      }
    }
  }
#endif
