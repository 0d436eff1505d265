import TernStorage
import TernStorageMemory
import Testing

@testable import TernLedger

@Suite("Time that proves nothing") struct LivedTimeTests {
  private let store = MemoryStore()
  private let clock = ManualClock()
  private static let day: Int64 = 86_400_000

  private func open(_ options: LedgerOptions = LedgerOptions()) throws -> EmbeddedLedger {
    try EmbeddedLedger(store: store, options: options) { [clock] in clock.now }
  }

  private func put(_ sequence: UInt64, stream: UInt128 = 42) -> Commit {
    let id = CommitID(stream: stream, sequence: sequence)
    return Commit(
      claim: IdempotencyKey(id: id, payloadHash: sequence), mutations: [], record: [1])
  }

  private func knows(_ stream: UInt128, _ ledger: EmbeddedLedger) throws -> Bool {
    try ledger.read { snapshot throws(StorageError) in try snapshot.stream(stream) != nil }
  }

  /// Enough commits that silent streams are looked for.
  private func sweep(_ ledger: EmbeddedLedger) throws {
    _ = try ledger.commit((0..<1_100).map { _ in Commit(mutations: [], record: [2]) })
  }

  @Test(
    "a clock that is wrong at every start makes no writer forgotten",
    arguments: [60, 700, -700, 20_000] as [Int64])
  func wrongAtStart(days: Int64) throws {
    _ = try open().commit([put(1)])
    for _ in 0..<5 {
      clock.advance(by: days * Self.day)
      let ledger = try open()
      try sweep(ledger)
      try ledger.maintain()
      clock.advance(by: 61_000)
      try ledger.maintain()
      #expect(try knows(42, ledger))
      #expect(try ledger.commit([put(1)]) == [.duplicate(1, outcome: [])])
    }
  }

  @Test("a clock that jumps while the ledger is open counts for a minute")
  func jumps() throws {
    let ledger = try open(LedgerOptions(streamLifetime: .seconds(3_600)))
    _ = try ledger.commit([put(1)])
    for _ in 0..<30 {
      clock.advance(by: 700 * Self.day)
      try sweep(ledger)
      clock.advance(by: -900 * Self.day)
      try sweep(ledger)
    }
    #expect(try knows(42, ledger))
    for _ in 0..<31 {
      clock.advance(by: 60_000)
      try ledger.maintain()
    }
    try sweep(ledger)
    #expect(try !knows(42, ledger))
  }

  @Test("time that was lived goes on behind a restart, to a few minutes")
  func restarts() throws {
    let options = LedgerOptions(streamLifetime: .seconds(7_200))
    _ = try open(options).commit([put(1)])
    for round in 0..<10 {
      let ledger = try open(options)
      for _ in 0..<15 {
        clock.advance(by: 60_000)
        try ledger.maintain()
      }
      let isKnown = try knows(42, ledger)
      #expect(isKnown || round > 7)
      // Each run writes another stream, by which it is known how far time went.
      _ = try ledger.commit([put(1, stream: UInt128(round))])
    }
    let last = try open(options)
    try sweep(last)
    #expect(try !knows(42, last))
    #expect(try knows(9, last))
  }

  @Test("streams that an earlier format dated by the wall clock are silent from now on")
  func earlierFormat() throws {
    let old = StreamState(last: 3, outcomes: [])
    try store.write { transaction throws(StorageError) in
      try transaction.put(Array("tern ledger".utf8) + [2], for: LedgerKey.format)
      for (stream, time) in [(UInt128(1), Int64(1_000_000_000_001)), (2, 4_000_000_000_000)] {
        try transaction.put(StreamRow.encode(old, touched: time), for: StreamRow.key(stream))
      }
    }
    let ledger = try open(LedgerOptions(streamLifetime: .seconds(600)))
    clock.advance(by: 60_000)
    try sweep(ledger)
    for stream in [1, 2] as [UInt128] { #expect(try knows(stream, ledger)) }
    for _ in 0..<15 {
      clock.advance(by: 60_000)
      try ledger.maintain()
    }
    try sweep(ledger)
    for stream in [1, 2] as [UInt128] { #expect(try !knows(stream, ledger)) }
  }
}
