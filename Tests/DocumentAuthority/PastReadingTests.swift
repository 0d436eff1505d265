import TernTestKit
import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

/// Documents as of an earlier time.
@Suite("reads as of an earlier time")
struct PastReadingTests {
  private func documents(
    _ query: DocumentQuery, of store: AuthorityStore, at time: DocumentVersion
  ) throws -> Result<[Document], DocumentStatus> {
    try store.read { reader throws(StorageError) in
      try store.authority.documents(of: query, at: time, in: reader)
    }
  }

  private func sweep(_ store: AuthorityStore) throws {
    var next: UInt32 = 0
    repeat { next = try store.sweep(from: next, limit: 100) } while next != 0
  }

  // MARK: - For how long

  @Test("a read goes on when the first commit after an idle time comes", arguments: 0...3)
  func idle(sweeps: Int) throws {
    let store = try AuthorityStore()
    try store.write([set("d/a", ["n": 0])])
    if sweeps & 1 != 0 { try sweep(store) }
    let then = try store.write([set("c/a", ["n": 1])]).version
    try sweep(store)
    store.now += 2 * DocumentAuthorityLimits.changeRetention
    try store.write([set("c/a", ["n": 2]), set("c/b", [:])])
    // What is forgotten now was there before.
    if sweeps & 2 != 0 { try sweep(store) }
    let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    #expect(try documents(all, of: store, at: then).get().map(\.fields) == [["n": 1]])
    #expect(try documents(.document("c/a"), of: store, at: then).get().map(\.fields) == [["n": 1]])
    var reads = DocumentReadSet()
    reads.note(DocumentQuery.collection(CollectionPath(unchecked: "d")).target, at: then)
    try store.commit([set("e/a", [:])], validating: reads).get()

    store.now += 2 * DocumentAuthorityLimits.changeRetention
    try store.write([set("d/b", [:])])
    try sweep(store)
    #expect(throws: DocumentStatus.self) { try documents(all, of: store, at: then).get() }
  }

  @Test("a store that did not note what was forgotten remembers an hour")
  func unnoted() throws {
    let store = try AuthorityStore()
    let first = try store.write([set("c/a", ["n": 1])]).version
    let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    store.now += DocumentAuthorityLimits.changeRetention / 2
    let second = try store.write([set("c/a", ["n": 2])]).version
    store.now += DocumentAuthorityLimits.changeRetention / 2
    try store.write([set("c/a", ["n": 3])])
    for isNoted in [false, true] {
      if isNoted { try sweep(store) }
      #expect(throws: DocumentStatus.self) { try documents(all, of: store, at: first).get() }
      #expect(try documents(all, of: store, at: second).get().map(\.fields) == [["n": 2]])
    }
  }

  // MARK: - One document

  @Test("a document is found at every time of its history", arguments: UInt64(1)...10)
  func history(seed: UInt64) throws {
    var dice = SeededGenerator(seed: seed)
    let store = try AuthorityStore()
    let keys = ["c/a", "c/b", "c/c", "d/a"] as [DocumentKey]
    var history: [(time: DocumentVersion, documents: [Document])] = []
    for number in 0..<60 {
      var writes: [DocumentMutation] = []
      for key in keys where Int.random(in: 0..<3, using: &dice) == 0 {
        let isDelete = Int.random(in: 0..<3, using: &dice) == 0
        writes.append(isDelete ? .delete(key) : set(key, ["n": .integer(Int64(number))]))
      }
      if writes.isEmpty { continue }
      let time = try store.write(writes).version
      // Nothing was there before the first commit.
      if time < DocumentVersion(microseconds: store.now), history.isEmpty { continue }
      if time == history.last?.time { history.removeLast() }
      history.append((time, try keys.map { try store.document($0) }))
    }
    for (time, known) in history {
      for (key, document) in zip(keys, known) {
        let found = try documents(.document(key), of: store, at: time).get().first
        #expect(found?.fields == document.fields, "\(key) at \(time)")
        #expect((found?.version ?? .none) == (document.isFound ? document.version : .none))
      }
    }
  }

  @Test("a document that exists is found without a walk over the changes of others")
  func others() throws {
    let store = try AuthorityStore()
    try store.write([set("c/a", ["n": 0]), set("c/b", ["n": 0])])
    let then = try store.write([set("c/b", ["n": 1])]).version
    for number in 0..<300 {
      try store.write([set("c/other", ["n": .integer(Int64(number))])])
      if number % 100 == 0 { try store.write([set("c/b", ["n": .integer(Int64(number + 10))])]) }
    }
    for (key, number) in [("c/a", 0), ("c/b", 1)] as [(DocumentKey, Int64)] {
      try store.read { reader throws(StorageError) in
        let observed = ObservedReader(reader)
        var found: [Document] = []
        let outcome = try store.authority.run(.document(key), at: then, in: observed) {
          document throws(StorageError) in
          found.append(document)
          return true
        }
        #expect(found.map(\.fields) == [["n": .integer(number)]])
        let cost = try? outcome.get().cost
        #expect((cost?.rowsRead ?? .max) < 40, "\(key)")
      }
    }
  }

  // MARK: - Transactions

  @Test("a commit reads what has changed once for all queries of its transaction over it")
  func queries() throws {
    let store = try AuthorityStore()
    let then = try store.write([set("c/a", ["n": 0])]).version
    let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    var reads = DocumentReadSet()
    for number in 1...50 {
      let query = try all.where("n", .equal, .integer(Int64(-number)))
      reads.note(query.target, at: then)
      reads.note(query.target, at: then)
    }
    for number in 0..<100 {
      try store.write([set(DocumentKey(unchecked: "c/\(number)"), ["n": 1])])
    }
    func check(_ reads: DocumentReadSet) throws -> (conflict: DocumentStatus?, rows: Int) {
      try store.read { reader throws(StorageError) in
        let reading = DocumentReading(store.authority.rows, reader)
        let conflict = try store.authority.conflict(with: reads, reading)
        return (conflict, reading.cost.rowsRead)
      }
    }
    let quiet = try check(reads)
    #expect(quiet.conflict == nil && quiet.rows <= 400, "\(quiet.rows) rows")
    reads.note(try all.where("n", .equal, 1).target, at: then)
    #expect(try check(reads).conflict?.code == .aborted)
  }
}
