import Foundation
import Testing

@testable import TernSharedLedger

@Suite("Clusters in simulated worlds")
struct ClusterTests {
  /// The seeds to play: `TERN_CLUSTER_SEEDS=21` or `1-200`; 1 to 30 by default.
  private static let seeds = WorldSeeds.named("TERN_CLUSTER_SEEDS") ?? 1...30

  @Test("no write is lost or doubled, and no view goes back", arguments: seeds)
  func worlds(seed: UInt64) async {
    let (violations, summary) = await ClusterWorld(seed: seed).play(steps: WorldSeeds.steps)
    #expect(violations.isEmpty, "seed \(seed)")
    // A world in which nothing happens proves nothing.
    #expect(
      summary.acknowledged > 10 && summary.terms > 1 && summary.comparisons > 20,
      "seed \(seed): \(summary)")
  }

  @Test("one seed gives one run")
  func determinism() async {
    let first = await ClusterWorld(seed: 7).play(steps: WorldSeeds.steps).summary
    let second = await ClusterWorld(seed: 7).play(steps: WorldSeeds.steps).summary
    #expect(first == second)
  }

  @Test("a log that breaks its promises is noticed", arguments: HookedLog.Defect.allCases)
  func defects(defect: HookedLog.Defect) async {
    for seed in UInt64(1)...40 {
      let world = ClusterWorld(seed: seed, defect: defect)
      if await !world.play(steps: WorldSeeds.steps).violations.isEmpty { return }
    }
    Issue.record("\(defect) was not noticed in 40 worlds")
  }
}

/// The worlds to play.
enum WorldSeeds {
  /// The things that happen in each.
  static let steps = 4_000

  /// Reads `21` or `1-200` from a variable of the environment; `nil` when there is none.
  static func named(_ variable: String) -> ClosedRange<UInt64>? {
    let text = ProcessInfo.processInfo.environment[variable] ?? ""
    let ends = text.split(separator: "-").compactMap { UInt64($0) }
    guard let first = ends.first, let last = ends.last, first <= last else { return nil }
    return first...last
  }
}
