import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernStorage
import TernStorageMemory
import Testing

@testable import TernDocumentAuthority
@testable import TernServer

/// The limits of requests, and the answers beyond.
@Suite("Limits of requests about documents")
struct DocumentLimitTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))

  private func bench(_ options: ServerOptions = ServerOptions()) throws -> DocumentBench {
    let bench = try DocumentBench(options: options)
    try bench.link(1)
    return bench
  }

  private func text(_ bytes: Int) -> DocumentValue { .string(String(repeating: "x", count: bytes)) }

  private func code(_ answer: DocumentAnswer) -> DocumentStatus.Code? {
    if case .failure(let status) = answer { status.code } else { nil }
  }

  private func commit(_ bench: DocumentBench, _ call: UInt32, _ writes: [DocumentMutation]) throws
    -> DocumentStatus.Code?
  {
    code(try bench.ask(1, call, .commit(writes, transaction: [], nil)))
  }

  /// A map in maps: `count` of them around a number.
  private func nested(_ count: Int) -> DocumentMap {
    var value = DocumentValue.integer(1)
    for _ in 0..<count { value = .map(["m": value]) }
    return ["m": value]
  }

  @Test("a request over 10 MiB ends its call, not its link")
  func requestSize() throws {
    let bench = try bench()
    let writes = (0..<11).map { number in
      bench.set(DocumentKey(unchecked: "c/\(number)"), ["t": text(1_000_000)])
    }
    #expect(try commit(bench, 1, writes) == .invalidArgument)
    #expect(bench.closed.isEmpty)
    #expect(try commit(bench, 2, Array(writes.prefix(9))) == nil)
  }

  @Test("a numbered batch that is too large, or cannot be read, is refused for good")
  func poison() throws {
    let bench = try bench()
    try bench.openWrites(1, 1, stream: 9)
    let large = (0..<11).map { number in
      bench.set(DocumentKey(unchecked: "c/\(number)"), ["t": text(1_000_000)])
    }
    // Deeper than messages may lie in messages, so that it is not even read.
    let deep = [bench.set("c/deep", DocumentFields(nested(120)))]
    var sequence: UInt64 = 0
    for writes in [large, deep, [bench.set("c/a", DocumentFields(nested(21)))]] {
      sequence += 1
      let mark = DocumentWriteHeader(sequence: sequence, acknowledged: sequence - 1)
      let first = try bench.write(1, 1, writes, mark)
      guard case .outcome(let outcome)? = first, case .rejected(let status) = outcome.verdict else {
        Issue.record("\(String(describing: first))")
        return
      }
      #expect(status.code == .invalidArgument)
      #expect(try bench.write(1, 1, writes, mark) == first)
      #expect(bench.lastCommits.isEmpty)
    }
    let next = try bench.write(1, 1, [bench.set("c/b", [:])], DocumentWriteHeader(sequence: 4))
    guard case .outcome(let outcome)? = next, case .committed = outcome.verdict else {
      Issue.record("the stream goes on")
      return
    }
    // A stream that numbers nothing ends.
    try bench.openWrites(1, 2)
    try bench.say(1, 2, .write(DocumentWriteRequest(.writes(large, nil), token: [1])))
    #expect(bench.end(1, 2)??.code == .invalidArgument)
    #expect(bench.closed.isEmpty)
  }

  @Test("documents, values, names, depths and transforms beyond their limits are refused")
  func documents() throws {
    let bench = try bench()
    var call: UInt32 = 0
    func refuses(_ write: DocumentMutation) throws -> Bool {
      call += 1
      return try commit(bench, call, [write]) == .invalidArgument
    }
    #expect(try !refuses(bench.set("c/a", ["t": text(DocumentLimits.valueBytes - 100)])))
    #expect(try refuses(bench.set("c/a", ["t": text(DocumentLimits.valueBytes + 1)])))
    #expect(try refuses(bench.set("c/a", ["t": text(600_000), "u": text(600_000)])))
    // Not the write, but what it leaves.
    let more = DocumentMutation(
      "c/a", .patch(["u": text(1_000)], mask: DocumentFieldMask(["u"])))
    #expect(try refuses(more))
    let grow = DocumentFieldTransform("l", .arrayUnion([text(900), .integer(1)]))
    #expect(try refuses(DocumentMutation("c/a", .patch(.empty, mask: .empty), transforms: [grow])))
    #expect(try !refuses(bench.set("c/d", DocumentFields(nested(20)))))
    #expect(try refuses(bench.set("c/d", DocumentFields(nested(21)))))
    let id = String(repeating: "x", count: DocumentLimits.idBytes)
    #expect(try !refuses(bench.set(DocumentKey(unchecked: "c/\(id)"), [:])))
    #expect(try refuses(bench.set(DocumentKey(unchecked: "c/\(id)x"), [:])))
    #expect(try refuses(bench.set("c/__x__", [:])))
    #expect(try refuses(bench.set("c/e", ["__x__": 1])))
    let add = DocumentFieldTransform("n", .increment(.integer(1)))
    let many = DocumentMutation(
      "c/t", .patch(.empty, mask: .empty), transforms: Array(repeating: add, count: 501))
    #expect(try refuses(many))
    let half = DocumentMutation(
      "c/t", .patch(.empty, mask: .empty), transforms: Array(repeating: add, count: 251))
    #expect(try commit(bench, 900, [half, half]) == .invalidArgument)
    #expect(try commit(bench, 901, [half]) == nil)
  }

  @Test("a document has at most 40,000 entries in indexes, and 8 MiB of them")
  func entries() throws {
    let bench = try bench()
    let many = DocumentMap((0..<40_001).map { ("f\($0)", .boolean(true)) })
    #expect(try commit(bench, 1, [bench.set("c/a", DocumentFields(many))]) == .invalidArgument)
    // The name of the document counts with each of its entries.
    let id = String(repeating: "d", count: 1_400)
    let path = (0..<2).map { _ in "\(id)/\(id)" }.joined(separator: "/")
    let some = DocumentMap((0..<2_000).map { ("f\($0)", .boolean(true)) })
    #expect(try commit(bench, 2, [bench.set("c/b", DocumentFields(some))]) == nil)
    let named = bench.set(DocumentKey(unchecked: path), DocumentFields(some))
    #expect(try commit(bench, 3, [named]) == .invalidArgument)
  }

  @Test("a link, a stream and a target watch so much and no more")
  func watching() throws {
    var options = ServerOptions()
    options.limits.listens = 3
    let bench = try bench(options)
    func target(_ id: Int32) -> WatchTarget {
      WatchTarget(id: id, subject: .documents([DocumentKey(unchecked: "c/\(id)")]))
    }
    _ = try bench.listen(1, 1, target(2), target(4))
    _ = try bench.listen(1, 2, target(2))
    try bench.say(1, 2, .listen(.add(target(4))))
    #expect(bench.changes(1, 2).map(\.brief) == ["refuse [4] resourceExhausted"])
    try bench.say(1, 1, .listen(.remove(2)))
    try bench.say(1, 2, .listen(.add(target(6))))
    #expect(bench.changes(1, 2).first?.brief == "add [6]")
    let wide = WatchTarget(
      id: 8, subject: .documents((0...1_000).map { DocumentKey(unchecked: "c/\($0)") }))
    try bench.send(1, .cancel(stream: 1))
    try bench.say(1, 2, .listen(.add(wide)))
    #expect(bench.changes(1, 2).map(\.brief) == ["refuse [8] invalidArgument"])
  }

  @Test("an answer too large for a frame is refused before it is put together")
  func answers() throws {
    var options = ServerOptions()
    options.limits.answerBytes = 100_000
    let bench = try bench(options)
    let keys = (0..<12).map { DocumentKey(unchecked: "c/\($0)") }
    _ = try commit(bench, 1, keys.map { bench.set($0, ["t": text(10_000)]) })
    // Queries are answered in portions, however large the result.
    #expect(code(try bench.ask(1, 2, .query(all, .now))) == nil)
    #expect(code(try bench.ask(1, 3, .batchGet(keys, mask: nil, .now))) == .resourceExhausted)
    #expect(code(try bench.ask(1, 4, .query(try all.first(5), .now))) == nil)
    let target = WatchTarget(id: 2, subject: .query(all.target))
    #expect(try bench.listen(1, 5, target).map(\.brief).last == "refuse [2] resourceExhausted")
    // A page ends before it is too large for a message.
    let large = try self.bench()
    _ = try large.ask(
      1, 1,
      .commit(keys.prefix(9).map { large.set($0, ["t": text(1_000_000)]) }, transaction: [], nil))
    _ = try large.ask(
      1, 2,
      .commit(keys.suffix(3).map { large.set($0, ["t": text(1_000_000)]) }, transaction: [], nil))
    for showsMissing in [false, true] {
      var listing = DocumentListing(parent: nil, collectionID: "c", showsMissing: showsMissing)
      var counts: [Int] = []
      repeat {
        let call = UInt32(10 + counts.count + (showsMissing ? 100 : 0))
        guard
          case .documents(let documents, let token)? = try large.ask(1, call, .list(listing)).get()
            .first
        else { break }
        counts.append(documents.count)
        listing.page.token = token
      } while !listing.page.token.isEmpty && counts.count < 9
      #expect(counts == [9, 3])
    }
  }

  @Test("the first content of a listener is not more than the watch allows")
  func openings() throws {
    let bench = try AuthorityParts()
    var limits = DocumentWatchLimits()
    limits.openingBytes = 5_000
    let watch = DocumentWatch(bench.authority, limits: limits)
    try bench.write((0..<10).map { ("c/\($0)", 1_000) })
    let query = WatchTarget(id: 2, subject: .query(all.target))
    let keys = (0..<10).map { DocumentKey(unchecked: "c/\($0)") }
    for target in [query, WatchTarget(id: 4, subject: .documents(keys))] {
      let opening = try bench.read { reader throws(StorageError) in
        try watch.listen(target, on: 1, in: reader)
      }
      guard case .target(let change)? = opening.head.first, case .removed(let status?) = change.kind
      else {
        Issue.record("a refusal")
        continue
      }
      #expect(status.code == .resourceExhausted)
      #expect(opening.body.isEmpty && opening.group == nil)
    }
    #expect(watch.groupCount == 0)
  }

  @Test("transactions read so much, each and together")
  func transactions() {
    var limits = DocumentTransactionLimits()
    (limits.reads, limits.allReads, limits.open) = (5, 8, 3)
    var book = DocumentTransactions(limits: limits)
    func begin() -> [UInt8]? {
      var bits: UInt64 = UInt64(book.count) &* 7
      return try? book.begin(
        .readWrite, uptime: 0,
        randomBits: {
          bits += 1
          return bits
        }
      ).get()
    }
    func read(_ count: Int, _ id: [UInt8]) -> DocumentStatus.Code? {
      let documents = (0..<count).map { Document(DocumentKey(unchecked: "c/\($0)"), .missing) }
      return book.note(documents, in: id)?.code
    }
    guard let one = begin(), let two = begin(), let three = begin() else {
      Issue.record("three fit")
      return
    }
    #expect(begin() == nil)
    #expect(read(6, one) == .resourceExhausted)
    #expect(read(5, two) == nil)
    #expect(read(5, two) == nil, "the same count once")
    #expect(read(4, three) == .resourceExhausted)
    #expect(book.rollback(two) == nil)
    guard let four = begin() else { return }
    #expect(read(5, four) == nil)
  }

  @Test("a time that has not come cannot be read at")
  func future() throws {
    let bench = try bench()
    _ = try commit(bench, 1, [bench.set("c/a", [:])])
    let future = DocumentVersion(microseconds: (bench.now + 60_000) * 1_000)
    #expect(code(try bench.ask(1, 2, .query(all, .time(future)))) == .invalidArgument)
    #expect(code(try bench.ask(1, 3, .get("c/a", mask: nil, .time(future)))) == .invalidArgument)
  }

  @Test("lists, parts and ids of collections are read as of a time")
  func past() throws {
    let bench = try bench()
    _ = try commit(bench, 1, [bench.set("c/a", [:]), bench.set("c/a/k/x", [:])])
    let read = try bench.ask(1, 2, .query(all, .now)).get()
    guard case .query(let answer)? = read.first else { return }
    let time = answer.readTime
    bench.now += 1_000
    _ = try commit(bench, 3, [bench.set("c/b", [:]), bench.set("d/e", [:]), .delete("c/a/k/x")])
    func ids(_ call: UInt32, _ parent: DocumentKey?, _ point: DocumentReadPoint) throws -> [String]
    {
      let body = DocumentRequest.Body.listCollections(below: parent, DocumentPageRequest(), point)
      guard case .collectionIDs(let ids, _)? = try bench.ask(1, call, body).get().first else {
        return []
      }
      return ids
    }
    #expect(try ids(10, nil, .now) == ["c", "d"])
    #expect(try ids(11, nil, .time(time)) == ["c"])
    #expect(try ids(12, "c/a", .now) == [])
    #expect(try ids(13, "c/a", .time(time)) == ["k"])
    func list(_ call: UInt32, _ point: DocumentReadPoint) throws -> [String] {
      let listing = DocumentListing(parent: nil, collectionID: "c", readPoint: point)
      guard case .documents(let found, _)? = try bench.ask(1, call, .list(listing)).get().first
      else { return [] }
      return found.map(\.key.text)
    }
    #expect(try list(20, .now) == ["c/a", "c/b"])
    #expect(try list(21, .time(time)) == ["c/a"])
  }
}

/// An authority over a ledger in memory.
private final class AuthorityParts {
  let ledger: EmbeddedLedger
  let authority: DocumentAuthority

  init() throws {
    ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    authority = DocumentAuthority(
      rows: DocumentRows(prefix: [0x28], database: benchDatabase))
  }

  func write(_ documents: [(key: String, bytes: Int)]) throws {
    let writes = documents.map { key, bytes in
      DocumentMutation(
        DocumentKey(unchecked: key),
        .set(["t": .string(String(repeating: "x", count: bytes))]))
    }
    let authority = authority
    let results = try ledger.decide { snapshot throws(StorageError) in
      let pending = PendingReader(over: snapshot.reader)
      guard case .success(let decision) = try authority.decide(writes, now: 1_000, in: pending)
      else { return Decision([], keeping: ()) }
      let (mutations, record) = try authority.apply(decision, to: pending)
      return Decision([Commit(mutations: mutations, record: record)], keeping: ())
    }.results
    #expect(results.count == 1)
  }

  func read<R>(_ body: (any StoreReader) throws(StorageError) -> R) throws -> R {
    try ledger.decide { snapshot throws(StorageError) in
      Decision([], keeping: try body(snapshot.reader))
    }.kept
  }
}
