#if TCP && canImport(Glibc)
  import Testing

  @testable import TernGateway
  @testable import TernServer

  /// A large answer takes time, in which its reader may lose the right to it.
  @Suite("Credentials during a long export") struct LiveExportTests {
    /// The event that ends the right to read.
    enum Loss: CaseIterable { case expiry, revocation, rules }

    private static let texts = 6_000

    /// Writes more than the sockets of both ends take by themselves.
    private func fill(_ gateway: TokenGateway, _ token: String) throws {
      let text = String(repeating: "é", count: 500)
      let members = (0..<Self.texts).map { "\"k\(10_000 + $0)\":\"\(text)\"" }
      let json = "{" + members.joined(separator: ",") + "}"
      let written = try gateway.rest(
        "PUT", "/users/ada/big.json?print=silent", token: token, body: json)
      #expect(written.head.hasPrefix("HTTP/1.1 204"), "\(written.head)")
    }

    private func take(_ loss: Loss, from ada: String, _ gateway: TokenGateway) async throws {
      let chief = try gateway.token("chief", for: 3_600, isAdministrator: true)
      let answer: (head: String, body: String)? =
        switch loss {
        case .expiry: nil
        case .revocation:
          try gateway.rest(
            "PATCH", "/.settings/revocations.json", token: chief, body: #"{"ada":"now"}"#)
        case .rules:
          try gateway.rest("PUT", "/.settings/rules.json", token: chief, body: #"{"rules": {}}"#)
        }
      if let answer { #expect(answer.body == #"{"status":"ok"}"#) }
      await gateway.pass(seconds: 20)
      // Until it is decided who may read on: a machine that is busy elsewhere takes its time, and
      // the reader would have it all.
      let deadline = ContinuousClock.now.advanced(by: .seconds(60))
      while await gateway.gateway.server.exports.all.count(where: { !$0.isWithdrawn }) > 1 {
        try #require(ContinuousClock.now < deadline, "nothing is withdrawn")
        await Task.yield()
      }
    }

    @Test(
      "R10 a large answer is cut off when its reader may not have it any more",
      arguments: Loss.allCases)
    func cutOff(loss: Loss) async throws {
      let small = ServerLimits(wholeReadBytes: 10_000, exports: 4)
      try await TokenGateway.with(serverLimits: small) { gateway in
        let token = try gateway.token("ada", for: loss == .expiry ? 20 : 3_600)
        try fill(gateway, token)
        let lasting = try gateway.token("chief", for: 3_600, isAdministrator: true)
        func read(_ token: String, _ header: String = "") throws -> Peer {
          let reader = try gateway.gateway.connectNarrow()
          reader.send(
            "GET /users/ada/big.json HTTP/1.1\r\nHost: localhost\r\n"
              + "Authorization: Bearer \(token)\r\n\(header)\r\n")
          #expect(reader.read(through: "k10000").contains("HTTP/1.1 200 OK"))
          return reader
        }
        let readers = [
          ("GET", try read(token)),
          ("a stream", try read(token, "Accept: text/event-stream\r\n")),
        ]
        let other = try read(lasting)
        // The clock ticks, and nothing is wrong yet.
        await gateway.pass(seconds: 0)
        for (name, reader) in readers {
          #expect(reader.bytes(through: "k10010").position(of: "k10010") != nil, "\(name)")
        }
        try await take(loss, from: token, gateway)
        for (name, reader) in readers {
          let rest = reader.bytes(through: "nowhere")
          #expect(rest.position(of: "k15999") == nil, "\(name): it was told to its end")
          #expect(rest.suffix(7) != ArraySlice("\r\n0\r\n\r\n".utf8), "\(name): not as if whole")
        }
        let whole = other.bytes(through: "\r\n0\r\n\r\n")
        #expect(whole.occurrences(of: "\"k1") == Self.texts - 1, "others read on")
      }
    }
  }
#endif
