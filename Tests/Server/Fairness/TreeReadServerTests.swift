import Dispatch
import Synchronization
import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernStorageMemory
import TernTransportLoopback
import TernTreeWire
import Testing

@testable import TernServer

/// A ledger whose next read beside the executor waits, and whose next batch fails, when it is told.
private final class GatedLedger: Ledger {
  private let ledger: EmbeddedLedger
  private let isGated = Mutex(false)
  private let fails = Mutex(false)
  private let gate = DispatchSemaphore(value: 0)
  private let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)

  init() throws { ledger = try EmbeddedLedger(store: MemoryStore()) { 0 } }

  func holdNextRead() { isGated.withLock { $0 = true } }

  func failNextBatch() { fails.withLock { $0 = true } }

  /// Waits until a read is held.
  func waitUntilHeld() async { for await _ in arrivals { break } }

  func release() { gate.signal() }

  func read<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> R
  ) async throws(LedgerError) -> R {
    // Only reads of the pool come while this is set: they have threads of their own.
    if isGated.withLock({ exchange(&$0, with: false) }) {
      arrived.yield()
      gate.wait()
    }
    return try ledger.read(body)
  }

  func decide<R>(
    _ body: (borrowing LedgerSnapshot) throws(StorageError) -> Decision<R>
  ) async throws(LedgerError) -> (results: [CommitResult], kept: R) {
    let answer = try ledger.decide(body)
    if fails.withLock({ exchange(&$0, with: false) }) { throw .storage(.abandoned) }
    return answer
  }

  func commit(_ commits: [Commit]) async throws(LedgerError) -> [CommitResult] {
    try ledger.commit(commits)
  }

  func log(after version: Version, limit: Int) async throws(LedgerError) -> [LogEntry] {
    try ledger.log(after: version, limit: limit)
  }

  func waitForCommit(after version: Version) async { await ledger.waitForCommit(after: version) }
}

extension TernServer {
  fileprivate var readingSlots: Set<Int> { inbox.reading }

  /// Notes which of the held links were heard; returns the number of these notes.
  fileprivate func countHeardLinks() -> Int {
    let before = inbox.count
    reportHeldLinks()
    defer { drainSoon() }
    return inbox.count - before
  }

  fileprivate func hasHeard(_ slot: Int) -> Bool { links[slot]?.wasHeard == true }

  fileprivate func forgetHeard(_ slot: Int) { links[slot]?.wasHeard = false }
}

@Suite("Large reads of a server's tree") struct TreeReadServerTests {
  private static let children: Int64 = 1_000

  private func start(_ ledger: any Ledger, _ transport: LoopbackTransport) async throws
    -> TernServer
  {
    let server = try await TernServer(ledger: ledger, on: transport)
    try await server.listen(on: transport)
    let writer = try await RawClient.connect(transport)
    writer.request(.put("big", manyChildren(Self.children), expectedHash: nil, .none))
    #expect(await writer.next()?.brief == "ok")
    return server
  }

  @Test("requests around large reads are answered in order", .timeLimit(.minutes(10)))
  func order() async throws {
    let transport = LoopbackTransport()
    let server = try await start(EmbeddedLedger(store: MemoryStore()) { 0 }, transport)
    let client = try await RawClient.connect(transport)
    let writer = try await RawClient.connect(transport)
    let rounds: Int64 = 30
    for round in 1...rounds {
      client.request(.put("small", TreeNode(.integer(round)), expectedHash: nil, .none))
      client.request(.get("big", .all))
      client.request(.get("small", .all))
      writer.request(.put("big/k0", TreeNode(.integer(round)), expectedHash: nil, .none))
    }
    var last: Int64 = 0
    for round in 1...rounds {
      #expect(await client.next()?.brief == "ok")
      let node = try #require(await client.next()?.response?.node())
      #expect(node.children.count == Int(Self.children))
      guard case .integer(let first)? = node.node(at: "k0").scalar else {
        throw StorageError.abandoned
      }
      #expect(first >= last, "values do not go back")
      last = first
      #expect(try await client.next()?.response?.node() == TreeNode(.integer(round)))
    }
    await server.stop()
  }

