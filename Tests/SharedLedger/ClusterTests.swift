import Foundation
import Testing

@testable import TernSharedLedger

@Suite("Clusters in simulated worlds")
struct ClusterTests {
  /// The seeds to play: `TERN_CLUSTER_SEEDS=21` or `1-200`; 1 to 40 by default.
  private static let seeds: ClosedRange<Int> = {
    let text = ProcessInfo.processInfo.environment["TERN_CLUSTER_SEEDS"] ?? "1-40"
    let ends = text.split(separator: "-").compactMap { Int($0) }
    guard let first = ends.first, let last = ends.last, first <= last else { return 1...40 }
    return first...last
  }()

  @Test("no write is lost or doubled, and no view goes back", arguments: seeds)
  func worlds(seed: Int) async {
    let (violations, summary) = await ClusterWorld(seed: UInt64(seed)).play(steps: 1_500)
    #expect(violations.isEmpty, "seed \(seed)")
    // A world in which nothing happens proves nothing.
    #expect(summary.acknowledged > 20 && summary.terms > 1, "seed \(seed): \(summary)")
  }

  @Test("one seed gives one run")
  func determinism() async {
    let first = await ClusterWorld(seed: 7).play(steps: 1_000).summary
    let second = await ClusterWorld(seed: 7).play(steps: 1_000).summary
    #expect(first == second)
  }

  @Test("a log that breaks its promises is noticed", arguments: HookedLog.Defect.allCases)
  func defects(defect: HookedLog.Defect) async {
    for seed in UInt64(1)...40 {
      let world = ClusterWorld(seed: seed, defect: defect)
      if await !world.play(steps: 1_500).violations.isEmpty { return }
    }
    Issue.record("\(defect) was not noticed in 40 worlds")
  }
}
