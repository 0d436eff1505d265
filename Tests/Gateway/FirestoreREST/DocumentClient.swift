#if TCP && canImport(Glibc)
  import Testing

  /// A client of the documents' REST service, over one connection.
  struct DocumentClient {
    static let root = "projects/p/databases/(default)/documents"
    private let peer: Peer

    /// One answer.
    struct Answer {
      let status: Int
      let head: String
      let body: String

      /// The value of a header field.
      func field(_ name: String) -> String? {
        head.split(separator: "\r\n").lazy
          .map { $0.split(separator: ":", maxSplits: 1) }
          .first { $0[0].lowercased() == name.lowercased() }
          .map { $0[1].trimmingPrefix(" ") }.map(String.init)
      }
    }

    init(_ gateway: GatewayUnderTest) throws { peer = try gateway.connect() }

    /// Sends a request below the root; `{root}` in path and body stands for its name.
    func send(
      _ method: String, _ path: String, _ body: String = "", headers: String = "",
      token: String? = "owner"
    ) throws -> Answer {
      let isWhole = path.hasPrefix("/v1") || path.hasPrefix("/emulator") || path == "/"
      let target = (isWhole ? "" : "/v1/\(Self.root)") + path.replacing("{root}", with: Self.root)
      let body = body.replacing("{root}", with: Self.root)
      var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
      // Users may not do everything that the service has.
      head += (token.map { "Authorization: Bearer \($0)\r\n" } ?? "") + headers
      if !body.isEmpty { head += "Content-Length: \(body.utf8.count)\r\n" }
      peer.send(head + "\r\n" + body)
      return try receive(hasBody: method != "HEAD")
    }

    func receive(hasBody: Bool = true) throws -> Answer {
      let head = peer.read(through: "\r\n\r\n")
      let words = head.split(separator: " ", maxSplits: 2)
      let status = try #require(words.count > 1 ? Int(words[1]) : nil, "\(head)")
      var answer = Answer(status: status, head: head, body: "")
      guard hasBody, status != 204 else { return answer }
      let body: [UInt8]
      if let length = answer.field("content-length").flatMap(Int.init) {
        body = try #require(length == 0 ? [] : peer.read(count: length))
      } else {
        body = try chunks()
      }
      answer = Answer(status: status, head: head, body: String(decoding: body, as: UTF8.self))
      return answer
    }

    private func chunks() throws -> [UInt8] {
      var joined: [UInt8] = []
      while true {
        let line = peer.read(through: "\r\n").dropLast(1)
        let count = try #require(Int(line, radix: 16), "\(line)")
        if count > 0 { joined += try #require(peer.read(count: count)) }
        _ = try #require(peer.read(count: 2))
        if count == 0 { return joined }
      }
    }
  }
#endif
