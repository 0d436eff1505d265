import TernCore
import TernDocumentWire
import TernQuery
import TernTransport
import Testing

@testable import TernServer

@Suite("Databases of documents in memory")
struct OpenDatabaseTests {
  @Test("a writer and a listener meet, however many databases others open in between")
  func manyDatabases() throws {
    let bench = try DocumentBench()
    for slot in [1, 2, 3] { try bench.link(slot) }
    try bench.openWrites(1, 1)
    for number in 0..<DatabaseRegistry.databasesKept {
      bench.databases[3] = try DocumentDatabase(projectID: "p", databaseID: "other\(number)")
      let writes = [bench.set("c/a", [:])]
      _ = try bench.ask(3, UInt32(number + 1), .commit(writes, transaction: [], nil)).get()
    }
    let all = DocumentQuery.collection(try CollectionPath("c"))
    let first = try bench.listen(2, 1, WatchTarget(id: 2, subject: .query(all.target)))
    #expect(first.map(\.brief) == ["add [2]", "current [2]", "snapshot"])
    _ = try bench.write(1, 1, [bench.set("c/x", [:])])
    #expect(bench.changes(2, 1).map(\.brief) == ["c/x [2]", "snapshot"])
  }

  @Test("databases in memory are charged to the client that names them, up to its share")
  func charged() throws {
    var options = ServerOptions()
    options.limits.memoryBytes = 64 << 20
    options.limits.memoryBytesPerAddress = 4 << 20
    let bench = try DocumentBench(options: options)
    try bench.link(1)
    let all = DocumentQuery.collection(try CollectionPath("c"))
    var codes: [DocumentStatus.Code] = []
    let most = 2_000
    for number in 0..<most {
      let name = try DocumentDatabase(projectID: "p", databaseID: "other\(number)")
      bench.databases[1] = name
      let call = UInt32(number + 1)
      // A transaction keeps its database in memory, as a listen does.
      switch try bench.ask(1, call, .begin(.readWrite(retrying: []))) {
      case .success: break
      case .failure(let status): codes.append(status.code)
      }
    }
    let registry = bench.machine.documents.registry
    #expect(!codes.isEmpty && Set(codes) == [.resourceExhausted])
    #expect(registry.used.count + codes.count == most)
    #expect(registry.used.count > 500 && registry.used.count * 4_096 <= 4 << 20)
    #expect(bench.budget.usedBytes <= 4 << 20)
    // Once they are not used any more, they make way.
    bench.uptime += 1_000_000
    try bench.run([.tick])
    #expect(bench.budget.usedBytes == 0)
    try bench.link(2)
    let name = try DocumentDatabase(projectID: "p", databaseID: "last")
    bench.databases[2] = name
    let first = try bench.listen(2, 1, WatchTarget(id: 2, subject: .query(all.target)))
    #expect(first.map(\.brief) == ["add [2]", "current [2]", "snapshot"])
    #expect(registry.used.count == 1)
  }

  @Test("a database without clients makes way for others")
  func unused() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.openWrites(1, 1)
    #expect(bench.machine.documents.registry.databaseCount == 1)
    try bench.run([.closed(slot: 1)])
    try bench.link(2)
    for number in 0..<DatabaseRegistry.databasesKept {
      bench.databases[2] = try DocumentDatabase(projectID: "p", databaseID: "other\(number)")
      _ = try bench.ask(2, UInt32(number + 1), .commit([], transaction: [], nil)).get()
    }
    #expect(bench.machine.documents.registry.databaseCount <= DatabaseRegistry.databasesKept)
  }
}
