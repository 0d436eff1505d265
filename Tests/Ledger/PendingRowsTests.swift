import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernLedger

/// Rows over a store, as a batch of writes sees them.
@Suite("Pending rows") struct PendingRowsTests {
  /// Counts the scans that a store is asked for.
  private final class CountingBase: StoreReader {
    private let base: any StoreReader
    private(set) var scans = 0

    init(_ base: any StoreReader) { self.base = base }

    func withValue<R>(
      for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
    ) throws(StorageError) -> R? {
      try base.withValue(for: key, body)
    }

    func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
      scans += 1
      try base.fill(&page, from: scan)
    }
  }

  private func key(_ number: Int) -> [UInt8] { [0x30, UInt8(number >> 8), UInt8(number & 0xFF)] }

  private func store(_ numbers: some Sequence<Int>) throws -> MemoryStore {
    let store = MemoryStore()
    try store.write { transaction throws(StorageError) in
      for number in numbers { try transaction.put([1], for: key(number)) }
    }
    return store
  }

  @Test("are what a store would hold, in both directions", arguments: UInt64(1)...6)
  func model(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let present = Set((0..<2_000).map { _ in random.roll(4_000) })
    try store(present).read { snapshot throws(StorageError) in
      let pending = PendingReader(over: snapshot.reader)
      var expected: [Int: [UInt8]] = [:]
      for number in present { expected[number] = [1] }
      for step in 0..<300 {
        switch random.roll(4) {
        case 0:
          let first = random.roll(4_000)
          let last = min(4_000, first + random.roll(step % 50 == 0 ? 1_500 : 20))
          pending.apply([.remove(KeyRange(from: key(first), to: key(last)))])
          for number in first..<max(first, last) { expected[number] = nil }
        case 1:
          for _ in 0..<40 {
            let number = random.roll(4_000)
            pending.apply([.put(key: key(number), value: [UInt8(step & 0xFF)])])
            expected[number] = [UInt8(step & 0xFF)]
          }
        default:
          let first = random.roll(4_000)
          let range = KeyRange(
            from: key(first), to: random.roll(5) == 0 ? nil : key(first + random.roll(900)))
          let isReversed = random.roll(2) == 0
          let view = Snapshot(pending)
          var cursor = view.cursor(over: range, isReversed: isReversed, limit: 1 + random.roll(200))
          let inRange = expected.filter { entry in
            let key = key(entry.key)
            return range.contains(key.span)
          }
          var wanted = inRange.sorted { $0.key < $1.key }[...]
          while try cursor.next() {
            let next = isReversed ? wanted.popLast() : wanted.popFirst()
            let (found, value) = ([UInt8](copying: cursor.key), [UInt8](copying: cursor.value))
            guard let next, key(next.key) == found, next.value == value else {
              Issue.record("seed \(seed), step \(step)")
              return
            }
          }
          let number = random.roll(4_000)
          let found = try view.get(key(number))
          #expect(found == expected[number], "seed \(seed), step \(step)")
        }
      }
      let rows = try Snapshot(pending).scan(.all)
      #expect(rows.map(\.key) == expected.keys.sorted().map(key), "seed \(seed)")
    }
  }

  @Test("gaps between removed rows are looked into once", arguments: [false, true])
  func gaps(isReversed: Bool) throws {
    let count = 3_000
    try store(0..<count).read { snapshot throws(StorageError) in
      let base = CountingBase(snapshot.reader)
      let pending = PendingReader(over: base)
      let all = KeyRange(from: key(0), to: key(count))
      // As for an update that removes children one by one: is there another one before or behind?
      for step in 0..<count {
        let number = isReversed ? count - 1 - step : step
        pending.apply([.remove(KeyRange(only: key(number)))])
        let view = Snapshot(pending)
        var cursor = view.cursor(over: all, isReversed: isReversed, limit: 1)
        let isLeft = try cursor.next()
        #expect(isLeft == (step < count - 1))
      }
      #expect(base.scans <= 4 * count, "\(base.scans) scans")
      #expect(pending.pending.removed.count == 1)
    }
  }

  @Test("chunks of rows are one sorted list", arguments: UInt64(1)...4)
  func chunks(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var rows = SortedRows()
    var expected: [Int: Int] = [:]
    for step in 0..<8_000 {
      if random.roll(400) == 0 {
        let first = random.roll(6_000)
        let last = random.roll(2) == 0 ? first + random.roll(3_000) : first + random.roll(30)
        rows.remove(KeyRange(from: key(first), to: key(last)))
        for number in first..<last { expected[number] = nil }
      } else {
        let number = seed == 1 ? step % 6_000 : random.roll(6_000)
        rows.put(Row(key: key(number), value: [UInt8(step & 0xFF)]))
        expected[number] = step & 0xFF
      }
    }
    let sorted = expected.sorted { $0.key < $1.key }
    #expect(rows.count == sorted.count)
    #expect(rows.map(\.key) == sorted.map { key($0.key) })
    #expect(rows.map { Int($0.value[0]) } == sorted.map(\.value))
    #expect(rows.last?.key == sorted.last.map { key($0.key) })
    for number in stride(from: 0, to: 6_000, by: 7) {
      let key = key(number)
      let found = rows.value(of: key.span)
      #expect(found == expected[number].map { [UInt8($0)] })
    }
    rows.remove(KeyRange(from: []))
    #expect(rows.isEmpty)
  }
}
