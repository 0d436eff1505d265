#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// Every hostile path and key, over every gateway: none is accepted, and none harms the server.
  @Suite("Hostile paths and keys") struct HostilePathTests {
    /// The requests of the dialect that name a path or key in one of the ways it can be named.
    private static let requests: [(action: String, body: String)] = byPath + byKey + byPlace

    /// The same first and last characters, in each position of a path.
    private static let byPlace: [(action: String, body: String)] = [
      ("m", #"{"p":"/x","d":{".info":1}}"#), ("m", #"{"p":"/x","d":{".info/a":1}}"#),
      ("m", #"{"p":"/x/.priority","d":{"a":1}}"#),
      ("m", #"{"p":"/x/.priority","d":{".priority":1}}"#),
      ("om", #"{"p":"/x","d":{".info":1}}"#), ("om", #"{"p":"/x/.priority","d":{"a":1}}"#),
    ]

    private static let byPath: [(action: String, body: String)] = HostilePaths.paths.flatMap {
      path -> [(action: String, body: String)] in
      let text = quoted(path)
      return [
        ("p", "{\"p\":\(text),\"d\":1}"), ("m", "{\"p\":\"/\",\"d\":{\(text):1}}"),
      ]
    }

    private static let byKey: [(action: String, body: String)] = keys.flatMap {
      key -> [(action: String, body: String)] in
      let text = quoted(key)
      return [
        ("p", "{\"p\":\"/x\",\"d\":{\(text):1}}"),
        ("p", "{\"p\":\"/x\",\"d\":{\"a\":{\(text):1}}}"),
        ("o", "{\"p\":\"/x\",\"d\":{\(text):1}}"),
      ]
    }

    /// Keys that mean nothing else in a body.
    private static let keys = HostilePaths.keys.filter { $0 != ".value" && $0 != ".sv" }

    private static func quoted(_ text: String) -> String {
      String(decoding: JSONValue.string(text).bytes, as: UTF8.self)
    }

    @Test("there are 500 and more")
    func count() {
      #expect(HostilePaths.paths.count >= 500)
      #expect(Self.requests.count >= 500)
    }

    /// Checks that the tree is as empty as before, for every client.
    private func expectEmpty(_ gateway: GatewayUnderTest) throws {
      #expect(try gateway.exchange(get("/.json")).hasSuffix("\r\n\r\nnull"))
    }

    @Test("over WebSocket")
    func webSocket() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        _ = peer.openWebSocket()
        for (index, request) in Self.requests.enumerated() {
          peer.ask(index + 1, request.action, request.body)
          let answer = peer.message()
          #expect(answer.contains("\"s\":\"failed\""), "\(request): \(answer.prefix(200))")
        }
        // The connection is as good as before, and what it left for its end is nothing.
        peer.ask(9_999, "g", #"{"p":"/","q":{}}"#)
        #expect(peer.message() == #"{"t":"d","d":{"r":9999,"b":{"s":"ok","d":null}}}"#)
        peer.send(masked(8, [3, 0xE8]))
        _ = peer.readToEnd()
        try expectEmpty(gateway)
      }
    }

    @Test("over our own framing")
    func native() async throws {
      try await withGateway { gateway in
        let peer = try NativePeer(port: gateway.port)
        peer.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = peer.frame()
        for (index, request) in Self.requests.enumerated() {
          peer.send(
            Array(
              #"{"t":"d","d":{"r":\#(index + 1),"a":"\#(request.action)","b":\#(request.body)}}"#
                .utf8
            ))
          let answer = peer.frame()
          #expect(answer.contains("\"s\":\"failed\""), "\(request): \(answer.prefix(200))")
        }
        try expectEmpty(gateway)
      }
    }

    @Test("over REST, in addresses and in bodies")
    func rest() async throws {
      try await withGateway { gateway in
        let peer = try gateway.connect()
        var asked = 0
        func expectRefused(_ method: String, _ target: String, _ body: String) {
          asked += 1
          peer.send(
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
              + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
          let head = peer.read(through: "\r\n\r\n")
          let isRefused = head.hasPrefix("HTTP/1.1 400") || head.hasPrefix("HTTP/1.1 40")
          #expect(isRefused, "\(method) \(target.prefix(100)) \(body.prefix(100)): \(head)")
          // The connection goes on, so the answer has to be read to its end.
          let length =
            head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) } ?? 0
          _ = peer.read(count: length)
        }
        for path in HostilePaths.paths {
          expectRefused("PUT", "/" + escaped(path) + ".json", "1")
          expectRefused("PATCH", "/.json", "{\(Self.quoted(path)):1}")
        }
        for key in Self.keys {
          expectRefused("PUT", "/x.json", "{\(Self.quoted(key)):1}")
          expectRefused("POST", "/x.json", "{\"a\":{\(Self.quoted(key)):1}}")
        }
        for address in HostilePaths.addresses { expectRefused("PUT", address, "1") }
        #expect(asked >= 500)
        try expectEmpty(gateway)
      }
    }

    /// Every byte but letters and slashes as an escape.
    private func escaped(_ path: String) -> String {
      path.utf8.map { byte in
        let isPlain = byte == UInt8(ascii: "/") || (0x61...0x7A).contains(byte)
        let digits = String(byte, radix: 16)
        return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + digits
      }.joined()
    }
  }

  /// A client of our own framing, byte by byte. Source: Docs/Formats/tcp-frames.md.
  final class NativePeer {
    private let peer: Peer

    init(port: Int, receiveBytes: Int? = nil) throws {
      peer = try Peer(port: port, receiveBytes: receiveBytes)
      peer.send([0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1])
      _ = peer.read(count: 8)
    }

    @discardableResult
    func send(_ frame: [UInt8], times: Int = 1) -> Bool {
      let count = UInt32(frame.count)
      let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> UInt32($0)) } + frame
      return peer.send(times == 1 ? bytes : (0..<times).flatMap { _ in bytes })
    }

    /// The next frame; `ended` at the end.
    func frame() -> String {
      frameBytes().map { String(decoding: $0, as: UTF8.self) } ?? "ended"
    }

    /// The next frame as it came; `nil` at the end.
    func frameBytes() -> [UInt8]? {
      guard let head = peer.read(count: 4) else { return nil }
      return peer.read(count: head.reduce(0) { $0 << 8 | Int($1) })
    }

    func readToEnd() -> String { peer.readToEnd() }
  }
#endif
