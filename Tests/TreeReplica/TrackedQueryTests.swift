import TernCore
import TernQuery
import TernStorage
import TernTestKit
import Testing

@testable import TernTreeReplica

@Suite("records of a tree's cache") struct TrackedQueryTests {
  private func tracked(using random: inout SeededGenerator) throws -> TrackedQuery {
    TrackedQuery(
      id: random.next(), path: random.somePath(depth: 3), query: try random.someQuery(),
      lastUse: random.next() >> 1, lastAnswer: random.next() >> 1,
      isComplete: random.roll(2) == 0, isActive: random.roll(2) == 0,
      isAnswered: random.roll(2) == 0)
  }

  private func isSame(_ one: TrackedQuery, _ other: TrackedQuery) -> Bool {
    one.id == other.id && one.path == other.path && one.query.id == other.query.id
      && one.lastUse == other.lastUse && one.lastAnswer == other.lastAnswer
      && one.isComplete == other.isComplete && one.isActive == other.isActive
      && one.isAnswered == other.isAnswered
  }

  @Test("a query comes back from its record, and none that is cut does", arguments: UInt64(1)...40)
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let query = try tracked(using: &random)
    let record = query.record
    let found = try #require(TrackedQuery(id: query.id, record: record))
    #expect(isSame(found, query) && found.record == record)
    for length in 0..<record.count {
      // Without its last part a record is one of the default query.
      if let cut = TrackedQuery(id: query.id, record: Array(record.prefix(length))) {
        #expect(cut.query.isDefault && cut.path == query.path && !query.query.isDefault)
      }
    }
  }

  @Test("records that say what none can say are none")
  func impossible() throws {
    let query = TrackedQuery(id: 1, path: "a", query: .all, lastUse: 5)
    for flags in [8, 16, 0x80, 0xFF] as [UInt8] {
      #expect(TrackedQuery(id: 1, record: [flags] + query.record.dropFirst()) == nil)
    }
    var endless = query
    endless.lastUse = .max
    #expect(TrackedQuery(id: 1, record: endless.record) == nil)
    endless = query
    endless.lastAnswer = .max
    #expect(TrackedQuery(id: 1, record: endless.record) == nil)
    #expect(TrackedQuery(id: 1, record: []) == nil)
  }

  @Test("a wrong byte makes another query or none, and ends nothing", arguments: UInt64(1)...10)
  func damaged(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let record = try tracked(using: &random).record
    for position in record.indices {
      for value in [0, 1, 7, 8, 0x10, 0x22, 0x7F, 0x80, 0xFF] as [UInt8] {
        var damaged = record
        damaged[position] = value
        if let found = TrackedQuery(id: 1, record: damaged) {
          #expect(TrackedQuery(id: 1, record: found.record).map { isSame($0, found) } == true)
        }
      }
    }
  }

  @Test("a query that stops was up to date until then, if it was answered")
  func stops() {
    var query = TrackedQuery(id: 1, path: "a", query: .all, lastUse: 5, isActive: true)
    query.deactivate(now: 9)
    #expect(query.lastAnswer == 0 && !query.isActive)
    (query.isActive, query.isAnswered) = (true, true)
    query.deactivate(now: 12)
    #expect(query.lastAnswer == 12 && !query.isActive && !query.isAnswered)
  }

  @Test("keys of the cache lie below its prefix, apart, and say their numbers")
  func keys() {
    let keys = CacheKeys(prefix: [9, 9])
    let numbers: [UInt64] = [0, 1, 255, 256, 1 << 40, .max]
    var all: [[UInt8]] = [keys.head]
    for number in numbers {
      #expect(keys.queryID(keys.query(number)) == number)
      all.append(keys.query(number))
      for child in ["a", "7", "-7", "07", "\u{1F600}"] {
        let key = keys.window(number, TreeKey(unchecked: child))
        #expect(keys.windowChild(key) == TreeKey(unchecked: child))
        #expect(keys.window(number).contains(key) && !keys.queries.contains(key))
        for other in numbers where other != number { #expect(!keys.window(other).contains(key)) }
        all.append(key)
      }
    }
    #expect(Set(all).count == all.count)
    for key in all { #expect(keys.all.contains(key)) }
    for (one, other) in zip(numbers, numbers.dropFirst()) {
      #expect(keys.query(one).lexicographicallyPrecedes(keys.query(other)))
    }
  }
}

extension KeyRange {
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(lower)
      && (upper.map { key.lexicographicallyPrecedes($0) } ?? true)
  }
}
