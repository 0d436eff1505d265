import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernLedger

@Suite("Backups")
struct BackupTests {
  @Test("a backup restores every row of its moment, and nothing of what was written later")
  func wholeBackup() throws {
    let world = try World()
    try world.write(0..<500)
    let backup = try world.backUp()
    let before = try world.rows()
    try world.write(100..<700)

    let store = MemoryStore()
    try restore([backup.bytes], into: store)

    #expect(try rows(of: store) == before)
    #expect(backup.header.version == 5)
    #expect(backup.summary.rows == UInt64(before.count))
  }

  @Test("an increment holds what differs alone, and restores the state of its moment")
  func increments() throws {
    let world = try World()
    try world.write(0..<20_000)
    let whole = try world.backUp()
    try world.write(7_000..<7_010)
    try world.remove(19_000..<20_000)
    let first = try world.backUp(on: whole.index)
    try world.write(30_000..<30_500)
    try world.write(0..<1)
    let second = try world.backUp(on: first.index)

    let store = MemoryStore()
    try restore([whole.bytes, first.bytes, second.bytes], into: store)

    #expect(try rows(of: store) == world.rows())
    #expect(first.bytes.count * 3 < whole.bytes.count)
    #expect(second.header.base?.digest == first.summary.digest)
  }

  @Test("an increment is refused without the backup that it builds on")
  func missingBase() throws {
    let world = try World()
    try world.write(0..<100)
    let whole = try world.backUp()
    try world.write(100..<200)
    let first = try world.backUp(on: whole.index)
    try world.write(200..<300)
    let second = try world.backUp(on: first.index)

    let error = #expect(throws: BackupError.self) {
      try restore([whole.bytes, second.bytes], into: MemoryStore())
    }
    #expect(error == .wrongBase(version: first.header.version))
    #expect(throws: BackupError.self) { try restore([first.bytes], into: MemoryStore()) }
  }

  @Test("no flipped bit of a backup passes")
  func flippedBits() throws {
    let world = try World()
    try world.write(0..<40)
    let whole = try world.backUp()
    try world.write(40..<60)
    let increment = try world.backUp(on: whole.index)
    for backup in [whole.bytes, increment.bytes] {
      for index in backup.indices {
        var damaged = backup
        damaged[index] ^= UInt8(1 << (index % 8))
        #expect(throws: BackupError.self, "byte \(index)") { try verify(damaged) }
      }
    }
  }

  @Test("a backup that is cut anywhere, or goes on behind its end, does not pass")
  func cutBackups() throws {
    let world = try World()
    try world.write(0..<40)
    let backup = try world.backUp().bytes
    for count in 0..<backup.count {
      #expect(throws: BackupError.self, "\(count) bytes") { try verify(Array(backup[..<count])) }
    }
    #expect(throws: BackupError.self) { try verify(backup + [0]) }
    #expect(throws: BackupError.self) { try verify(backup + backup) }
  }

  @Test("a block of another backup does not pass, whole as it is")
  func mixedBackups() throws {
    let (world, second) = (try World(), try World(salt: 7))
    try world.write(0..<4_000)
    let one = try world.backUp().bytes
    try second.write(0..<4_000)
    let other = try second.backUp().bytes
    // Both have sections of the same sizes, so the halves fit together by their lengths.
    try #require(one.count == other.count)
    for cut in stride(from: 64, to: one.count, by: 4_099) {
      #expect(throws: BackupError.self, "cut at \(cut)") {
        try verify(Array(one[..<cut] + other[cut...]))
      }
    }
  }

  @Test("a backup of a later format is refused by name")
  func laterFormat() throws {
    let world = try World()
    var backup = try world.backUp().bytes
    backup[12] = 2
    let error = #expect(throws: BackupError.self) { try verify(backup) }
    #expect(error == .newerFormat(found: 2, supported: 1))
    #expect(throws: BackupError.foreign) { try verify(Array("no backup at all".utf8)) }
  }

  @Test("rows that share so much that a section of them would fill the memory do not pass")
  func keyBomb() throws {
    func block(rows: Int) -> [UInt8] {
      let header = SectionText.encode(BackupHeader(version: 1, time: 0, lived: 0))
      let head = SectionHead(kind: SectionKind.header, payload: header, after: 0)
      let keyBytes = 1 << 20
      var content = ByteWriter()
      content.append(counted: [])
      content.append(0)
      content.append(variable: UInt64(rows))
      for row in 0..<rows {
        let shared = row == 0 ? 0 : keyBytes
        content.append(variable: UInt64(shared))
        content.append(
          counted: [UInt8](repeating: 7, count: keyBytes - shared) + [UInt8(row)])
        content.append(counted: [])
      }
      var file = ByteWriter()
      file.append(BackupMagic.bytes)
      head.append(to: &file)
      file.append(header)
      SectionHead(kind: SectionKind.block, payload: content.bytes, after: head.checksum)
        .append(to: &file)
      file.append(content.bytes)
      return file.bytes
    }
    let error = #expect(throws: BackupError.self) { try verify(block(rows: 70)) }
    guard case .corrupt? = error else {
      Issue.record("70 MiB of keys in 1 MiB pass: \(String(describing: error))")
      return
    }
    // What fits is read, and only the end is missing.
    let cut = #expect(throws: BackupError.self) { try verify(block(rows: 10)) }
    guard case .cut? = cut else {
      Issue.record("10 MiB of keys are refused: \(String(describing: cut))")
      return
    }
  }

  @Test("a store that holds anything is not restored into")
  func fullStore() throws {
    let world = try World()
    let error = #expect(throws: BackupError.self) { try BackupRestorer(into: world.store) }
    #expect(error == .ledger(.foreignStore))
  }

  @Test("a new epoch goes on with versions never seen, and knows the outcomes of writes")
  func newEpoch() throws {
    let world = try World()
    let id = CommitID(stream: 7, sequence: 1)
    let claim = IdempotencyKey(id: id, payloadHash: 3)
    let commit = Commit(claim: claim, mutations: [put(1, 1)], record: [1], outcome: [9])
    _ = try world.ledger.commit([commit])
    let backup = try world.backUp()
    try world.write(0..<10)

    let store = MemoryStore()
    try restore([backup.bytes], into: store)
    let version = try LedgerRewriting.beginEpoch(in: store)
    let ledger = try EmbeddedLedger(store: store) { 0 }
    let again = try ledger.commit([commit])
    let next = try ledger.commit([Commit(mutations: [put(2, 2)], record: [2])])

    #expect(version > backup.header.version + 1_000_000)
    #expect(again == [.duplicate(1, outcome: [9])])
    #expect(next == [.committed(version + 1)])
    #expect(try ledger.log(after: version, limit: 10).map(\.record) == [[2]])
  }

  @Test("the last commit of a moment is found by the time that the store was served")
  func datedCommits() throws {
    let clock = ManualReading()
    let store = MemoryStore()
    let ledger = try EmbeddedLedger(store: store, uptime: { clock.now })
    for number in 1...5 as ClosedRange<UInt8> {
      clock.now += 1_000
      _ = try ledger.commit([Commit(mutations: [put(Int(number), 1)], record: [number])])
    }
    #expect(try EmbeddedLedger.lastCommit(in: store, atLived: 3_500) == (3, 3_000))
    #expect(try EmbeddedLedger.lastCommit(in: store, atLived: 9_000) == (5, 5_000))
    let error = #expect(throws: LedgerError.self) {
      _ = try EmbeddedLedger.lastCommit(in: store, atLived: 500)
    }
    #expect(error == .truncated(first: 1))
  }

  @Test("a backup of a running server has the present lived time, not that of the last commit")
  func idleServer() throws {
    let clock = ManualReading()
    let store = MemoryStore()
    let ledger = try EmbeddedLedger(store: store, uptime: { clock.now })
    clock.now += 1_000
    _ = try ledger.commit([Commit(mutations: [put(1, 1)], record: [1])])
    for _ in 0..<5 {
      clock.now += 50_000
      try ledger.maintain()
    }
    var (running, stopped): ([UInt8], [UInt8]) = ([], [])
    _ = try ledger.backUp(at: 900_000) { running += $0 }
    // Nothing tells how long ago a server had this store open.
    _ = try EmbeddedLedger.backUp(store, at: 900_000) { stopped += $0 }
    #expect(try verify(running).header.lived == 251_000)
    #expect(try verify(stopped).header.lived <= 251_000)
  }

  @Test("rows are rewritten below the journal, and the log does not lead to them")
  func rewriting() throws {
    let store = MemoryStore()
    let ledger = try EmbeddedLedger(store: store) { 0 }
    _ = try ledger.commit([Commit(mutations: [put(1, 1)], record: [1])])
    _ = try ledger.commit([Commit(mutations: [.remove(KeyRange(only: key(1)))], record: [2])])
    let version = try LedgerRewriting.rewrite(store) { transaction throws(StorageError) in
      try transaction.put([7], for: key(1))
    }
    let again = try EmbeddedLedger(store: store) { 0 }
    #expect(try again.read { snapshot throws(StorageError) in try snapshot.get(key(1)) } == [7])
    #expect(throws: LedgerError.truncated(first: version)) { try again.log(after: 2, limit: 9) }
    #expect(throws: LedgerError.storage(.abandoned)) {
      try LedgerRewriting.rewrite(store) { transaction throws(StorageError) in
        try transaction.put([8], for: key(1))
        throw .abandoned
      }
    }
    #expect(try again.read { snapshot throws(StorageError) in try snapshot.get(key(1)) } == [7])
  }

  @Test("the index of a backup survives its way to the server")
  func indexBytes() throws {
    let world = try World()
    try world.write(0..<9_000)
    let index = try world.backUp().index
    #expect(index.ranges.count > 2)
    #expect(BackupIndex(index.encode()) == index)
    #expect(BackupIndex(Array(index.encode().dropLast())) == nil)
    #expect(BackupIndex([]) == nil)
  }
}