  @Test(
    "a large listen begins with the present value and is told the next", .timeLimit(.minutes(10)))
  func listening() async throws {
    let transport = LoopbackTransport()
    let server = try await start(EmbeddedLedger(store: MemoryStore()) { 0 }, transport)
    let client = try await RawClient.connect(transport)
    let writer = try await RawClient.connect(transport)
    let rounds: Int64 = 300
    client.request(.listen(TreeListen(path: "big")))
    for round in 1...rounds {
      writer.request(.put("big/k0", TreeNode(.integer(round)), expectedHash: nil, .none))
    }
    guard case .put(let first)? = await client.next(), first.path == "big" else {
      throw StorageError.abandoned
    }
    #expect(first.content.children.count == Int(Self.children))
    guard case .integer(var last)? = first.content.node(at: "k0").scalar else {
      throw StorageError.abandoned
    }
    #expect(await client.next()?.brief == "ok")
    while last < rounds {
      last += 1
      #expect(await client.next()?.brief == "put big/k0 \(last)")
    }
    await server.stop()
  }

  @Test("a link that ends during a first answer leaves nothing held", .timeLimit(.minutes(10)))
  func closingListener() async throws {
    let ledger = try GatedLedger()
    let transport = LoopbackTransport()
    let server = try await start(ledger, transport)
    let client = try await RawClient.connect(transport)
    ledger.holdNextRead()
    client.request(.listen(TreeListen(path: "big")))
    await ledger.waitUntilHeld()
    #expect(await server.readingSlots == [1])
    client.close()
    while await client.next() != nil {}
    let next = try await RawClient.connect(transport)
    #expect(await server.readingSlots.isEmpty)
    ledger.release()
    next.request(.listen(TreeListen(path: "big")))
    guard case .put(let push)? = await next.next() else { throw StorageError.abandoned }
    #expect(push.content == manyChildren(Self.children))
    #expect(await next.next()?.brief == "ok")
    await server.stop()
  }

  @Test("a link that ends during its read leaves nothing held", .timeLimit(.minutes(10)))
  func closing() async throws {
    let ledger = try GatedLedger()
    let transport = LoopbackTransport()
    let server = try await start(ledger, transport)
    let client = try await RawClient.connect(transport)
    ledger.holdNextRead()
    let put = TreeRequest.put("late", TreeNode(.integer(1)), expectedHash: nil, .none)
    client.sendFrames([
      TreeClientMessage.request(1, .get("big", .all)).encode(),
      TreeClientMessage.request(2, put).encode(),
    ])
    await ledger.waitUntilHeld()
    #expect(await server.readingSlots == [1])
    client.close()
    while await client.next() != nil {}
    let next = try await RawClient.connect(transport)
    #expect(await server.readingSlots.isEmpty)
    next.request(.get("late", .all))
    #expect(try await next.next()?.response?.node() == json("1"), "written before its end")
    ledger.release()
    next.request(.get("big", .all))
    #expect(try await next.next()?.response?.node() == manyChildren(Self.children))
    await server.stop()
  }

  @Test("a link that waits for its read is heard", .timeLimit(.minutes(10)))
  func hearing() async throws {
    let ledger = try GatedLedger()
    let transport = LoopbackTransport()
    let server = try await start(ledger, transport)
    let client = try await RawClient.connect(transport)
    ledger.holdNextRead()
    client.request(.get("big", .all))
    await ledger.waitUntilHeld()
    await server.forgetHeard(1)
    #expect(await server.countHeardLinks() == 0)
    client.send(.keepAlive)
    while await !server.hasHeard(1) { await Task.yield() }
    #expect(await server.countHeardLinks() == 1)
    ledger.release()
    #expect(try await client.next()?.response?.node() == manyChildren(Self.children))
    await server.stop()
  }

  @Test("a batch that fails during a read leaves nothing held", .timeLimit(.minutes(10)))
  func failure() async throws {
    let ledger = try GatedLedger()
    let transport = LoopbackTransport()
    let server = try await start(ledger, transport)
    let client = try await RawClient.connect(transport)
    let other = try await RawClient.connect(transport)
    ledger.holdNextRead()
    client.request(.get("big", .all))
    client.request(.get("small", .all))
    await ledger.waitUntilHeld()
    ledger.failNextBatch()
    other.request(.put("x", TreeNode(.integer(1)), expectedHash: nil, .none))
    for client in [client, other] {
      #expect(await client.next()?.brief == "error")
      #expect(await client.next() == nil)
    }
    #expect(await server.readingSlots.isEmpty)
    ledger.release()
    let back = try await RawClient.connect(transport)
    back.request(.get("big", .all))
    #expect(try await back.next()?.response?.node() == manyChildren(Self.children))
    await server.stop()
  }
}
