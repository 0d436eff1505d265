#if TCP && canImport(Glibc)
  import Foundation
  import TernLedger
  import TernServer
  import Testing

  @testable import TernGateway

  /// Legal requests at the edges of every limit, over every endpoint: what was acknowledged is
  /// there after the store was opened again, and nothing stops the writes of others.
  @Suite("At the edges of all limits, over sockets", .serialized) struct EndpointEdgeTests {
    /// Rows are settled after a few commits, and the log is cut.
    private static let often = LedgerOptions(journalRows: 8, logBytes: 1 << 20)

    private static var seed: UInt64 {
      let environment = ProcessInfo.processInfo.environment
      // In CI always the same, so that its verdict depends on the change alone.
      return environment["TERN_EDGES_SEED"].flatMap { UInt64($0) }
        ?? (environment["CI"] == nil ? UInt64.random(in: 1...999_999) : 1)
    }

    @Test("what any endpoint acknowledges stays", arguments: EdgeStore.Kind.allCases)
    func acknowledged(kind: EdgeStore.Kind) async throws {
      try await play(seed: Self.seed, on: kind)
    }

    /// Found by chance: among its answers is one so large that it comes in chunks.
    @Test("seed 559846, on SQLite") func largeAnswer() async throws {
      try await play(seed: 559_846, on: .sqlite)
    }

    private func play(seed: UInt64, on kind: EdgeStore.Kind) async throws {
      print("edges over \(kind): seed \(seed); again with TERN_EDGES_SEED=\(seed)")
      let world = EdgeWorld(seed: seed)
      let store = try EdgeStore(kind)
      try await withGateway(store: store.store, ledgerOptions: Self.often) { gateway in
        try world.play(gateway, rounds: 4)
        await gateway.server.stop()
        world.disconnect()
      }
      #expect(world.accepted >= 16, "seed \(seed): \(world.refused) were rejected")
      for _ in 0..<2 {
        try store.reopen()
        try await withGateway(store: store.store, ledgerOptions: Self.often) { gateway in
          try world.lookAgain(gateway)
          await gateway.server.stop()
          world.disconnect()
        }
      }
    }
  }
#endif
