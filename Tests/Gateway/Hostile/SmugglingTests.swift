#if TCP && canImport(Glibc)
  import TernServer
  import Testing

  @testable import TernGateway

  /// Requests that two readers could understand in two ways, or that no reader should.
  @Suite("HTTP, hostile requests") struct SmugglingTests {
    /// A request that must never be carried out: it stands where a careless reader would find one.
    static let smuggled =
      "PUT /smuggled.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1"

    private static let put = "PUT /a.json HTTP/1.1\r\nHost: localhost\r\n"
    private static let get = "GET /a.json HTTP/1.1\r\nHost: localhost\r\n"

    /// Two lengths, or a length and a coding.
    static let lengths: [String] = [
      put + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      put + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
      put + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      put + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n1",
      put + "Content-Length: 2\r\nContent-Length: 1\r\n\r\n1",
      put + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n1",
      put + "Content-Length: 1, 1\r\n\r\n1", put + "Content-Length: 1, 2\r\n\r\n1",
      put + "Content-Length: 1 2\r\n\r\n1", put + "Content-Length: +1\r\n\r\n1",
      put + "Content-Length: -1\r\n\r\n1", put + "Content-Length: 0x1\r\n\r\n1",
      put + "Content-Length: 1e0\r\n\r\n1", put + "Content-Length: 1.0\r\n\r\n1",
      put + "Content-Length: one\r\n\r\n1", put + "Content-Length: \"1\"\r\n\r\n1",
      put + "Content-Length: 1;\r\n\r\n1",
      put + "Content-Length: 18446744073709551617\r\n\r\n1",
      put + "Content-Length: 99999999999999999999999999\r\n\r\n1",
      put + "Content-Length: 9223372036854775807\r\n\r\n1",
      put + "Content-Length: 9223372036854775808\r\n\r\n1",
      put + "Content-Length: 18446744073709551615\r\n\r\n1",
      put + "Content-Length : 1\r\n\r\n1", put + "Content-Length\t: 1\r\n\r\n1",
      put + " Content-Length: 1\r\n\r\n1", put + "Content-Length\r\n: 1\r\n\r\n1",
      put + "Content_Length: 1\r\nContent-Length: x\r\n\r\n1",
    ]

    /// Codings that are none, or not the last.
    static let codings: [String] = named + placed

    private static let named: [String] = [
      "identity", "gzip", "xchunked", "chunkedx", "chunked, identity", "chunked, gzip",
      "chunked, chunked", "identity, chunked, x", "\"chunked\"", "chunked;q=1", "\u{B}chunked",
      "chunk\r\n ed", ",", "cow", "chunked\u{0}",
    ].map { coding -> String in
      put + "Transfer-Encoding: \(coding)\r\n\r\n1\r\n1\r\n0\r\n\r\n"
    }

    private static let placed: [String] = [
      put + "Transfer-Encoding : chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
      put + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n1\r\n1\r\n0\r\n\r\n",
      put + "Transfer-Encoding\r\n: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
      put + "\tTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
      "PUT /a.json HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n1",
    ]

    /// Chunks whose sizes are none, or that do not end where they say.
    static let chunks: [String] = [
      "-1\r\n1\r\n0\r\n\r\n", "+1\r\n1\r\n0\r\n\r\n", "0x1\r\n1\r\n0\r\n\r\n",
      "g\r\n1\r\n0\r\n\r\n",
      "\r\n1\r\n0\r\n\r\n", " 1\r\n1\r\n0\r\n\r\n", "1 1\r\n1\r\n0\r\n\r\n",
      "10000000000000001\r\n1\r\n0\r\n\r\n", "fffffffffffffffff\r\n1\r\n0\r\n\r\n",
      "ffffffffffffffff\r\n1\r\n0\r\n\r\n", "1\r\n12\r\n0\r\n\r\n", "1\r\n1x\r\n0\r\n\r\n",
      "1\r\n10\r\n\r\n", "1\n1\n0\n\n", "1\r1\r0\r\r", "1\r\n1\r\n0\r\nX Y: 1\r\n\r\n",
      "1\r\n1\r\n0\r\n folded\r\n\r\n", "1\u{0}\r\n1\r\n0\r\n\r\n",
    ].map { chunks -> String in put + "Transfer-Encoding: chunked\r\n\r\n" + chunks }

    /// Lines that end otherwise, are folded, or hold what no line holds.
    static let lines: [String] = [
      get + " folded: x\r\n\r\n", get + "X: a\r\n folded\r\n\r\n", get + "X: a\r\n\tfolded\r\n\r\n",
      get + "X: a\u{0}b\r\n\r\n", get + "X\u{0}: a\r\n\r\n", get + "X Y: a\r\n\r\n",
      get + "X(Y): a\r\n\r\n", get + ": a\r\n\r\n", get + "X\r\n\r\n", get + "é: a\r\n\r\n",
      "GET /a.json HTTP/1.1\nHost: localhost\n\n", get + "X: a\nY: b\n\n",
      get + "X: a\r\nY: b\n\r\n", put + "Content-Length: 1\n\n1",
      get + "X: a\rY: b\r\n\r\n", get + "X: a\r\rY: b\r\n\r\n", get + "X: \u{1}\r\n\r\n",
      get + "X: \u{7F}\r\n\r\n",
    ]

    /// First lines that are none, and hosts that leave open who is meant.
    static let starts: [String] = [
      "GET\t/a.json\tHTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /a.json\r\nHost: localhost\r\n\r\n", "GET /a.json HTTP/9.9\r\nHost: localhost\r\n\r\n",
      "GET /a.json HTTP/2.0\r\nHost: localhost\r\n\r\n",
      "GET /a.json http/1.1\r\nHost: localhost\r\n\r\n",
      "GET /a.json HTTP/1.1 x\r\nHost: localhost\r\n\r\n",
      "GET /a.json HTTP/1.\r\nHost: localhost\r\n\r\n",
      "GET /a b.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "get /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "G\u{0}T /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET a.json HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET http://evil.example/a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET https://localhost/a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /a\u{1}.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /a\u{0}.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /a.json#frag HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /a.json HTTP/1.1\r\n\r\n",
      "GET /a.json HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET /a.json HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
      "GET /a.json HTTP/1.1\r\nHost: a, b\r\n\r\n", "GET /a.json HTTP/1.1\r\nHost: a b\r\n\r\n",
      "GET /a.json HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET /a.json HTTP/1.1\r\nHost: a@b\r\n\r\n",
      "TRACE /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{FC}\u{3}\u{3}",
    ]

    @Test(
      "is refused or left unanswered, and what stands behind it is never carried out",
      arguments: [
        ("lengths", lengths), ("codings", codings), ("chunks", chunks), ("lines", lines),
        ("starts", starts),
      ])
    func refused(kind: String, requests: [String]) async throws {
      var limits = GatewayLimits()
      // What waits for more waits for ever: nothing more will come.
      limits.headSeconds = 1
      limits.bodySeconds = 1
      try await withGateway(limits: limits) { gateway in
        let peers = try requests.map { request in
          let peer = try gateway.connect()
          peer.send(request + Self.smuggled)
          return (request, peer)
        }
        for (request, peer) in peers {
          let answer = peer.readToEnd()
          #expect(!answer.contains("HTTP/1.1 2"), "\(request.debugDescription): \(answer)")
          #expect(
            Array(answer.utf8).occurrences(of: "HTTP/1.1 ") <= 1,
            "\(request.debugDescription): \(answer)")
        }
        let found = try gateway.exchange(
          "GET /.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(found.hasSuffix("\r\n\r\nnull"), "\(found)")
      }
    }

    @Test("the largest heads are refused before they are whole")
    func heads() async throws {
      var limits = GatewayLimits()
      limits.headSeconds = 2
      try await withGateway(limits: limits) { gateway in
        let endless = [
          "GET /" + String(repeating: "a", count: 200_000),
          Self.get + "X: " + String(repeating: "a", count: 200_000),
          Self.get + String(repeating: "a", count: 200_000),
          Self.get + String(repeating: "X: 1\r\n", count: 30_000),
          Self.put + "Transfer-Encoding: chunked\r\n\r\n1;"
            + String(repeating: "a", count: 200_000),
          Self.put + "Transfer-Encoding: chunked\r\n\r\n0\r\n"
            + String(repeating: "X: 1\r\n", count: 30_000),
        ]
        for request in endless {
          let answer = try gateway.exchange(request)
          #expect(!answer.contains("HTTP/1.1 2"), "\(request.prefix(80)): \(answer.prefix(100))")
        }
        #expect(try gateway.exchange(Self.smuggled + "").hasPrefix("HTTP/1.1 200"), "others go on")
      }
    }

    @Test("what is unusual and has one meaning is understood")
    func accepted() async throws {
      try await withGateway { gateway in
        let close = "Connection: close\r\n"
        let requests = [
          Self.put + close + "Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\n1\r\n0;c\r\n\r\n",
          Self.put + close
            + "transfer-encoding:chunked\r\n\r\n0001\r\n1\r\n000\r\nTrailer: x\r\n\r\n",
          Self.put + close + "CONTENT-LENGTH:   1   \r\n\r\n1",
          "\r\n" + Self.put + close + "Content-Length: 1\r\n\r\n1",
          "PUT /a.json HTTP/1.0\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1",
          Self.put + close + "Content-Length: 01\r\n\r\n1",
          "PUT  /a.json   HTTP/1.1\r\nHost: localhost\r\n" + close + "Content-Length: 1\r\n\r\n1",
        ]
        for request in requests {
          let answer = try gateway.exchange(request)
          #expect(answer.hasPrefix("HTTP/1.1 200"), "\(request.debugDescription): \(answer)")
          #expect(answer.hasSuffix("\r\n\r\n1"))
        }
      }
    }
  }
#endif
