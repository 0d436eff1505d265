import Synchronization
import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import Testing

@testable import TernServer

@Suite("Sending to many")
struct SharedSendingTests {
  @Test(
    "a commit is handed to every link in one go, and to all of them as the same bytes",
    .timeLimit(.minutes(10)))
  func oneParcel() async throws {
    let transport = CountingTransport()
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let server = try await TernServer(ledger: ledger, on: transport)
    try await server.listen(on: transport)
    let rooms = DocumentQuery.collection(try CollectionPath("rooms"))
    var listeners: [RawDocumentClient] = []
    for _ in 0..<30 {
      let listener = try await RawDocumentClient.connect(transport)
      listener.send(.open(stream: 1, DocumentCallOpening(.listen)))
      let target = WatchTarget(id: 2, subject: .query(rooms.target))
      let request = DocumentRequest(.listen(.add(target)), in: benchDatabase)
      listener.send(.message(stream: 1, request.encode()))
      try await listener.skipSnapshot()
      listeners.append(listener)
    }
    let writer = try await RawDocumentClient.connect(transport)
    for number in UInt32(1)...3 {
      transport.forget()
      let mutation = DocumentMutation("rooms/r", .set(["n": .integer(Int64(number))]))
      writer.call(number, .commit([mutation], transaction: [], nil))
      guard case .answer = await writer.next() else {
        Issue.record("a commit is answered")
        return
      }
      for listener in listeners {
        // Beside changes, a listener hears now and then that nothing has changed.
        var heard = try await listener.change(1)
        while case .target? = heard { heard = try await listener.change(1) }
        guard case .changed? = heard else {
          Issue.record("a listener is told")
          return
        }
        try await listener.skipSnapshot()
      }
      let counted = transport.counted
      #expect(counted.posts.count == listeners.count)
      #expect(Set(counted.posts).count == 1)
      // The answer to who wrote.
      #expect(counted.sends == 1)
      #expect(counted.flushes == 1)
    }
    await server.stop()
  }
}

extension RawDocumentClient {
  /// Reads until everything is told as of some time.
  fileprivate func skipSnapshot() async throws {
    while let change = try await change(1) {
      if case .target(let change) = change, change.readTime != nil { return }
    }
    Issue.record("a snapshot comes")
  }
}

/// Loopback links whose server's ends count what they are asked to do.
private final class CountingTransport: Transport {
  struct Counted {
    /// The posts, once for each link.
    var posts: [ObjectIdentifier] = []
    var sends = 0
    var flushes = 0
    /// Kept, so that no two have one identity.
    var kept: [SharedFrames] = []
  }

  private let inner = LoopbackTransport()
  private let state = Mutex(Counted())

  var counted: Counted { state.withLock { $0 } }

  func forget() { state.withLock { $0 = Counted() } }

  var executor: any SerialExecutor { inner.executor }

  func enqueue(_ work: @escaping @Sendable () -> Void) { inner.enqueue(work) }

  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link {
    try await inner.connect(open)
  }

  func listen(
    _ accept: @escaping LinkOpening
  ) async throws(TransportError) -> any TransportListener {
    try await inner.listen { accept(CountingLink($0, self)) }
  }

  func shutdown() async { await inner.shutdown() }

  fileprivate func count(_ body: (inout Counted) -> Void) { state.withLock { body(&$0) } }
}

private final class CountingLink: Link {
  private let inner: any Link
  private let transport: CountingTransport

  init(_ inner: any Link, _ transport: CountingTransport) {
    self.inner = inner
    self.transport = transport
  }

  var peer: String { inner.peer }
  var queuedBytes: Int { inner.queuedBytes }

  func send(_ frame: [UInt8]) {
    transport.count { $0.sends += 1 }
    inner.send(frame)
  }

  func flush() {
    transport.count { $0.flushes += 1 }
    inner.flush()
  }

  func post(_ shared: SharedFrames) -> Int {
    transport.count {
      $0.posts.append(ObjectIdentifier(shared))
      $0.kept.append(shared)
    }
    return inner.post(shared)
  }

  func setReading(_ on: Bool) { inner.setReading(on) }
  func close() { inner.close() }
}
