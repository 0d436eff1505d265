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
    let seed = environment["TERN_KILL_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...1_000_000)
    let count = environment["TERN_KILLS"].flatMap { Int($0) } ?? 50
    print("kills on \(storage): TERN_KILL_SEED=\(seed)")
    try await withFolder { folder in
      let world = try KillWorld(storage: storage, folder: folder, seed: seed)
      defer { world.clean() }
      try await world.begin()
      try await world.torture(serverKills: count, clientKills: count)
      let end = try await world.end()

      let tree = try TreeNode(json: end.server)
      let reckoning = try KillReckoning(tree, world.clients)
      #expect(reckoning.problems == [], "TERN_KILL_SEED=\(seed)")
      for tree in end.live { #expect(tree == end.server, "a client saw something else: \(seed)") }
      for tree in end.cached { #expect(tree == end.server, "a cache has something else: \(seed)") }
      #expect(world.serverKills >= count && world.clientKills >= count)
      #expect(reckoning.writeCount > count && reckoning.transactionCount > 0)
      print(
        """
        kills on \(storage): \(world.serverKills) of the server, \(world.clientKills) of clients; \
        \(reckoning.writeCount) writes, \(reckoning.transactionCount) transactions
        """)
    }
  }
}
