#if TCP && canImport(Glibc)
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernLedger
  import TernServer
  import TernStorageMemory
  import TernTransport
  import TernTransportTCP
  import Testing

  @testable import TernGateway

  /// Calls of a gateway, as they reach a server and come back.
  @Suite("Document sessions of gateways")
  struct DocumentSessionTests {
    private static let database = DocumentDatabase(unchecked: "p")

    private static func commit(_ ids: [String], bytes: Int = 1) -> [UInt8] {
      let text = String(repeating: "x", count: bytes)
      let writes = ids.map {
        DocumentMutation(
          DocumentKey(unchecked: "c/\($0)"), .set(["text": .string(text)]))
      }
      return DocumentRequest(.commit(writes, transaction: [], nil), in: database).encode()
    }

    private static func get(_ id: String) -> [UInt8] {
      let key = DocumentKey(unchecked: "c/\(id)")
      return DocumentRequest(.get(key, mask: nil, .now), in: database).encode()
    }

    @Test("a unary call has its answer and its end")
    func unary() async throws {
      let events = try await run { session, done in
        let reader = CallLog { done($0) }
        let writer = CallLog { _ in
          reader.call = session.begin(
            "GetDocument", metadata: [], message: Self.get("a"), to: reader)
        }
        writer.call = session.begin(
          "Commit", metadata: [], message: Self.commit(["a"]), to: writer)
      }
      #expect(events.messages.count == 1)
      #expect(events.status == nil)
    }

    @Test("an unknown method and an invalid message end with their codes")
    func failures() async throws {
      let unknown = try await run { session, done in
        let log = CallLog { done($0) }
        log.call = session.begin("Fly", metadata: [], message: [], to: log)
      }
      #expect(unknown.status?.code == .unimplemented)
      let invalid = try await run { session, done in
        let log = CallLog { done($0) }
        log.call = session.begin("GetDocument", metadata: [], message: [0xFF], to: log)
      }
      #expect(invalid.status?.code == .invalidArgument)
    }

    @Test("a paused call gets nothing until it is read again, and the others go on")
    func paused() async throws {
      let events = try await run { session, done in
        let slow = CallLog { done($0) }
        slow.call = session.begin(
          "GetDocument", metadata: [], message: Self.get("missing"), to: slow)
        slow.call?.setReading(false)
        let quick = CallLog { _ in
          // The end of a call without messages does not wait.
          if slow.messages.isEmpty { slow.call?.setReading(true) }
        }
        quick.call = session.begin(
          "Commit", metadata: [], message: Self.commit(["b"]), to: quick)
      }
      #expect(events.status?.code == .notFound)
    }

    @Test("a call that leaves too much unread ends, and what it held is released")
    func tooSlow() async throws {
      var limits = GatewayLimits()
      limits.heldAnswerBytes = 1_000
      let events = try await run(limits) { session, done in
        let reader = CallLog { done($0) }
        let writer = CallLog { _ in
          reader.call = session.begin(
            "GetDocument", metadata: [], message: Self.get("large"), to: reader)
          reader.call?.setReading(false)
        }
        writer.call = session.begin(
          "Commit", metadata: [], message: Self.commit(["large"], bytes: 5_000), to: writer)
      }
      #expect(events.messages.isEmpty)
      #expect(events.status?.code == .unavailable)
      #expect(events.heldBytes == 0)
    }

    @Test("the outcome of a commit is told however much the client leaves unread")
    func outcome() async throws {
      var limits = GatewayLimits()
      limits.heldAnswerBytes = 1
      let events = try await run(limits) { session, done in
        let writer = CallLog { done($0) }
        writer.call = session.begin(
          "Commit", metadata: [], message: Self.commit(["a"]), to: writer)
        writer.call?.setReading(false)
        let reader = CallLog { _ in writer.call?.setReading(true) }
        reader.call = session.begin(
          "GetDocument", metadata: [], message: Self.get("missing"), to: reader)
      }
      #expect(events.messages.count == 1)
      #expect(events.status == nil)
      #expect(events.heldBytes == 0)
    }

    @Test("a cancelled call is sent nothing more")
    func cancelled() async throws {
      let events = try await run { session, done in
        let cancelled = CallLog { _ in Issue.record("a cancelled call has ended") }
        cancelled.call = session.begin(
          "GetDocument", metadata: [], message: Self.get("a"), to: cancelled)
        cancelled.call?.cancel()
        let other = CallLog { log in
          #expect(cancelled.messages.isEmpty)
          #expect(session.callCount == 0)
          done(log)
        }
        other.call = session.begin("Commit", metadata: [], message: Self.commit(["c"]), to: other)
      }
      #expect(events.status == nil)
    }

    @Test("a stream carries messages both ways until its client has said all")
    func stream() async throws {
      let handshake = DocumentRequest(
        .write(DocumentWriteRequest(.handshake(stream: nil))), in: Self.database
      ).encode()
      let events = try await run { session, done in
        let log = CallLog { done($0) }
        log.onMessage = { log.call?.halfClose() }
        log.call = session.begin("Write", metadata: [], to: log)
        log.call?.send(handshake)
      }
      #expect(events.messages.count == 1)
      #expect(events.status == nil)
    }
  }

  /// The events of one call.
  private struct CallEvents: Sendable {
    var messages: [[UInt8]]
    var status: DocumentStatus?
    /// The bytes of answers that the server's clients leave unread.
    var heldBytes = 0
  }

  private final class CallLog: DocumentCallReceiver {
    var messages: [[UInt8]] = []
    var call: DocumentGatewayCall?
    var onMessage: () -> Void = {}
    private let onEnd: (CallEvents) -> Void

    init(_ onEnd: @escaping (CallEvents) -> Void) { self.onEnd = onEnd }

    func callDidReceive(_ message: [UInt8]) {
      messages.append(message)
      onMessage()
    }

    func callDidEnd(_ status: DocumentStatus?) {
      onEnd(CallEvents(messages: messages, status: status))
    }
  }

  /// Runs a script on the event loop of a server with a session, and returns what it reports.
  private func run(
    _ limits: GatewayLimits = GatewayLimits(),
    _ script: @escaping @Sendable (DocumentGatewaySession, @escaping (CallEvents) -> Void) -> Void
  ) async throws -> CallEvents {
    let transport = try TCPTransport(TCPOptions(port: 0))
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let server = try await TernServer(ledger: ledger, on: transport)
    let budget = server.budget
    let (results, report) = AsyncStream.makeStream(of: CallEvents.self)
    transport.serveForeignProtocols { channel, open, _ in
      let context = GatewayContext(
        options: GatewayOptions(limits: limits), ask: { _, _ in },
        export: { _, _, _, _, _, _ in nil }, open: open, installLink: { _, _ in },
        load: GatewayLoad(budget),
        polls: NIOLoopBound(PollTable(), eventLoop: channel.eventLoop), randomBits: { 7 })
      let session = DocumentGatewaySession(
        peer: "127.0.0.1:1", address: "127.0.0.1", context, on: channel.eventLoop)
      // Kept for as long as the connection.
      let kept = NIOLoopBound(session, eventLoop: channel.eventLoop)
      channel.closeFuture.whenComplete { _ in kept.value.end(.closedByPeer) }
      script(session) { events in
        var events = events
        events.heldBytes = budget.usedBytes(for: .answers)
        report.yield(events)
      }
    }
    let address = try await server.listen(on: transport)
    let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    let peer = try Peer(port: port)
    peer.send("?")
    let first = await results.first { _ in true }
    await server.stop()
    await transport.shutdown()
    return try #require(first)
  }
#endif