// MARK: - Helpers

/// A clock that a test sets; one thread uses it.
private final class ManualReading: @unchecked Sendable {
  // `@unchecked Sendable` is sound because the test and its ledger run on one thread.
  var now: Int64 = 0
}

private struct Made {
  let bytes: [UInt8]
  let header: BackupHeader
  let summary: BackupSummary
  let index: BackupIndex
}

/// A ledger with numbered rows.
private struct World {
  let store = MemoryStore()
  let ledger: EmbeddedLedger
  /// The difference between its values and those of another one.
  private let salt: Int

  init(salt: Int = 0) throws {
    self.salt = salt
    ledger = try EmbeddedLedger(store: store) { 0 }
  }

  /// Stores rows, a hundred a commit; the values are as long as those of before.
  func write(_ numbers: Range<Int>) throws {
    let version = try ledger.read { $0.version }
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100) {
      let part = start..<min(start + 100, numbers.upperBound)
      let mutations = part.map { put($0, Int(version) + salt) }
      _ = try ledger.commit([Commit(mutations: mutations, record: [1, 2, 3])])
    }
  }

  func remove(_ numbers: Range<Int>) throws {
    let range = KeyRange(from: key(numbers.lowerBound), to: key(numbers.upperBound))
    _ = try ledger.commit([Commit(mutations: [.remove(range)], record: [4])])
  }

  func backUp(on base: BackupIndex? = nil) throws -> Made {
    var bytes: [UInt8] = []
    let summary = try ledger.backUp(at: 1, on: base) { bytes += $0 }
    let found = try verify(bytes)
    #expect(found.summary == summary)
    return Made(bytes: bytes, header: found.header, summary: summary, index: found.index)
  }

  func rows() throws -> [Row] { try TernLedgerTests.rows(of: store) }
}

private func key(_ number: Int) -> [UInt8] {
  Array("row".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
}

private func put(_ number: Int, _ value: Int) -> Mutation {
  let text = String(repeating: "v", count: 20) + "\(1_000_000 + value)"
  return .put(key: key(number), value: Array(text.utf8))
}

private func rows(of store: MemoryStore) throws -> [Row] {
  try store.read { snapshot throws(StorageError) in try snapshot.scan() }
}

private func reading(
  _ bytes: [UInt8]
) -> (Int) throws(BackupError) -> [UInt8] {
  var offset = 0
  return { count throws(BackupError) in
    let piece = bytes[offset...].prefix(count)
    offset += piece.count
    return Array(piece)
  }
}

@discardableResult
private func verify(
  _ bytes: [UInt8]
) throws(BackupError) -> (header: BackupHeader, summary: BackupSummary, index: BackupIndex) {
  try BackupReader.verify(reading(bytes))
}

private func restore(_ backups: [[UInt8]], into store: MemoryStore) throws(BackupError) {
  var restorer = try BackupRestorer(into: store)
  for backup in backups { try restorer.write(reading(backup)) }
  try restorer.finish()
}
