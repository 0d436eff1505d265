import Synchronization
import TernCore
import TernLedger
import TernStorage
import TernStorageMemory
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// A ledger that can be held up once it has decided, as one on another machine may be.
private final class SlowLedger: Ledger {
  private let ledger: EmbeddedLedger
  private let isHeld = Mutex(false)
  private let (held, nowHeld) = AsyncStream.makeStream(of: Void.self)
  private let (released, nowReleased) = AsyncStream.makeStream(of: Void.self)

  init() throws { ledger = try EmbeddedLedger(store: MemoryStore()) { 0 } }

  /// Holds the answers of later decisions until ``release()``.
  func hold() { isHeld.withLock { $0 = true } }

  /// Waits until something has been decided that is held up.
  func waitUntilHeld() async { for await _ in held { break } }

  func release() {
    isHeld.withLock { $0 = false }
    nowReleased.yield()
  }

  func decide<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) async throws(LedgerError) -> (results: [CommitResult], kept: R) {
    let answer = try ledger.decide(body)
    if isHeld.withLock({ $0 }) {
      nowHeld.yield()
      for await _ in released { break }
    }
    return answer
  }

  func read<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> R
  ) async throws(LedgerError) -> R { try ledger.read(body) }

  func commit(_ commits: [Commit]) async throws(LedgerError) -> [CommitResult] {
    try ledger.commit(commits)
  }

  func log(after version: Version, limit: Int) async throws(LedgerError) -> [LogEntry] {
    try ledger.log(after: version, limit: limit)
  }

  func waitForCommit(after version: Version) async { await ledger.waitForCommit(after: version) }
}

@Suite("A server whose ledger takes its time") struct SlowLedgerTests {
  private func put(_ sequence: UInt64) -> TreeRequest {
    .put(
      "n", TreeNode(.integer(1)), expectedHash: nil,
      WriteHeader(WriteIdempotencyKey(sequence: sequence)))
  }

  @Test(
    "what a link that has gone is owed is not sent over the next one", .timeLimit(.minutes(10)))
  func nextLink() async throws {
    let ledger = try SlowLedger()
    let transport = LoopbackTransport()
    let (stream, told) = AsyncStream.makeStream(of: ServerEvent.self)
    var events = stream.makeAsyncIterator()
    let server = try await TernServer(ledger: ledger, on: transport) { told.yield($0) }
    try await server.listen(on: transport)
    let first = try await RawClient.connect(transport, stream: 7)
    ledger.hold()
    first.request(put(1))
    await ledger.waitUntilHeld()
    first.close()
    while let event = await events.next() { if case .disconnected = event { break } }
    async let connecting = RawClient.connect(transport, stream: 8)
    while let event = await events.next() { if case .connected = event { break } }
    ledger.release()
    let second = try await connecting
    second.request(put(1))
    #expect(await second.next()?.response == TreeResponse(.ok, version: 2))
    await server.stop()
  }
}
