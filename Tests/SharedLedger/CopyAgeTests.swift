import Synchronization
import TernLedger
import TernLogMemory
import TernStorage
import TernTestKit
import Testing

@testable import TernSharedLedger

@Suite("servers of copies that grow old")
struct CopyAgeTests {
  /// A server that applies what it is given, until its part ends.
  private final class AgingServer: CopyServer {
    private let ledger: SharedLedger
    private let state = Mutex<(isFollowing: Bool, reason: String?)>((false, nil))

    init(_ ledger: SharedLedger) { self.ledger = ledger }

    var isFollowing: Bool { state.withLock { $0.isFollowing } }
    var reason: String? { state.withLock { $0.reason } }

    func prepareToFollow() async {}

    func beginFollowing() async -> Bool {
      state.withLock { $0.isFollowing = true }
      return true
    }

    func take(_ batches: [EmbeddedLedger.PlacedBatch]) async -> Bool {
      (try? ledger.apply(batches)) != nil
    }

    func endFollowing(_ reason: String) async { state.withLock { $0 = (false, reason) } }
  }

  @Test("a node that reads the log without reaching its end lets its clients go")
  func slow() async throws {
    let cluster = TestCluster()
    let first = cluster.node { $0.leaseLifetime = .seconds(600) }
    try await first.lead()
    let second = cluster.node { $0.leaseLifetime = .seconds(600) }
    let server = AgingServer(second.ledger)
    second.ledger.follow(with: server)
    await second.follow()
    #expect(server.isFollowing)
    // Each page takes so long that a look at the lease is due before the next one.
    second.faults.observe { operation in
      if operation.kind == .read { cluster.clock.advance(by: .seconds(2)) }
    }
    for value in UInt8(1)...30 where server.isFollowing {
      try await first.commit([put("a", value)])
      _ = await second.ledger.step()
    }
    #expect(server.reason?.contains("has not reached the log for") == true)
    // It serves again once it has caught up.
    second.faults.observe { _ in }
    await second.follow()
    #expect(server.isFollowing)
  }
}
