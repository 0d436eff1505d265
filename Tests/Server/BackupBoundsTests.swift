import Dispatch
import Synchronization
import TernCore
import TernLedger
import TernStorage
import TernStorageMemory
import TernSync
import TernTestKit
import TernTransportLoopback
import Testing

@testable import TernServer

/// A backup holds a snapshot, which keeps what is overwritten on the disk.
@Suite("Bounds of backups", .timeLimit(.minutes(10)))
final class BackupBoundsTests: Sendable {
  private final class Reader: Sendable {
    private struct State {
      var isWithdrawn = false
      var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func hear(_ event: TreeExport.Event) {
      guard case .withdrawn = event else { return }
      state.withLock { state in
        state.isWithdrawn = true
        return exchange(&state.waiting, with: nil)
      }?.resume()
    }

    /// Waits until the backup was taken away.
    func isWithdrawn() async {
      await withCheckedContinuation { done in
        let isOver = state.withLock { state in
          if !state.isWithdrawn { state.waiting = done }
          return state.isWithdrawn
        }
        if isOver { done.resume() }
      }
    }
  }

  private let clock = ManualClock()
  private let events = Mutex<[ServerEvent]>([])
  private let storeBytes = Atomic<Int>(10 << 20)

  /// Lends a server with a store of more rows than a backup sends ahead of its reader.
  private func withServer(
    _ limits: ServerLimits, _ body: (TernServer, TreeExport, Reader) async throws -> Void
  ) async throws {
    let transport = LoopbackTransport()
    let environment = RuntimeEnvironment(
      millisecondsSinceEpoch: { 5_000 }, clock: clock,
      randomBits: RuntimeEnvironment.system.randomBits)
    let store = MemoryStore()
    let ledger = try EmbeddedLedger(store: store) { 0 }
    let mutations = (0..<40).map { number in
      Mutation.put(
        key: [0x20, 0x61, 0, UInt8(number)], value: [UInt8](repeating: 7, count: 20_000))
    }
    _ = try ledger.commit([Commit(mutations: mutations, record: [1])])
    let server = try await TernServer(
      ledger: ledger, on: transport, options: ServerOptions(limits: limits), ambient: environment
    ) { [self] event in
      if case .backupEnded = event { events.withLock { $0.append(event) } }
    }
    server.surroundings.read { [self] in
      var figures = SystemFigures()
      figures.storeBytes = storeBytes.load(ordering: .relaxed)
      return figures
    }
    let reader = Reader()
    let asked = DirectRequest(namespace: "default", isLocal: true, .administer)
    let export = try #require(
      await server.backUp(on: nil, for: asked, at: "a") { reader.hear($0) })
    try await body(server, export, reader)
    await server.stop()
  }

  @Test("a backup ends with its reason when the store's files grow beyond the limit meanwhile")
  func growth() async throws {
    var limits = ServerLimits()
    limits.backupGrowthBytes = 4 << 20
    try await withServer(limits) { server, _, reader in
      storeBytes.store(14 << 20, ordering: .relaxed)
      await BackupReview.run(on: server)
      #expect(events.withLock { $0 }.isEmpty)
      storeBytes.store((14 << 20) + 1, ordering: .relaxed)
      await BackupReview.run(on: server)
      await reader.isWithdrawn()
      let end = BackupEnd.storeGrew(toBytes: (14 << 20) + 1, limitBytes: 14 << 20)
      #expect(events.withLock { $0 } == [.backupEnded(end)])
      let ended = try #require(server.surroundings.endedBackup)
      #expect(ended.reason == end && ended.time == 5_000)
      // It is told once, however long its thread takes to end.
      await BackupReview.run(on: server)
      #expect(events.withLock { $0.count } == 1)
    }
  }

  @Test("another reading piece by piece ends when it lasts too long or keeps too much on the disk")
  func exports() async throws {
    var limits = ServerLimits(wholeReadBytes: 1_000)
    limits.backupGrowthBytes = 4 << 20
    for grows in [false, true] {
      storeBytes.store(10 << 20, ordering: .relaxed)
      try await withServer(limits) { server, backup, _ in
        backup.cancel()
        let text = String(repeating: "x", count: 20_000)
        let node = TreeNode(
          children: ChildMap(
            sorted: (0..<40).map { (TreeKey(unchecked: "k\(100 + $0)"), TreeNode(.string(text))) }))
        let write = DirectRequest(
          namespace: "default", isLocal: true, .write(.set(.root, node), expectedHash: nil))
        #expect(await server.answer(to: write) == .written(.set(.root, node)))
        let reader = Reader()
        let asked = DirectRequest(namespace: "default", isLocal: true, .readOrExport(.root))
        let export = try #require(
          await server.export(.root, .value, of: "default", for: asked, at: "a") {
            reader.hear($0)
          })
        await BackupReview.run(on: server)
        #expect(!export.isWithdrawn)
        if grows {
          storeBytes.store((14 << 20) + 1, ordering: .relaxed)
        } else {
          clock.advance(by: .milliseconds(299_000))
          await BackupReview.run(on: server)
          #expect(!export.isWithdrawn)
          clock.advance(by: .milliseconds(1_001))
        }
        await BackupReview.run(on: server)
        await reader.isWithdrawn()
        // No backup was ended.
        #expect(events.withLock { $0 }.isEmpty)
      }
    }
  }

  @Test("a backup that its reader has cancelled is not told as ended by a bound")
  func cancelled() async throws {
    let table = try ExportTable(
      EmbeddedLedger(store: MemoryStore()) { 0 }, ServerLimits(), uptime: { 0 })
    let inPiece = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    let asked = DirectRequest(namespace: "default", isLocal: true, .administer)
    let export = try #require(
      table.beginBackup(on: nil, review: asked, at: "a", time: 0, storeBytes: nil) { _ in
        inPiece.signal()
        mayGoOn.wait()
      })
    // Its thread goes on when the taker of its first piece does.
    wait(for: inPiece)
    export.cancel()
    #expect(table.count == 1)
    #expect(table.reviewBounds(isDiskFull: true, storeBytes: { nil }).isEmpty)
    mayGoOn.signal()
    await table.endAll()
  }

  private func wait(for event: DispatchSemaphore) { event.wait() }

  @Test("a small store may grow by 4 GiB, a large one by as much as it has")
  func standardGrowth() {
    var limits = ServerLimits()
    #expect(limits.backupGrowth(of: 1 << 20) == 4 << 30)
    #expect(limits.backupGrowth(of: 100 << 30) == 100 << 30)
    limits.backupGrowthBytes = 7
    #expect(limits.backupGrowth(of: 100 << 30) == 7)
  }

  @Test("a backup whose reader takes nothing ends, and says so")
  func unread() async throws {
    try await withServer(ServerLimits()) { server, export, reader in
      while export.untakenBytes < TreeExport.aheadBytes { await Task.yield() }
      clock.advance(by: .milliseconds(60_001))
      await BackupReview.run(on: server)
      await reader.isWithdrawn()
      #expect(events.withLock { $0 } == [.backupEnded(.unread(milliseconds: 60_000))])
    }
  }
}

extension TernServer {
  /// Answers one request.
  fileprivate func answer(to request: DirectRequest) async -> DirectAnswer {
    await withCheckedContinuation { done in ask(request) { done.resume(returning: $0) } }
  }
}
