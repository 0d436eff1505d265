#if TCP && canImport(Glibc)
  import Foundation
  import TernCore
  import TernDocumentWire
  import TernLedger
  import TernServer
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// The writes acknowledged over all endpoints of a server, and a check that they persist.
  final class EdgeWorld {
    /// The database of the trees: its name is as long as a name may be.
    static let namespace = "n" + String(repeating: "-", count: 126) + "n"
    private static let writer: UInt128 = 77
    private static let documentWriter: UInt128 = 78
    private static let canary = TreePath([TreeKey(unchecked: "canary")])

    private let seed: UInt64
    private var dice: EdgeDice
    /// Everything in the database.
    private(set) var model = TreeNode.empty
    /// The same, as a stream of events has told it.
    private var streamed = TreeNode.empty
    private(set) var accepted = 0
    private(set) var refused = 0
    private var documents: [DocumentKey: DocumentFields] = [:]
    private var canaries = 0
    private var rules = ""
    /// The last numbers of writes that were acknowledged.
    private var treeSequence = 0
    private var documentSequence: UInt64 = 0
    /// The onDisconnect operations of the native session, due after the restart.
    private var leftOver: [EdgeRequest] = []
    /// That session, which must not end before the server does.
    private var native: DialectEdgeClient?

    init(seed: UInt64) {
      self.seed = seed
      dice = EdgeDice(seed: seed)
    }

    // MARK: - Writing

    /// Writes through all endpoints, and looks at what streams and readers are told.
    func play(_ gateway: GatewayUnderTest, rounds: Int) throws {
      let stream = try gateway.connect()
      stream.send(
        "GET /.json?ns=\(Self.namespace) HTTP/1.0\r\nHost: localhost\r\n"
          + "Accept: text/event-stream\r\n\r\n")
      let begun = stream.read(through: "\"data\":null}\n\n")
      #expect(begun.contains("200 OK"), "seed \(seed)")
      let rest = try restClient(gateway)
      let socket = try socketClient(gateway)
      let poll = try PollPeer(gateway, namespace: Self.namespace)
      let polling = Self.client(of: poll)
      let native = try nativeClient(gateway)
      let clients: [any EdgeClient] = [rest, socket.client, polling, native]
      for _ in 0..<rounds {
        for client in clients { try write(over: client, besides: rest) }
        for client in [socket.client, polling, native] { try leave(over: client, besides: rest) }
        try administer(gateway, besides: rest)
        // A stream that is left unread is cut off.
        listen(to: stream)
      }
      try writeDocuments(gateway, rounds: rounds, besides: rest)
      for client in clients { expectReads(over: client) }
      // The end of a session is a write like others; the own framing's outlives the server.
      apply(socket.client.left)
      apply(polling.left)
      leftOver = native.left
      self.native = native
      treeSequence = native.sequence ?? 0
      socket.peer.reset()
      poll.leave()
      expectSoon(socket.client.left + polling.left, over: rest)
      try expectTree(behind: gateway)
      expectWritable(over: rest)
      listen(to: stream)
      // Streams tell values without priorities.
      expectSame(streamed, as: try TreeNode(json: model.jsonBytes(.value)), "what was streamed")
    }

    private func write(over client: any EdgeClient, besides rest: RESTEdgeClient) throws {
      let request = dice.request(longest: client.longestString)
      switch client.write(request) {
      case .done:
        apply([request])
        accepted += 1
        if let native = client as? DialectEdgeClient, native.sequence != nil {
          // As after a lost acknowledgement: the answer is the same, and nothing happens.
          #expect(native.repeatLast(request) == .done(""), "seed \(seed)")
        }
      case .invalid: refused += 1
      case let other:
        Issue.record("seed \(seed), \(client.name): \(request.path.byteCount) bytes: \(other)")
      }
      expectWritable(over: rest)
    }

    private func leave(over client: DialectEdgeClient, besides rest: RESTEdgeClient) throws {
      let verdict = client.leave(dice.request(longest: client.longestString))
      #expect(verdict == .done("") || verdict == .invalid, "seed \(seed), \(client.name)")
      expectWritable(over: rest)
    }

    /// No request, whatever its answer, stops the writes of others.
    private func expectWritable(over rest: RESTEdgeClient) {
      canaries += 1
      let request = EdgeRequest.set(Self.canary, TreeNode(.integer(Int64(canaries))))
      #expect(rest.write(request) == .done(""), "seed \(seed), canary \(canaries)")
      apply([request])
    }

    private func apply(_ requests: [EdgeRequest]) {
      for request in requests {
        for (path, node) in request.assignments { model.setNode(node, at: path) }
      }
    }

    /// Rules, settings and revocations as large as may be.
    private func administer(_ gateway: GatewayUnderTest, besides rest: RESTEdgeClient) throws {
      let key = String(repeating: "r", count: [1, TreeLimits.keyBytes][dice.roll(2)])
      let padding = String(repeating: "/* \u{10FFFF} */", count: dice.roll(4_000))
      let text =
        #"{"rules": {".read": true, ".write": true, "\#(key)": {".indexOn": ["n"]}}} \#(padding)"#
      if try manage(gateway, "PUT", "rules", text).hasPrefix("HTTP/1.1 200") { rules = text }
      let size = #""\#(["large", "unlimited"][dice.roll(2)])""#
      let answer = try manage(gateway, "PUT", "defaultWriteSizeLimit", size)
      #expect(answer.hasPrefix("HTTP/1.1 200"), "seed \(seed): \(answer.prefix(200))")
      let users = (0..<20).map { index in
        let name = String(repeating: "u", count: 1 + dice.roll(128)) + "\(index)"
        return #""\#(name)": 1000"#
      }
      let revoked = try manage(gateway, "PATCH", "revocations", "{\(users.joined(separator: ","))}")
      #expect(revoked.hasPrefix("HTTP/1.1 200") || revoked.hasPrefix("HTTP/1.1 400"))
      expectWritable(over: rest)
    }

    private func manage(
      _ gateway: GatewayUnderTest, _ method: String, _ name: String, _ body: String
    ) throws -> String {
      try gateway.exchange(
        "\(method) /.settings/\(name).json?ns=\(Self.namespace)&access_token=owner HTTP/1.1\r\n"
          + "Host: localhost\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
          + body)
    }

    private static let database = try? DocumentDatabase(
      projectID: String(repeating: "p", count: DocumentLimits.projectIDBytes),
      databaseID: "d" + String(repeating: "-", count: 62))

    private func writeDocuments(
      _ gateway: GatewayUnderTest, rounds: Int, besides rest: RESTEdgeClient
    ) throws {
      let client = try DocumentEdgeClient(port: gateway.port, try #require(Self.database))
      _ = try client.openWrites(stream: Self.documentWriter)
      for round in 0..<rounds * 2 {
        let writes = (0..<[1, 1, 5][dice.roll(3)]).map { _ in
          DocumentMutation(dice.documentKey(), .set(dice.documentFields()))
        }
        let isDone: Bool
        switch dice.roll(3) {
        case 0:
          let answer = try client.ask(.commit(writes, transaction: [], nil))
          isDone = if case .success = answer { true } else { false }
        case 1:
          let answer = try client.ask(.batchWrite(writes))
          isDone =
            if case .batchWrite(_, let failures)? = try? answer.get().first {
              !failures.contains { $0 != nil }
            } else {
              false
            }
        default:
          isDone = try client.write(writes)
        }
        if isDone { for write in writes { noteDocument(write) } } else { refused += 1 }
        if round % 4 == 3, let old = documents.keys.min(by: { $0.text < $1.text }) {
          _ = try client.ask(
            .commit([DocumentMutation(old, .delete)], transaction: [], nil)
          ).get()
          documents[old] = nil
        }
        expectWritable(over: rest)
      }
      #expect(try client.documents(Array(documents.keys)) == documents, "seed \(seed)")
      documentSequence = client.sequence
    }

    private func noteDocument(_ write: DocumentMutation) {
      guard case .set(let fields) = write.change else { return }
      documents[write.key] = fields
      accepted += 1
    }

    // MARK: - Looking

    /// Everything that was acknowledged is there after a restart; then the session that the server
    /// ended with ends.
    func lookAgain(_ gateway: GatewayUnderTest) throws {
      try expectTree(behind: gateway)
      let settings = try manage(gateway, "GET", "rules", "")
      #expect(settings.hasSuffix("\r\n\r\n" + rules), "seed \(seed)")
      let documentClient = try DocumentEdgeClient(port: gateway.port, try #require(Self.database))
      #expect(try documentClient.documents(Array(documents.keys)) == documents, "seed \(seed)")
      #expect(
        try documentClient.openWrites(stream: Self.documentWriter) == documentSequence,
        "seed \(seed)")
      let rest = try restClient(gateway)
      apply(leftOver)
      let client = try nativeClient(gateway, expecting: treeSequence)
      native = client
      expectSoon(leftOver, over: rest)
      expectReads(over: client)
      for _ in 0..<3 { try write(over: client, besides: rest) }
      treeSequence = client.sequence ?? 0
      try expectTree(behind: gateway)
    }

    /// Ends the session that outlived the server.
    func disconnect() { native = nil }

    private func expectTree(behind gateway: GatewayUnderTest) throws {
      let answer = try gateway.exchange(
        "GET /.json?ns=\(Self.namespace)&access_token=owner&format=export HTTP/1.0\r\n"
          + "Host: localhost\r\n\r\n")
      let bytes = Array(answer.utf8)
      let start = try #require(bytes.position(of: "\r\n\r\n"))
      let stored = try TreeNode(json: Array(bytes[(start + 4)...]))
      expectSame(stored, "what is stored")
    }

    private func expectSame(_ tree: TreeNode, as model: TreeNode? = nil, _ name: String) {
      let model = model ?? self.model
      if tree == model { return }
      let keys = Set(tree.children.map(\.key) + model.children.map(\.key))
      let different = keys.filter { tree.child($0) != model.child($0) }.map(\.text).sorted()
      Issue.record("seed \(seed): \(name) differs from what was acknowledged at \(different)")
      for key in different.prefix(3) {
        let key = TreeKey(unchecked: key)
        print(
          tree.child(key).json(.export).prefix(300), "|", model.child(key).json(.export).prefix(300)
        )
      }
    }

    /// Reads some of what is stored over one endpoint.
    private func expectReads(over client: any EdgeClient) {
      for (key, child) in model.children.filter({ _ in dice.roll(8) == 0 }).prefix(8) {
        let path = TreePath([key])
        #expect(client.read(path) == .done(child.json(.export)), "seed \(seed), \(client.name)")
      }
    }

    /// Waits until the ends of sessions have happened.
    private func expectSoon(_ requests: [EdgeRequest], over rest: RESTEdgeClient) {
      let deadline = ContinuousClock.now + .seconds(300)
      for request in requests {
        for (path, node) in request.assignments {
          let expected = EndpointOperation.Verdict.done(node.json(.export))
          while rest.read(path) != expected {
            guard ContinuousClock.now < deadline else {
              Issue.record("seed \(seed): what was left for the end did not happen")
              return
            }
          }
        }
      }
    }

    /// Follows the stream of events up to the last write that is known.
    private func listen(to stream: Peer) {
      let last = #"data: {"path":"/canary","data":\#(canaries)}"# + "\n\n"
      let told = String(decoding: stream.bytes(through: last), as: UTF8.self)
      #expect(told.hasSuffix(last), "seed \(seed): the stream ended at \(told.suffix(200))")
      for event in told.split(separator: "\n\n") {
        let lines = event.split(separator: "\n")
        guard lines.count == 2, lines[1].hasPrefix("data: {"),
          let json = try? JSONValue(parsing: Array(lines[1].dropFirst(6).utf8)),
          let path = json["path"]?.text.flatMap({ try? TreePath(writable: $0) }),
          let data = json["data"]
        else {
          continue
        }
        guard lines[0] == "event: patch", case .object(let members) = data else {
          streamed.setNode((try? TreeNode(json: data.bytes)) ?? .empty, at: path)
          continue
        }
        for member in members {
          guard let name = try? TreePath(writable: member.name) else { continue }
          let node = (try? TreeNode(json: member.value.bytes)) ?? .empty
          streamed.setNode(node, at: path.appending(name))
        }
      }
    }

    // MARK: - Clients

    private func restClient(_ gateway: GatewayUnderTest) throws -> RESTEdgeClient {
      RESTEdgeClient(gateway: RESTCaller(peer: try gateway.connect(), namespace: Self.namespace))
    }

    private func socketClient(
      _ gateway: GatewayUnderTest
    ) throws -> (peer: Peer, client: DialectEdgeClient) {
      let peer = try gateway.connect()
      _ = peer.openWebSocket("/.ws?v=5&ns=\(Self.namespace)")
      let client = DialectEdgeClient("WebSocket", longestString: 30_000) { text in
        peer.send(masked(1, text))
        return peer.message()
      }
      return (peer, client)
    }

    private static func client(of poll: PollPeer) -> DialectEdgeClient {
      // A request over long polling stands in the head of a request over HTTP.
      DialectEdgeClient("long polling", longestString: 5_000) { text in
        let script = poll.ask(text)
        guard let start = script.range(of: ",["),
          let end = script.range(of: "]);", options: .backwards)
        else { return script }
        return String(script[start.upperBound..<end.lowerBound])
      }
    }

    private func nativeClient(
      _ gateway: GatewayUnderTest, expecting last: Int? = nil
    ) throws -> DialectEdgeClient {
      let peer = try NativePeer(port: gateway.port)
      peer.send(
        TreeClientMessage.open(TreeOpening(namespace: Self.namespace, stream: Self.writer)).encode()
      )
      let greeting = try TreeServerMessage.decode(Array(peer.frame().utf8))
      if case .handshake(let handshake) = greeting {
        if let last { #expect(handshake.lastSequence == UInt64(last), "seed \(seed)") }
      } else {
        Issue.record("seed \(seed): \(greeting)")
      }
      return DialectEdgeClient("own framing", longestString: 30_000, numberedAfter: last ?? 0) {
        text in
        peer.send(Array(text.utf8))
        return peer.frame()
      }
    }
  }
#endif
