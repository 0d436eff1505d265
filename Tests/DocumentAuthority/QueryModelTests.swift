import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

@Suite("queries on a server")
struct QueryModelTests {
  /// Documents as a plain list, which answers queries by looking at all of them.
  struct Model {
    var documents: [DocumentKey: Document] = [:]

    mutating func apply(_ decision: DocumentDecision) {
      for change in decision.changes {
        documents[change.key] = change.after.isFound ? change.after : nil
      }
    }

    func run(_ query: DocumentQuery) -> [Document] { query.run(over: Array(documents.values)) }
  }

  @Test("random queries answer like a list of documents", arguments: 1...15 as ClosedRange<UInt64>)
  func model(seed: UInt64) throws {
    try check(seed: seed, on: .memory, writes: 60, queries: 80)
  }

  @Test("and when indexes are made all the while", arguments: 31...42 as ClosedRange<UInt64>)
  func indexes(seed: UInt64) throws {
    try check(seed: seed, on: .memory, writes: 60, queries: 80, makesIndexes: true)
  }

  @Test("and on every store", arguments: AuthorityBackend.all)
  func stores(backend: AuthorityBackend) throws {
    for seed in 100...103 as ClosedRange<UInt64> {
      try check(seed: seed, on: backend, writes: 40, queries: 60)
    }
  }

  private func check(
    seed: UInt64, on backend: AuthorityBackend, writes: Int, queries: Int,
    makesIndexes: Bool = false
  ) throws {
    var random = RandomDocuments(seed)
    let store = try AuthorityStore(backend.open())
    let database = store.authority.rows.database
    var model = Model()
    var past: [(version: DocumentVersion, model: Model)] = []
    for _ in 0..<writes {
      let mutations = (0..<Int.random(in: 1...3, using: &random.random)).map { _ in
        random.mutation()
      }
      guard case .success(let decision) = try store.commit(mutations) else { continue }
      model.apply(decision)
      if !decision.changes.isEmpty { past.append((decision.version, model)) }
    }
    for (key, document) in model.documents { #expect(try store.document(key) == document) }
    let keys = (0..<20).map { _ in random.key() }
    for _ in 0..<queries {
      let query = random.query(over: keys, in: database)
      if makesIndexes {
        try store.buildIndexes(wishedBy: store.explain(query).explanation)
        let mutation = random.mutation()
        if case .success(let decision) = try store.commit([mutation]) {
          model.apply(decision)
          if !decision.changes.isEmpty { past.append((decision.version, model)) }
        }
      }
      let expected = model.run(query)
      let found = try store.documents(query)
      #expect(
        found.map(\.key) == expected.map(\.key), "seed \(seed): \(query.id)")
      #expect(found == expected)
      let then = random.pick(past)
      let earlier = try store.read { reader throws(StorageError) in
        try store.authority.documents(of: query, at: then.version, in: reader)
      }.get()
      #expect(
        earlier == then.model.run(query), "seed \(seed), at \(then.version): \(query.id)")
      try checkSums(query, expected, store, seed)
    }
  }

  private func checkSums(
    _ query: DocumentQuery, _ expected: [Document], _ store: AuthorityStore, _ seed: UInt64
  ) throws {
    let aggregations: [DocumentAggregation] = [
      .init("n", .count(upTo: nil)), .init("s", .sum("a")), .init("m", .count(upTo: 2)),
    ]
    let (values, _) = try store.read { reader throws(StorageError) in
      try store.authority.aggregate(aggregations, over: query, in: reader)
    }.get()
    // Once a field is summed, only documents that have it are counted.
    var summed = query
    summed.requiredFields = ["a"]
    let matcher = DocumentMatcher(summed)
    let limited = query.limit != nil || query.offset > 0
    if limited { return }
    let sums = DocumentAggregation.compute(aggregations, over: expected.filter(matcher.matches))
    #expect(values[0] == sums[0], "seed \(seed): \(query.id)")
    #expect(values[2] == sums[2], "seed \(seed): \(query.id)")
  }
}
