import Foundation
import TernCore
import Testing

@testable import tern

/// Real processes, `kill -9`, and what has to be true afterwards: nothing acknowledged is lost,
/// nothing stored on a device is lost, nothing is applied twice, and all agree.
///
/// `TERN_KILL_SEED` repeats the choices of a run; `TERN_KILLS` kills more often.
@Suite("kills") struct KillTests {
  @Test("kills lose nothing and repeat nothing", arguments: ["sqlite", "lmdb"])
  func kills(storage: String) async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed =
      environment["TERN_KILL_SEED"].flatMap { UInt64($0) }
      ?? (environment["CI"] == nil ? .random(in: 1...1_000_000) : 1)
    let count = environment["TERN_KILLS"].flatMap { Int($0) } ?? 50
    print("kills on \(storage): TERN_KILL_SEED=\(seed)")
    try await withFolder { folder in
      let world = try KillWorld(storage: storage, folder: folder, seed: seed)
      defer { world.clean() }
      try await world.begin()
      try await world.torture(serverKills: count, clientKills: count)
      let end = try await world.end()

      let reckoning = try KillReckoning(
        try TreeNode(json: end.server.tree), world.clients, world.presence)
      #expect(reckoning.problems == [], "TERN_KILL_SEED=\(seed)")
      let documents = try KillDocuments(end.server.documents, world.clients)
      #expect(documents.problems == [], "TERN_KILL_SEED=\(seed)")
      let shared = try settledPart(of: end.server)
      for sight in end.live {
        #expect(try settledPart(of: sight) == shared, "a client saw something else: \(seed)")
      }
      for sight in end.cached {
        #expect(try settledPart(of: sight) == shared, "a cache has something else: \(seed)")
      }
      #expect(world.serverKills >= count && world.clientKills >= count)
      #expect(reckoning.writeCount > count && reckoning.transactionCount > 0)
      #expect(reckoning.deferredCount > 0)
      #expect(documents.writeCount > count && documents.batchCount > 0)
      #expect(documents.transactionCount > 0)
      print(
        """
        kills on \(storage): \(world.serverKills) of the server, \(world.clientKills) of clients; \
        \(reckoning.writeCount) writes, \(reckoning.transactionCount) transactions, \
        \(reckoning.deferredCount) deferred writes; \(documents.writeCount) writes to documents, \
        \(documents.transactionCount) transactions on them
        """)
    }
  }

  /// Returns everything but the values that still change without writers: onDisconnect operations
  /// fire as sessions end.
  private func settledPart(of sight: KillSight) throws -> KillSight {
    var tree = try TreeNode(json: sight.tree)
    tree.setNode(.empty, at: try TreePath("sessions"))
    return KillSight(tree: tree.json(.export), documents: sight.documents)
  }
}
