import Foundation
import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernStorage
import Testing

@testable import TernDocumentAuthority
@testable import TernServer

@Suite("Damaged records of documents")
struct DocumentDamageTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))

  private let others = DocumentQuery.collection(CollectionPath(unchecked: "o"))

  private func isAbout(_ id: String) -> ([UInt8]) -> Bool {
    { key in key.suffix(4).contains(id.utf8.first ?? 0) }
  }

  private func set(_ key: DocumentKey) -> DocumentRequest.Body {
    .commit([DocumentMutation(key, .set(["n": 9]))], transaction: [], nil)
  }

  private var byNumber: DocumentQuery { get throws { try all.ordered(by: "n") } }
  private let count = [DocumentAggregation("count", .count(upTo: nil))]
  private let sum = [DocumentAggregation("sum", .sum("n"))]

  @Test(
    "a document: its readers get DATA_LOSS, all others go on", arguments: ServerStore.allCases)
  func document(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    try world.damage(.document, isAbout("b"))
    for body: DocumentRequest.Body in [
      .get("c/b", mask: nil, .now), .batchGet(["c/a", "c/b"], mask: nil, .now),
      .query(all, .now), .query(try byNumber, .now), .aggregate(all, sum, .now),
      .query(try all.where("n", .equal, 2), .now), .query(all, .time(world.early)), set("c/b"),
      .update(DocumentMutation("c/b", .patch(["n": 1], mask: DocumentFieldMask(["n"]))), mask: nil),
      .delete(DocumentMutation("c/b", .delete, precondition: .exists(true))),
      .batchGet(["c/b"], mask: nil, .begin(.readWrite(retrying: []))),
      .list(DocumentListing(parent: nil, collectionID: "c")),
    ] { #expect(try world.status(of: body) == .dataLoss, "\(body)") }
    for body: DocumentRequest.Body in [
      .get("c/a", mask: nil, .now), .get("c/d", mask: nil, .time(world.early)), set("c/a"),
      .query(try all.where("n", .equal, 9), .now), .query(others, .now),
      .listCollections(below: nil, DocumentPageRequest(), .now),
    ] { #expect(try world.status(of: body) == nil, "\(body)") }
    #expect(try world.listen(try world.target(2, "c")) == "refuse [2] dataLoss")
    let back = try world.target(2, "c", resume: .token(world.token))
    #expect(try world.listen(back) == "snapshot", "it was not changed since")
    #expect(
      try world.listen(WatchTarget(id: 4, subject: .documents(["c/b"]))) == "refuse [4] dataLoss")
    world.store.mend()
    #expect(try world.status(of: .query(all, .now)) == nil)
  }

  @Test("a batch of writes: each by itself", arguments: ServerStore.allCases)
  func batch(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    try world.damage(.document, isAbout("b"))
    let writes = [world.bench.set("c/a", [:]), world.bench.set("c/b", [:])]
    guard
      case .batchWrite(_, let statuses)? = try world.bench.ask(1, world.next(), .batchWrite(writes))
        .get().first
    else {
      Issue.record("each has a status")
      return
    }
    #expect(statuses.map { $0?.code } == [nil, .dataLoss])
  }

  @Test("an entry of an index", arguments: ServerStore.allCases)
  func entry(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    // Ends in the reference to c/b: its id, a mark and a length.
    let reference = DocumentReference.inCollection("c/b")
    let name = Array(DocumentReference.row(reference, "c/b", limit: 2_000).bytes)
    try world.damage(.entry) { $0.suffix(name.count).elementsEqual(name) }
    let ranged = try all.where("n", .greaterThan, 0)
    #expect(try world.status(of: .query(ranged, .now)) == .dataLoss)
    #expect(try world.status(of: .aggregate(ranged, count, .now)) == .dataLoss)
    #expect(
      try world.listen(WatchTarget(id: 2, subject: .query(ranged.target))) == "refuse [2] dataLoss")
    #expect(try world.status(of: .query(all, .now)) == nil)
    #expect(try world.status(of: .get("c/b", mask: nil, .now)) == nil)
    // Writing the document writes its entries.
    #expect(try world.status(of: .delete(DocumentMutation("c/b", .delete))) == nil)
    #expect(try world.status(of: .query(ranged, .now)) == nil)
  }

  @Test("what was before", arguments: ServerStore.allCases)
  func change(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    let begun = try world.bench.ask(
      1, world.next(), .query(all, .begin(.readWrite(retrying: []))))
    guard case .query(let head)? = try begun.get().first else { return }
    #expect(try world.status(of: set("c/d")) == nil)
    try world.damage(.change)
    for body: DocumentRequest.Body in [
      .query(all, .time(world.early)), .get("c/d", mask: nil, .time(world.early)),
      .aggregate(all, count, .time(world.early)),
      .commit([world.bench.set("c/a", [:])], transaction: head.transaction, nil),
      .listCollections(below: nil, DocumentPageRequest(), .time(world.early)),
    ] { #expect(try world.status(of: body) == .dataLoss, "\(body)") }
    for body: DocumentRequest.Body in [.query(all, .now), set("c/a"), .get("c/d", mask: nil, .now)]
    {
      #expect(try world.status(of: body) == nil, "\(body)")
    }
    let back = try world.target(2, "c", resume: .token(world.token))
    #expect(try world.listen(back) == "refuse [2] dataLoss")
    #expect(try world.listen(try world.target(2, "c")) == "snapshot")
    // What is damaged goes when its time has come.
    world.bench.now += 2 * 3_600_000
    #expect(try world.status(of: set("c/a")) == nil)
    for _ in 0..<6 {
      world.bench.uptime += 5_000
      try world.bench.run([.tick])
    }
    let past = DocumentVersion(microseconds: (world.bench.now - 1) * 1_000)
    #expect(try world.status(of: .query(others, .time(past))) != .dataLoss)
  }

  @Test("what gives a collection its number", arguments: ServerStore.allCases)
  func collection(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    let rows = DocumentRows(
      prefix: StoreLayout.documents(benchDatabase), database: benchDatabase)
    let key = rows.collectionKey(CollectionPath(unchecked: "c"))
    try world.damage(.collection) { $0 == key }
    for body: DocumentRequest.Body in [
      .get("c/a", mask: nil, .now), .query(all, .now), set("c/new"), .aggregate(all, count, .now),
    ] { #expect(try world.status(of: body) == .dataLoss, "\(body)") }
    #expect(try world.status(of: .query(others, .now)) == nil)
    #expect(try world.status(of: set("o/z")) == nil)
    #expect(try world.listen(try world.target(2, "c")) == "refuse [2] dataLoss")
  }

  @Test("what a database knows of itself: the others go on", arguments: ServerStore.allCases)
  func state(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    let listening = try world.bench.listen(1, 50, try world.target(2, "o"))
    #expect(listening.last?.brief == "snapshot")
    try world.damage(.state)
    for body: DocumentRequest.Body in [.query(all, .now), set("c/a"), set("o/x")] {
      #expect(try world.status(of: body) == .dataLoss, "\(body)")
    }
    // Who listens is told in their time, and the server goes on.
    world.bench.uptime += 40_000
    try world.bench.run([.tick])
    #expect(world.bench.end(1, 50)??.code == .dataLoss)
    #expect(world.bench.closed.isEmpty)
  }

  @Test("an index over several fields", arguments: ServerStore.allCases)
  func definition(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    let prefix = StoreLayout.documents(benchDatabase) + [DocumentRows.Kind.definition.rawValue]
    try world.store.write { transaction throws(StorageError) in
      for scope in UInt8(1)...8 {
        try transaction.put([9], for: prefix + [0, 0, 0, scope, 0, 0, 0, 99])
      }
    }
    let query = try all.where("s", .equal, "x").ordered(by: "n")
    #expect(try world.status(of: .query(query, .now)) == .dataLoss)
    #expect(try world.status(of: set("c/a")) == .dataLoss)
    #expect(try world.status(of: .get("c/a", mask: nil, .now)) == nil)
    world.bench.uptime += 10_000
    try world.bench.run([.tick])
    #expect(world.bench.closed.isEmpty)
  }

  @Test(
    "a numbered batch is refused for good, and the stream goes on", arguments: ServerStore.allCases)
  func numbered(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    let bench = world.bench
    try world.damage(.document, isAbout("b"))
    try bench.openWrites(1, 50, stream: 9)
    func write(_ key: DocumentKey, _ sequence: UInt64) throws -> DocumentStatus.Code? {
      let mark = DocumentWriteHeader(sequence: sequence)
      guard case .outcome(let outcome)? = try bench.write(1, 50, [bench.set(key, [:])], mark) else {
        Issue.record("every batch has an outcome")
        return nil
      }
      if case .rejected(let status) = outcome.verdict { return status.code }
      return nil
    }
    #expect(try write("c/b", 1) == .dataLoss)
    #expect(try write("c/a", 2) == nil)
    #expect(try write("c/b", 1) == .dataLoss)
    #expect(bench.lastCommits.isEmpty)
    // A stream without numbers ends, as the dialect has it.
    try bench.openWrites(1, 51)
    let request = DocumentWriteRequest(.writes([bench.set("c/b", [:])], nil), token: [1])
    try bench.say(1, 51, .write(request))
    #expect(bench.end(1, 51)??.code == .dataLoss)
  }

  @Test("what is known of a stream of writes: other streams go on", arguments: ServerStore.allCases)
  func stream(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    try world.bench.openWrites(1, 50, stream: 0xABCD_EF01_2345)
    let write = [world.bench.set("c/a", [:])]
    _ = try world.bench.write(1, 50, write, DocumentWriteHeader(sequence: 1))
    let id: [UInt8] = [0xAB, 0xCD, 0xEF, 0x01, 0x23, 0x45]
    let count = try world.store.damage { $0.suffix(6).elementsEqual(id) }
    #expect(count == 1)
    let again = try DocumentBench(store: world.store)
    try again.link(1)
    try again.send(1, .open(stream: 1, DocumentCallOpening(.write)))
    try again.say(1, 1, .write(DocumentWriteRequest(.handshake(stream: 0xABCD_EF01_2345))))
    #expect(again.end(1, 1)??.code == .dataLoss)
    #expect(try again.openWrites(1, 2, stream: 77) == 0)
    _ = try again.write(1, 2, write, DocumentWriteHeader(sequence: 1))
    #expect(again.closed.isEmpty)
  }

  @Test(
    "a listener of what cannot be followed gets an error, the others hear of the commit",
    arguments: ServerStore.allCases)
  func following(store: ServerStore) throws {
    let world = try DamagedWorld(store)
    let bench = world.bench
    let least = try all.ordered(by: "n").first(1)
    let told = try bench.listen(
      1, 50, WatchTarget(id: 2, subject: .query(least.target)), try world.target(4, "c"))
    #expect(told.contains { $0.brief == "c/a [2]" })
    try world.damage(.document, isAbout("b"))
    // The next in line is c/b, which cannot be read.
    let delete = DocumentRequest.Body.delete(DocumentMutation("c/a", .delete))
    _ = try bench.ask(DamagedWorld.writer, world.next(), delete).get()
    #expect(
      bench.changes(1, 50).map(\.brief) == ["refuse [2] dataLoss", "deleted c/a [4]", "snapshot"])
    try world.write("c/d", 1)
    #expect(bench.changes(1, 50).map(\.brief) == ["c/d [4]", "snapshot"])
    // The target is free again.
    world.store.mend()
    try bench.say(1, 50, .listen(.add(WatchTarget(id: 2, subject: .query(least.target)))))
    #expect(bench.changes(1, 50).map(\.brief) == ["add [2]", "c/d [2]", "current [2]", "snapshot"])
  }

  @Test("bytes changed in the files", arguments: [ServerStore.sqlite, .lmdb])
  func files(kind: ServerStore) throws {
    let folder = ServerStore.Folder()
    let marker = "a-text-that-stands-in-one-document-only"
    var store = try kind.open(in: folder)
    var bench = try DocumentBench(store: store, ledgerOptions: LedgerOptions(journalRows: 0))
    try bench.link(1)
    for (call, (key, text)) in zip(
      UInt32(1)..., [("c/a", "fine"), ("c/b", marker), ("c/d", "fine")])
    {
      let write = bench.set(DocumentKey(unchecked: key), ["t": .string(text)])
      _ = try bench.ask(1, call, .commit([write], transaction: [], nil)).get()
    }
    store.close()
    #expect(try flip(marker, in: folder.path) > 0)
    if kind == .lmdb {
      // Keys of index entries hold the text too: the file is rejected before it is mapped.
      let error = #expect(throws: StorageError.self) { try kind.open(in: folder) }
      #expect(error?.isCorruption == true)
      return
    }
    // Where pages are checked, all documents of the page cannot be read.
    store = try kind.open(in: folder, .records)
    defer { store.close() }
    bench = try DocumentBench(store: store)
    try bench.link(1)
    var codes: [DocumentStatus.Code?] = []
    for (call, key) in zip(UInt32(1)..., ["c/a", "c/b", "c/d"] as [DocumentKey]) {
      let answer = try bench.ask(1, call, .get(key, mask: nil, .now))
      if case .failure(let status) = answer { codes.append(status.code) } else { codes.append(nil) }
    }
    #expect(codes == [nil, .dataLoss, nil])
    let all = try bench.ask(1, 9, .query(all, .now))
    #expect(throws: DocumentStatus(.dataLoss, "What is stored here is damaged.")) { try all.get() }
    let write = try bench.ask(1, 10, set("c/a"))
    #expect(throws: Never.self) { try write.get() }
  }

  /// Changes a byte in every place where a text stands, and says how many there were.
  private func flip(_ text: String, in folder: String) throws -> Int {
    var count = 0
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      let path = folder + "/" + name
      guard var data = FileManager.default.contents(atPath: path) else { continue }
      var start = data.startIndex
      while let range = data.range(of: Data(text.utf8), in: start..<data.endIndex) {
        data[range.lowerBound + 5] ^= 0x20
        start = range.upperBound
        count += 1
      }
      if start != data.startIndex { try data.write(to: URL(fileURLWithPath: path)) }
    }
    return count
  }
}
