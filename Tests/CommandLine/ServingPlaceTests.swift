import TernLedger
import TernServer
import TernTransportTCP
import Testing

@testable import tern

@Suite("places where clients of a node are served")
struct ServingPlaceTests {
  private func standing(leading: Bool = false, _ leader: String? = nil) -> LedgerStanding {
    LedgerStanding(isLeading: leading, reason: "", position: 1, head: 1, leader: leader)
  }

  @Test("a node that leads or follows serves, once its server does")
  func here() {
    let place = ServingPlace(serves: true, since: 0)
    #expect(place.find(standing(leading: true), .asLeader, at: 0) == .here)
    #expect(place.find(standing(leading: true), .none, at: 0) == .unknown)
    // Its server follows still, and would turn away what is for the leader.
    #expect(place.find(standing(leading: true), .asFollower, at: 0) == .unknown)
    #expect(place.find(standing(), .asLeader, at: 0) == .unknown)
    #expect(place.find(standing("a:1"), .asFollower, at: 0) == .copy)
    #expect(place.find(standing(), .asFollower, at: 0) == .copy)
    #expect(place.find(standing(), .none, at: 9_000) == .unknown)
  }

  @Test("a node that is about to follow lets connections wait for it, for a moment")
  func aboutToFollow() {
    let place = ServingPlace(serves: true, since: 0)
    #expect(place.find(standing("a:1"), .none, at: 499) == .unknown)
    #expect(place.find(standing("a:1"), .none, at: 500) == .node("a:1"))
    place.noteChange(at: 900)
    #expect(place.find(standing("b:1"), .none, at: 1_000) == .unknown)
    #expect(place.find(standing("b:1"), .none, at: 1_400) == .node("b:1"))
    let relaying = ServingPlace(serves: false, since: 0)
    #expect(relaying.find(standing("a:1"), .none, at: 0) == .node("a:1"))
  }
}
