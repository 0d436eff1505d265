import TernStorage
import TernStorageMemory
import Testing

@testable import TernLedger

@Suite("The budget of the log") struct LogBudgetTests {
  private let store = MemoryStore()
  private let clock = ManualClock()

  private func open(_ options: LedgerOptions = LedgerOptions()) throws -> EmbeddedLedger {
    try EmbeddedLedger(store: store, options: options) { [clock] in clock.now }
  }

  private func put(_ bytes: Int) -> Commit {
    let value = [UInt8](repeating: 7, count: bytes)
    return Commit(mutations: [.put(key: [0x20], value: value)], record: value)
  }

  private func bytes(_ range: KeyRange) throws -> Int {
    try store.read { snapshot throws(StorageError) in
      try snapshot.scan(range).reduce(0) { $0 + $1.key.count + $1.value.count }
    }
  }

  private var log: KeyRange { KeyRange(prefix: [LedgerKey.log]) }

  @Test("overwriting one large value keeps the log within its bytes and one commit")
  func bytesAlone() throws {
    let (size, limit) = (200_000, 2_000_000)
    var ledger = try open(LedgerOptions(logBytes: UInt64(limit)))
    for number in 0..<100 {
      _ = try ledger.commit([put(size)])
      #expect(try bytes(log) <= limit + size + 1_000)
      if number == 50 { ledger = try open(LedgerOptions(logBytes: UInt64(limit))) }
    }
    let entries = try ledger.log(after: 95, limit: 10)
    #expect(entries.map(\.version) == [96, 97, 98, 99, 100])
    #expect(throws: LedgerError.self) { try ledger.log(after: 1, limit: 1) }
    // One commit beyond the limit stays alone.
    _ = try ledger.commit([put(3_000_000)])
    #expect(try ledger.log(after: 100, limit: 10).map(\.version) == [101])
    #expect(try bytes(log) < 3_001_000)
  }

  @Test("what was overwritten is gone within an hour without writes")
  func age() throws {
    let ledger = try open()
    for size in [300, 200, 100] { _ = try ledger.commit([put(size)]) }
    for minute in 1...60 {
      clock.advance(by: 60_000)
      try ledger.maintain()
      if minute == 40 { #expect(try ledger.log(after: 0, limit: 9).count == 3) }
    }
    #expect(try bytes(log) < 100)
    #expect(try bytes(Journal.range) == 0)
    #expect(try bytes(KeyRange(prefix: [0x20])) == 101)
    #expect(throws: LedgerError.truncated(first: 4)) { try ledger.log(after: 2, limit: 1) }
    #expect(try ledger.log(after: 3, limit: 1) == [])
    // Versions go on, over a restart too.
    let again = try open()
    #expect(try again.read { $0.version } == 3)
    #expect(try again.commit([put(1)]) == [.committed(4)])
    #expect(try again.log(after: 3, limit: 9).map(\.version) == [4])
    #expect(try open().read { $0.version } == 4)
  }

  @Test("a log of an earlier format is read, counted on, and leaves by age")
  func earlierFormat() throws {
    func count(_ numbers: UInt64...) -> [UInt8] {
      var writer = ByteWriter()
      for number in numbers { writer.append(variable: number) }
      return writer.bytes
    }
    try store.write { transaction throws(StorageError) in
      try transaction.put(Array("tern ledger".utf8) + [2], for: LedgerKey.format)
      try transaction.put(count(2, 0, 1, 7, 0, 1, 8), for: LogSegment.key(1))
      try transaction.put(count(1, 0, 1, 9), for: LogSegment.key(3))
    }
    let ledger = try open()
    #expect(try ledger.log(after: 0, limit: 9).map(\.record) == [[7], [8], [9]])
    #expect(try ledger.commit([put(100)]) == [.committed(4)])
    #expect(try ledger.log(after: 1, limit: 9).map(\.version) == [2, 3, 4])
    for _ in 0..<2 {
      try ledger.maintain()
      clock.advance(by: 60_000)
    }
    try ledger.maintain()
    #expect(try ledger.log(after: 3, limit: 9).map(\.version) == [4])
    #expect(throws: LedgerError.truncated(first: 4)) { try ledger.log(after: 0, limit: 9) }
  }

  @Test("compacting settles everything and leaves as much of the log as asked for")
  func compacting() throws {
    let ledger = try open()
    for _ in 0..<20 { _ = try ledger.commit([put(1_000)]) }
    try open().compact(keepingLog: 5)
    #expect(try open().log(after: 15, limit: 9).map(\.version) == [16, 17, 18, 19, 20])
    #expect(throws: LedgerError.truncated(first: 16)) { try open().log(after: 14, limit: 9) }
    try open().compact(keepingLog: 0)
    #expect(try bytes(log) < 100)
    #expect(try bytes(Journal.range) == 0)
    #expect(try open().commit([put(1)]) == [.committed(21)])
  }
}
