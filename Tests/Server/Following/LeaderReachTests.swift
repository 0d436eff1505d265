import TernLedger
import Testing

@testable import TernServer

@Suite("readiness of a node that follows")
struct LeaderReachTests {
  private func reasons(_ standing: LedgerStanding, unreached: Int64? = nil) -> [String] {
    ServerReadiness(
      .ample, 0, isClosed: false, isDraining: false, isStopped: false, following: standing,
      unreached: unreached
    ).reasons
  }

  @Test("a node is not ready whose clock is off, or whose links to the leader do not work")
  func readiness() {
    var standing = LedgerStanding(
      isLeading: false, reason: "", position: 1, head: 1, leader: "a:1", copyAge: 10,
      clockOffset: -5_000)
    #expect(reasons(standing).isEmpty)
    standing.clockOffset = -5_001
    #expect(reasons(standing) == ["the clock is 5001 ms off"])
    standing.clockOffset = 20_000
    #expect(reasons(standing) == ["the clock is 20000 ms off"])
    standing.clockOffset = nil
    #expect(
      reasons(standing, unreached: 12_000) == ["the node that leads was not reached for 12000 ms"])
    standing.leader = nil
    #expect(reasons(standing, unreached: 12_000).isEmpty)
  }

  @Test("links that fail for ten seconds count, until one works or none is tried")
  func reach() {
    var reach = LeaderReach()
    for second in Int64(0)..<10 { reach.noteFailure(at: second * 1_000) }
    #expect(reach.failingTime(at: 9_000) == nil)
    reach.noteFailure(at: 10_000)
    #expect(reach.failingTime(at: 11_000) == 11_000)
    #expect(reach.failingTime(at: 40_000) == nil, "nothing was tried")
    reach.noteFailure(at: 50_000)
    #expect(reach.failingTime(at: 50_000) == nil)
    reach.noteFailure(at: 60_000)
    #expect(reach.failingTime(at: 60_000) == 10_000)
    reach.noteSuccess()
    #expect(reach.failingTime(at: 60_000) == nil)
  }
}
