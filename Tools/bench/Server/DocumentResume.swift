#if TCP
  import TernCore
  import TernDocumentWire
  import TernQuery
  import TernTransport
  import TernTransportTCP

  /// A listener of 10,000 documents that comes back to another process of the server.
  enum DocumentResume {
    private static let count = 10_000

    /// Prints how many documents it is told after one has changed, and how long that takes.
    static func run() async throws {
      let folder = try BenchFolder()
      defer { folder.remove() }
      var server = try ChildServer.tree(in: folder.path)
      var client = try await DocumentFrameClient(server.port)
      for part in 0..<20 {
        try await client.commit((0..<count / 20).map { "many/\(part * count / 20 + $0)" }, 1)
      }
      let first = try await client.listen(nil, expecting: nil)
      try await client.commit(["many/77"], 2)
      server.stop()
      server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      client = try await DocumentFrameClient(server.port)
      let clock = ContinuousClock()
      let start = clock.now
      let again = try await client.listen(first.token, expecting: count)
      let milliseconds = (clock.now - start) / .milliseconds(1)
      print(
        "a listener of \(first.documents) documents that comes back to a restarted server after",
        "one has changed: told \(again.documents), after \(BenchLine.tenths(milliseconds)) ms")
    }
  }

  /// A client of bare frames about documents: one thing after the other.
  struct DocumentFrameClient {
    private let link: any Link
    private var frames: AsyncStream<[UInt8]>.AsyncIterator
    private let database: DocumentDatabase
    private var call: UInt32 = 0

    init(_ port: Int) async throws {
      database = try DocumentDatabase(projectID: "bench")
      let (stream, inbox) = AsyncStream.makeStream(of: [UInt8].self)
      let transport = try TCPPlugin.open(TCPOptions(port: port))
      link = try await transport.connect { _ in DocumentFrameInbox(inbox) }
      frames = stream.makeAsyncIterator()
    }

    /// Sets documents, in one commit.
    mutating func commit(_ keys: [String], _ value: Int64) async throws {
      let writes = keys.map { key in
        DocumentMutation(DocumentKey(unchecked: key), .set(["n": .integer(value)]))
      }
      let request = DocumentRequest(.commit(writes, transaction: [], nil), in: database)
      call += 1
      send(.open(stream: call, DocumentCallOpening(.commit, message: request.encode())))
      while true {
        switch try await receive() {
        case .answer(call, _): return
        case .end(call, let status): throw BenchFailure(reason: "\(String(describing: status))")
        case .answer, .end, .message, .pong: continue
        }
      }
    }

    /// Watches the collection `many` until all is told, and says how many documents were.
    mutating func listen(
      _ token: [UInt8]?, expecting count: Int?
    ) async throws -> (documents: Int, token: [UInt8]) {
      let query = DocumentQuery.collection(try CollectionPath("many"))
      let target = WatchTarget(
        id: 2, subject: .query(query.target), resume: token.map { .token($0) },
        expectedCount: count)
      call += 1
      send(.open(stream: call, DocumentCallOpening(.listen)))
      let request = DocumentRequest(.listen(.add(target)), in: database)
      send(.message(stream: call, request.encode()))
      let names = DocumentNames(database)
      var told = 0
      while true {
        guard case .message(call, let bytes) = try await receive(),
          case .listen(let change) = try DocumentResponse.decode(.listen, bytes, names)
        else { continue }
        switch change {
        case .changed: told += 1
        case .target(let change) where change.readTime != nil:
          send(.cancel(stream: call))
          return (told, change.resumeToken)
        case .target, .deleted, .removed, .filter: continue
        }
      }
    }

    private func send(_ frame: DocumentClientFrame) {
      link.send(frame.encode())
      link.flush()
    }

    private mutating func receive() async throws -> DocumentServerFrame {
      guard let frame = await frames.next(isolation: #isolation) else {
        throw BenchFailure(reason: "the link ended")
      }
      return try DocumentServerFrame.decode(frame)
    }
  }

  private final class DocumentFrameInbox: LinkHandler {
    private let inbox: AsyncStream<[UInt8]>.Continuation

    init(_ inbox: AsyncStream<[UInt8]>.Continuation) { self.inbox = inbox }

    func linkDidReceive(_ frames: [[UInt8]]) {
      for frame in frames { inbox.yield(frame) }
    }

    func linkDidClose(_ reason: LinkClosure) { inbox.finish() }
  }
#endif
