import TernCore
import TernTestKit
import Testing

@testable import TernDocumentReplica

@Suite("lookups of documents in limbo") struct LimboTableTests {
  /// The lookups as a server sees them, and the documents that views show.
  private struct World {
    var table: LimboTable
    let limit: Int
    var open: [Int32: DocumentKey] = [:]
    var shown: [Int32: Set<DocumentKey>] = [:]
    /// Keys whose lookups the server denied and that are still shown.
    var denied: Set<DocumentKey> = []
    var used: Set<Int32> = []

    init(limit: Int) {
      self.limit = limit
      table = LimboTable(limit: limit)
    }

    mutating func perform(_ actions: [LimboTable.Action]) {
      for action in actions {
        switch action {
        case .watch(let target, let key):
          #expect(used.insert(target).inserted, "a target is used once")
          #expect(target % 2 == 1)
          #expect(!open.values.contains(key), "\(key) is asked for twice")
          open[target] = key
        case .unwatch(let target): #expect(open.removeValue(forKey: target) != nil)
        }
      }
    }

    var wanted: Set<DocumentKey> { shown.values.reduce(into: []) { $0.formUnion($1) } }

    func check(_ step: Int) throws {
      let waiting = table.waiting
      try #require(table.active == open, "step \(step)")
      #expect(open.count <= limit)
      #expect(waiting.isEmpty || open.count == limit, "step \(step): nothing waits without need")
      #expect(Set(waiting).count == waiting.count)
      let known = Set(open.values).union(waiting).union(denied)
      try #require(known == wanted, "step \(step): each is asked for, waits or was denied")
      #expect(Set(open.values).isDisjoint(with: waiting))
      #expect(table.denied == denied)
    }
  }

  private func key(_ number: Int) -> DocumentKey { DocumentKey(unchecked: "c/\(number)") }

  @Test(
    "each document in limbo is asked for once, in turn", arguments: UInt64(1)...40, [1, 3, 100])
  func model(seed: UInt64, limit: Int) throws {
    var random = SeededGenerator(seed: seed)
    var world = World(limit: limit)
    for step in 0..<200 {
      let target = Int32(2 * (1 + random.roll(4)))
      switch random.roll(10) {
      case 0...4:
        let before = world.shown[target] ?? []
        let added = Set((0..<random.roll(4)).map { _ in key(random.roll(20)) }).subtracting(before)
        let removed = before.filter { _ in random.roll(3) == 0 }
        world.shown[target] = before.union(added).subtracting(removed)
        world.denied.formIntersection(world.wanted)
        world.perform(world.table.change(of: target, added: added, removed: removed))
      case 5:
        world.shown[target] = nil
        world.denied.formIntersection(world.wanted)
        world.perform(world.table.release(target))
      case 6, 7:
        guard let lookup = world.open.keys.sorted().randomElement(using: &random) else { continue }
        let refused = world.table.refuse(lookup)
        #expect(refused == world.open.removeValue(forKey: lookup))
        guard let found = refused else { continue }
        world.denied.insert(found)
        world.perform(world.table.keep(found))
      case 8:
        let again = world.denied.filter { _ in random.roll(2) == 0 }
        world.denied.subtract(again)
        world.perform(world.table.retry(again))
      default:
        #expect(world.table.refuse(1_000_001) == nil)
        world.perform(world.table.retry([key(500)]))
      }
      try world.check(step)
    }
  }

  @Test("documents wait in the order in which they came")
  func order() {
    var table = LimboTable(limit: 1)
    _ = table.change(of: 2, added: [key(5)], removed: [])
    for number in [9, 1, 7] { _ = table.change(of: 2, added: [key(number)], removed: []) }
    #expect(table.waiting == [key(9), key(1), key(7)])
    // One that goes and comes again is the last.
    _ = table.change(of: 2, added: [], removed: [key(9)])
    _ = table.change(of: 2, added: [key(9)], removed: [])
    #expect(table.waiting == [key(1), key(7), key(9)])
    #expect(table.change(of: 2, added: [], removed: [key(5)]) == [.unwatch(1), .watch(3, key(1))])
  }

  @Test("a document that two views show is asked for until both are gone")
  func shared() {
    var table = LimboTable()
    #expect(table.change(of: 2, added: [key(1)], removed: []) == [.watch(1, key(1))])
    #expect(table.change(of: 4, added: [key(1)], removed: []) == [])
    #expect(table.release(2) == [])
    #expect(table.release(4) == [.unwatch(1)])
    #expect(table.release(4) == [])
  }

  @Test("as many are asked for as the limit says", arguments: [-1, 0, 1])
  func limits(over: Int) {
    var table = LimboTable()
    let count = LimboTable.concurrentLimit + over
    let actions = table.change(of: 2, added: Set((0..<count).map(key)), removed: [])
    #expect(actions.count == min(count, LimboTable.concurrentLimit))
    #expect(table.waiting.count == max(0, over))
  }
}

@Suite("what a client calls itself") struct DocumentOnlineTrackerTests {
  @Test("a stream that answers in time is online")
  func online() {
    var tracker = DocumentOnlineTracker()
    #expect(tracker.state == .unknown)
    #expect(tracker.streamStarted() == .start)
    #expect(tracker.set(.online) == .stop && tracker.state == .online)
    tracker.timerFired()
    #expect(tracker.state == .online, "a timer that was stopped says nothing")
    #expect(tracker.set(.online) == .none)
  }

  @Test("a silence or a failure at the start is offline, until something is heard")
  func offline() {
    var silent = DocumentOnlineTracker()
    _ = silent.streamStarted()
    silent.timerFired()
    #expect(silent.state == .offline)
    #expect(silent.set(.online) == .none && silent.state == .online)
    var failed = DocumentOnlineTracker()
    _ = failed.streamStarted()
    #expect(failed.streamFailed() == .stop && failed.state == .offline)
    #expect(failed.streamStarted() == .none && failed.state == .offline, "not another wait")
    #expect(failed.streamFailed() == .none && failed.state == .offline)
    #expect(failed.set(.online) == .none)
    #expect(failed.state == .online && failed.streamStarted() == .start)
  }

  @Test("a break of a stream that was heard is not a failure yet")
  func breaks() {
    var tracker = DocumentOnlineTracker()
    _ = tracker.streamStarted()
    _ = tracker.set(.online)
    #expect(tracker.streamFailed() == .none && tracker.state == .unknown)
    #expect(tracker.streamStarted() == .start)
    #expect(tracker.streamFailed() == .stop && tracker.state == .offline)
  }

  @Test("an application that goes offline and online begins anew")
  func requests() {
    var tracker = DocumentOnlineTracker()
    _ = tracker.streamStarted()
    #expect(tracker.set(.offline) == .stop && tracker.state == .offline)
    #expect(tracker.set(.unknown) == .none)
    #expect(tracker.streamStarted() == .start && tracker.state == .unknown)
  }
}
