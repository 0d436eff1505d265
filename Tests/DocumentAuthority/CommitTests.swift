import TernLedger
import TernStorage
import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery

@Suite("commits of documents")
struct CommitTests {
  private func code(
    _ outcome: Result<DocumentDecision, DocumentStatus>
  ) -> DocumentStatus.Code? {
    guard case .failure(let status) = outcome else { return nil }
    return status.code
  }

  @Test("a document is made, changed and deleted")
  func life() throws {
    let store = try AuthorityStore()
    let first = try store.write([set("c/a", ["n": 1])])
    var document = try store.document("c/a")
    #expect(document.fields == ["n": 1])
    #expect(document.version == first.version)
    #expect(document.created == first.version)

    let second = try store.write([patch("c/a", ["n": 2], mask: ["n"])])
    #expect(second.version > first.version)
    document = try store.document("c/a")
    #expect(document.version == second.version)
    #expect(document.created == first.version)

    let same = try store.write([patch("c/a", ["n": 2], mask: ["n"])])
    #expect(same.results.map(\.version) == [second.version])
    #expect(same.changes.isEmpty)

    let gone = try store.write([.delete("c/a")])
    #expect(gone.results.map(\.version) == [nil])
    #expect(try !store.document("c/a").isFound)
    let again = try store.write([set("c/a", ["n": 3])])
    #expect(try store.document("c/a").created == again.version)
  }

  @Test("versions ascend when the clock stands still or goes back")
  func clock() throws {
    let store = try AuthorityStore()
    var last = DocumentVersion.none
    for step in [0, -5_000_000, 1, -1_000_000_000] as [Int64] {
      store.now += step
      let version = try store.write([set("c/a", ["n": .integer(step)])]).version
      #expect(version > last)
      last = version
    }
  }

  @Test("deleting documents leaves only what was and the collection's number")
  func rows() throws {
    let store = try AuthorityStore()
    let fields: DocumentFields = [
      "a": ["x", "y"], "m": ["n": 1, "o": ["p": true]],
      "s": .string(String(repeating: "s", count: 4_000)),
    ]
    for key in ["c/a", "c/b", "c/a/d/e", "x/y/d/e"] as [DocumentKey] {
      try store.write([set(key, fields)])
    }
    try store.write([set("c/a", ["a": ["y", "z"], "m": 1])])
    #expect(try store.rowCounts()[DocumentRows.Kind.entry.rawValue] ?? 0 > 20)
    for key in ["c/a", "c/b", "c/a/d/e", "x/y/d/e"] as [DocumentKey] {
      try store.write([.delete(key)])
    }
    let counts = try store.rowCounts()
    #expect(counts[DocumentRows.Kind.entry.rawValue] == nil)
    #expect(counts[DocumentRows.Kind.document.rawValue] == nil)
    #expect(counts[DocumentRows.Kind.collection.rawValue] == 3)
  }

  @Test("preconditions, and all or nothing")
  func preconditions() throws {
    let store = try AuthorityStore()
    let version = try store.write([set("c/a", ["n": 1])]).version
    let before = try store.rowCounts()
    let other = DocumentVersion(microseconds: version.microseconds - 1)
    let cases: [(DocumentMutation, DocumentStatus.Code)] = [
      (patch("c/b", ["n": 1], mask: ["n"]), .notFound),
      (set("c/a", ["n": 1], precondition: .exists(false)), .alreadyExists),
      (set("c/a", ["n": 1], precondition: .version(other)), .failedPrecondition),
      (set("c/b", ["n": 1], precondition: .version(version)), .failedPrecondition),
      (.verify("c/a", is: .none), .alreadyExists),
      (.verify("c/a", is: other), .failedPrecondition),
      (set("c/b", ["__bad__": 1]), .invalidArgument),
      (set("c/b", ["a": .array([.array([1])])]), .invalidArgument),
    ]
    for (mutation, expected) in cases {
      let outcome = try store.commit([set("c/z", ["n": 1]), mutation])
      #expect(code(outcome) == expected, "\(mutation)")
    }
    #expect(try store.rowCounts() == before)
    let fine = try store.write([.verify("c/a", is: version), set("c/b", [:])])
    #expect(fine.results.map(\.version) == [nil, fine.version])
  }

