import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernStorage
import TernTestKit
import TernTreeWire
import Testing

@testable import TernServer

@Suite("A server's store with a damaged record") struct ServerSalvageTests {
  typealias Kind = DamagedServerRecord.Kind

  /// A store in which a server has left a record of every kind.
  private func disk(rowsAtOnce: Bool) throws -> FaultyDisk {
    let disk = FaultyDisk()
    let bench = try MachineBench(
      store: disk.open(), ledgerOptions: LedgerOptions(journalRows: rowsAtOnce ? 0 : 1_024))
    try bench.ledger.takeReserve()
    let open = Array(#"{"rules": {".read": true, ".write": true}}"#.utf8)
    let rows: [(key: [UInt8], value: [UInt8])] = [
      (StoreLayout.rules + Array("default".utf8), open),
      (StoreLayout.revocations + Array("ada".utf8), [0, 0, 0, 0, 0, 0, 0, 9]),
      (StoreLayout.settings + Array("default".utf8), Array("{}".utf8)),
    ]
    let stored = rows.map { Mutation.put(key: $0.key, value: $0.value) }
    _ = try bench.ledger.commit([Commit(mutations: stored, record: [])])
    try bench.open(1, stream: 7)
    _ = try bench.ask(
      1, bench.put("n", 1, WriteHeader(WriteIdempotencyKey(sequence: 1))), .onDisconnectSet("m", 1))
    return disk
  }

  private func start(_ disk: FaultyDisk) throws -> MachineBench {
    try MachineBench(store: disk.open())
  }

  @Test(
    "what keeps a server from starting is set aside by name, and the rest is there",
    arguments: [
      Kind.format, .log, .stream, .journal, .reserve, .deferred, .rules, .revocation, .settings,
    ])
  func setAside(kind: Kind) throws {
    let disk = try disk(rowsAtOnce: kind != .journal)
    let rows = try disk.open().read { snapshot throws(StorageError) in try snapshot.scan() }
    let row = try #require(
      rows.last { DamagedServerRecord(DamagedRow(key: $0.key, value: [])).kind == kind })
    disk.corrupt(row.key)
    if ![.stream, .reserve].contains(kind) {
      #expect(throws: LedgerError.storage(.corruptRecord(key: row.key))) { try start(disk) }
    }

    let store = disk.open()
    let found = try TernServer.damagedRecords(in: store)
    #expect(found.map(\.kind) == [kind] && found.first?.row.value == row.value)
    try TernServer.setAside(found, in: store, now: 2_000_000_000)
    #expect(try TernServer.damagedRecords(in: store).isEmpty)

    let bench = try start(disk)
    let known = try bench.open(2, stream: 7).lastSequence
    #expect(known == (kind == .stream || kind == .journal ? 0 : 1))
    let answer = try bench.response(
      2, bench.put("n", 2, WriteHeader(WriteIdempotencyKey(sequence: 2), acknowledged: 1)))
    #expect(answer?.status == (kind == .rules ? .permissionDenied : .ok))
    let moment: Int64 = kind == .revocation ? 2_000_001 : 9
    #expect(bench.machine.admin.credentials.revocations.moments["ada"] == moment)
  }

  @Test("a log without its end goes on with versions that no client has seen")
  func leap() throws {
    let disk = try disk(rowsAtOnce: true)
    let before = try EmbeddedLedger(store: disk.open()) { 0 }
    let last = try before.read { snapshot throws(StorageError) in snapshot.version }
    let rows = try disk.open().read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(prefix: [0x01]))
    }
    disk.corrupt(try #require(rows.last).key)
    let store = disk.open()
    try TernServer.setAside(try TernServer.damagedRecords(in: store), in: store, now: 0)
    let ledger = try EmbeddedLedger(store: disk.open()) { 0 }
    let results = try ledger.commit([Commit(mutations: [], record: [1])])
    guard case .committed(let next)? = results.first else { return #expect(Bool(false)) }
    #expect(next > last + 1_000_000)
    #expect(throws: LedgerError.truncated(first: next - 1)) {
      try ledger.log(after: last, limit: 10)
    }
    #expect(try ledger.log(after: next - 1, limit: 10).map(\.record) == [[1]])
  }

  @Test("corrupt data stay where they are: a server starts, and rejects requests for them")
  func data() throws {
    let disk = try disk(rowsAtOnce: true)
    let rows = try disk.open().read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(prefix: StoreLayout.trees))
    }
    disk.corrupt(try #require(rows.last).key)
    let store = disk.open()
    let found = try TernServer.damagedRecords(in: store)
    #expect(found.map(\.kind) == [.data] && found[0].isLeftAlone)
    try TernServer.setAside(found, in: store, now: 0)
    #expect(try TernServer.damagedRecords(in: store) == found)
    let bench = try start(disk)
    try bench.open(2)
    #expect(try bench.response(2, .get("n", .all))?.status == .failed)
    // Beside it alone nothing can be written: whether the parent has children cannot be told.
    #expect(try bench.response(2, bench.put("other/place", 2))?.status == .ok)
  }

  @Test("a client whose stream is damaged is let go with a word; the others stay")
  func stream() throws {
    let disk = try disk(rowsAtOnce: true)
    let rows = try disk.open().read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(prefix: [0x02]))
    }
    let bench = try start(disk)
    try bench.open(1)
    disk.corrupt(try #require(rows.last).key)
    let opening = TreeClientMessage.open(TreeOpening(stream: 7)).encode()
    try bench.run([.opened(slot: 2, isLocal: true), .frame(slot: 2, opening)])
    #expect(bench.take(2).map(\.brief) == ["error"] && bench.closed[2] != nil)
    #expect(try bench.response(1, bench.put("n", 2))?.status == .ok)
    let mark = WriteHeader(WriteIdempotencyKey(stream: 7, sequence: 2))
    #expect(try bench.response(1, bench.put("n", 3, mark))?.status == .failed)
  }
}
