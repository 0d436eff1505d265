import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

/// Reads keep little in memory, and what they keep is charged.
@Suite("memory of reads")
struct ReadMemoryTests {
  private func store(_ count: Int) throws -> AuthorityStore {
    let store = try AuthorityStore()
    let writes = (0..<count).map { number in
      set(DocumentKey(unchecked: "c/\(number)"), ["n": .integer(Int64(number % 2))])
    }
    try store.write(writes)
    return store
  }

  private let all = DocumentQuery.collection(CollectionPath(unchecked: "c"))

  @Test("a count over alternatives is charged for the names it remembers")
  func alternatives() throws {
    let store = try store(1_000)
    let query = try all.where("n", .in, [0, 1])
    for (limit, isWhole) in [(100_000, false), (1 << 20, true)] {
      try store.read { reader throws(StorageError) in
        let observed = ObservedReader(reader, memoryLimit: limit)
        var count: DocumentValue?
        do throws(StorageError) {
          let outcome = try store.authority.aggregate(
            [DocumentAggregation("n", .count(upTo: nil))], over: query, in: observed)
          count = try? outcome.get().0.first
        } catch {
          #expect(error == .abandoned)
        }
        #expect(count == (isWhole ? 1_000 : nil))
        #expect(observed.held > 0)
      }
    }
  }

  @Test("a filter of names is charged while it is made, and while it waits")
  func filters() throws {
    let store = try store(1_000)
    let state = try store.read { reader throws(StorageError) in
      try DocumentReading(store.authority.rows, reader).state()
    }
    let target = WatchTarget(
      id: 1, subject: .query(all.target), resume: .token(WatchToken(state).encode()),
      expectedCount: 7)
    for (limit, isWhole) in [(100_000, false), (1 << 20, true)] {
      try store.read { reader throws(StorageError) in
        let observed = ObservedReader(reader, memoryLimit: limit)
        var byteCount: Int?
        do throws(StorageError) {
          byteCount = try store.authority.prefetch(target, corrects: true, in: observed).byteCount
        } catch {
          #expect(error == .abandoned)
        }
        #expect((byteCount != nil) == isWhole)
        if let byteCount { #expect(byteCount > 1_000) }
        #expect(observed.held > 0)
      }
    }
  }

  @Test("a page of large documents, missing ones among them, reads few")
  func gaps() throws {
    let store = try AuthorityStore()
    let text = DocumentValue.string(String(repeating: "x", count: 900_000))
    for number in 10..<30 {
      try store.write([set(DocumentKey(unchecked: "c/\(number)"), ["t": text])])
    }
    try store.read { reader throws(StorageError) in
      let observed = ObservedReader(reader)
      let page = try store.authority.listings.list(
        CollectionPath(unchecked: "c"), showMissing: true, pageSize: 1, in: observed)
      #expect((try? page.get())?.elements.map(\.key) == ["c/10"])
      #expect(observed.scannedBytes < 8_000_000, "\(observed.scannedBytes) bytes")
    }
  }

  // MARK: - Nearest documents

  @Test("a search keeps keys, and reads the nearest documents again")
  func nearest() throws {
    let store = try AuthorityStore()
    let numbers = [3.0, 1, 2, 1, 3, 9, 8, 7, 9, 9]
    for (index, number) in numbers.enumerated() {
      try store.write([
        set(
          DocumentKey(unchecked: "c/\(index)"),
          ["v": .vector([number]), "n": .integer(Int64(-index))])
      ])
    }
    let then = try store.read { reader throws(StorageError) in
      try store.authority.lastVersion(in: reader)
    }
    try store.write([.delete("c/1"), set("c/2", ["v": .vector([100])])])
    var query = try all.ordered(by: "n")
    query.vectorSearch = DocumentVectorSearch(
      "v", [0], by: .euclidean, limit: 4, distanceField: "d")
    func run(at time: DocumentVersion?) throws -> (documents: [Document], read: Int) {
      try store.read { reader throws(StorageError) in
        var documents: [Document] = []
        let outcome = try store.authority.run(query, at: time, in: reader) {
          document throws(StorageError) in
          documents.append(document)
          return true
        }
        return (documents, (try? outcome.get().cost.documentsRead) ?? 0)
      }
    }
    let now = try run(at: nil)
    // Of equally near documents the one of the lesser name comes first, whatever the order.
    #expect(now.documents.map(\.key) == ["c/3", "c/0", "c/4", "c/7"])
    #expect(
      now.documents.map { $0.fields?["d" as DocumentFieldPath] }
        == [1, 3, 3, 7].map(DocumentValue.double))
    #expect(now.read >= 8 + 4, "the nearest are read again")
    let past = try run(at: then)
    #expect(past.documents.map(\.key) == ["c/1", "c/3", "c/2", "c/0"])
    #expect(
      past.documents.map { $0.fields?["v" as DocumentFieldPath] }
        == [1, 1, 2, 3].map { DocumentValue.vector([$0]) })
  }

  @Test("searches are not aggregated, nor divided")
  func aggregated() throws {
    let store = try store(10)
    var query = all
    query.vectorSearch = DocumentVectorSearch("v", [0], by: .euclidean, limit: 4)
    try store.read { reader throws(StorageError) in
      let outcome = try store.authority.aggregate(
        [DocumentAggregation("n", .count(upTo: nil))], over: query, in: reader)
      guard case .failure(let status) = outcome else {
        Issue.record("the search was left out")
        return
      }
      #expect(status.code == .invalidArgument)
    }
    var group = try DocumentQuery.group("c").ordered(by: .key)
    group.vectorSearch = query.vectorSearch
    let parts = try store.read { reader throws(StorageError) in
      try store.authority.listings.partition(group, into: 2, in: reader)
    }
    #expect(throws: DocumentStatus.self) { try parts.get() }
  }
}
