import TernCore
import TernTestKit
import TernTreeReplica
import Testing

@Suite("The paths of pending writes")
struct PendingPathsTests {
  @Test("nothing is pending before the first write and after the last answer")
  func empty() throws {
    var replica = TreeReplica()
    #expect(replica.overlay.pending.isEmpty)
    let write = replica.plan(.set("a/b", 1), now: 0)
    #expect(!replica.overlay.pending.isEmpty)
    _ = replica.acknowledge(write.id, .rejected)
    #expect(replica.overlay.pending == PendingPaths())
  }

  @Test("a write makes its place pending, with what is above and below, and no sibling")
  func one() throws {
    var replica = TreeReplica()
    _ = replica.plan(.set("a/b", ["c": 1]), now: 0)
    let pending = replica.overlay.pending
    for text in ["", "a", "a/b", "a/b/c", "a/b/x/y", "a/b/.priority"] {
      #expect(!pending.at(place(text)).isEmpty)
    }
    for text in ["b", "a/c", "a/c/b", "a/.priority"] {
      #expect(pending.at(place(text)).isEmpty)
    }
  }

  @Test("a priority is pending at its node, and not at the node's children")
  func priority() throws {
    var replica = TreeReplica()
    let write = replica.plan(.set(place("a/.priority"), 1), now: 0)
    #expect(!replica.overlay.pending.at("a").isEmpty)
    #expect(replica.overlay.pending.at("a/b").isEmpty)
    _ = replica.acknowledge(write.id, .accepted)
    #expect(replica.overlay.pending.isEmpty)
  }

  @Test("what a larger write covered is still pending when that write is answered first")
  func uncovered() throws {
    var replica = TreeReplica()
    let below = replica.plan(.set("a/b", 1), now: 0)
    let whole = replica.plan(.set("a", ["c": 1]), now: 0)
    #expect(!replica.overlay.pending.at("a/c").isEmpty)
    _ = replica.acknowledge(whole.id, .accepted)
    #expect(replica.overlay.pending.at("a/c").isEmpty)
    #expect(!replica.overlay.pending.at("a/b").isEmpty)
    _ = replica.acknowledge(below.id, .accepted)
    #expect(replica.overlay.pending.isEmpty)
  }

  @Test("an event has the pending places of its time, also after the write is answered")
  func kept() throws {
    var replica = TreeReplica()
    _ = replica.listen(at: "a", for: .value)
    _ = replica.applyServer(.overwrite("a", ["b": 1, "c": 1]))
    let write = replica.plan(.set("a/b", 2), now: 0)
    let event = try #require(write.outcome.events.first)
    _ = replica.acknowledge(write.id, .rejected)
    #expect(!event.pending.at("b").isEmpty && event.pending.at("c").isEmpty)
  }

  @Test("they are the places that visible writes touch, whatever comes and goes", arguments: 1...40)
  func random(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    var replica = TreeReplica()
    var made: [WriteID] = []
    for step in 0..<80 {
      if made.isEmpty || dice.roll(3) != 0 {
        let isVisible = dice.roll(4) != 0
        made.append(replica.plan(try dice.someWrite(), isVisible: isVisible, now: 0).id)
      } else {
        let id = made.remove(at: dice.roll(made.count))
        _ = replica.acknowledge(id, dice.roll(2) == 0 ? .accepted : .rejected)
      }
      let touched = replica.overlay.visibleWrites.flatMap { $0.assignments.map(\.path) }
      for _ in 0..<20 {
        let place = dice.somePath(depth: 4)
        let isTouched = touched.contains { $0.contains(place) || place.contains($0) }
        #expect(
          replica.overlay.pending.at(place).isEmpty != isTouched,
          "seed \(seed), step \(step): /\(place)")
      }
    }
    for id in made { _ = replica.acknowledge(id, .accepted) }
    #expect(replica.overlay.pending.isEmpty)
  }

  /// A path that may end in the pseudo-key of priorities.
  private func place(_ text: String) -> TreePath {
    TreePath(unchecked: text.split(separator: "/").map { TreeKey(unchecked: String($0)) })
  }
}