  @Test("several writes to one document in one commit")
  func sequences() throws {
    let update = patch("c/a", ["u": 1], mask: ["u"])
    let replace = set("c/a", ["s": 1])
    let delete = DocumentMutation.delete("c/a")
    let cases:
      [([DocumentMutation], onExisting: DocumentStatus.Code?, onMissing: DocumentStatus.Code?)] = [
        ([delete, update], .notFound, .notFound), ([update, update], nil, .notFound),
        ([update, delete], nil, .notFound), ([update, replace], nil, .notFound),
        ([replace, update], nil, nil), ([replace, replace], nil, nil),
        ([replace, delete], nil, nil), ([delete, replace], nil, nil),
        ([delete, replace, update], nil, nil), ([delete, delete], nil, nil),
      ]
    for (mutations, onExisting, onMissing) in cases {
      let store = try AuthorityStore()
      #expect(code(try store.commit(mutations)) == onMissing)
      let other = try AuthorityStore()
      try other.write([set("c/a", ["n": 1])])
      #expect(code(try other.commit(mutations)) == onExisting)
    }
  }

  @Test("transforms happen at the time of the commit, in whole milliseconds")
  func transforms() throws {
    let store = try AuthorityStore()
    store.now += 777
    let decision = try store.write([
      set(
        "c/a", ["n": 1],
        transforms: [
          .init("t", .serverTimestamp), .init("n", .increment(.integer(2))),
          .init("l", .arrayUnion([1])),
        ])
    ])
    let time = DocumentValue.timestamp(
      .init(uncheckedMicroseconds: decision.version.microseconds / 1_000 * 1_000))
    #expect(decision.results.first?.transformResults == [time, 3, .null])
    #expect(try store.document("c/a").fields == ["n": 3, "t": time, "l": [1]])
    let many = (0..<501).map { _ in DocumentFieldTransform("n", .increment(.integer(1))) }
    #expect(code(try store.commit([set("c/b", [:], transforms: many)])) == .invalidArgument)
  }

  @Test("what was read must be as it was: documents, and what matches queries")
  func transactions() throws {
    let store = try AuthorityStore()
    try store.write([set("c/a", ["n": 1]), set("c/b", ["n": 2])])
    let query = try DocumentQuery.collection(CollectionPath("c")).where("n", .greaterThan, 1)
    func reads() throws -> DocumentReadSet {
      var reads = DocumentReadSet()
      reads.note(try store.document("c/a"))
      reads.note(try store.document("c/x"))
      reads.note(
        query.target,
        at: try store.read { reader throws(StorageError) in
          try store.authority.lastVersion(in: reader)
        })
      return reads
    }
    let write = set("d/d", [:])
    let disturbances: [(DocumentMutation, isStale: Bool)] = [
      (set("c/z", ["n": 0]), false), (set("c/a", ["n": 1]), false),
      (set("c/a", ["n": 0]), true), (set("c/x", [:]), true), (set("c/y", ["n": 7]), true),
      (set("c/b", ["n": 0]), true), (.delete("c/y"), true), (.delete("c/z"), false),
    ]
    for (disturbance, isStale) in disturbances {
      let reads = try reads()
      try store.write([disturbance])
      let outcome = try store.commit([write], validating: reads)
      #expect(code(outcome) == (isStale ? .aborted : nil), "\(disturbance)")
    }
  }

  @Test("the log gives the documents again", arguments: 1...5 as ClosedRange<UInt64>)
  func replay(seed: UInt64) throws {
    var random = RandomDocuments(seed)
    let store = try AuthorityStore()
    var keys: Set<DocumentKey> = []
    for _ in 0..<80 {
      let mutations = (0..<3).map { _ in random.mutation() }
      keys.formUnion(mutations.map(\.key))
      _ = try store.commit(mutations)
    }
    var documents: [DocumentKey: Document] = [:]
    for entry in try store.ledger.log(after: 0, limit: .max) {
      let record = try #require(DocumentRecord(entry.record))
      #expect(record.prefix == store.authority.rows.prefix)
      for document in record.documents { documents[document.key] = document }
    }
    for key in keys {
      let document = try store.document(key)
      let replayed = documents[key].flatMap { $0.isFound ? $0 : nil } ?? Document(key, .missing)
      #expect(document == replayed, "seed \(seed): \(key)")
    }
  }
}
