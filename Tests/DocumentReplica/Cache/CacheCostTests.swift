import TernCore
import TernQuery
import TernStorage
import Testing

@testable import TernDocumentReplica

/// The cost of queries with a limit over a large cache, counted and not timed.
@Suite("what queries cost in a cache")
struct CacheCostTests {
  private static let limit = 20
  private static let counts = (small: 400, large: 3_200)
  /// Of so few packed documents no collection here is held in memory.
  private static let hotBytes = 16 << 10

  /// A cache that was just opened, with nothing in its memory.
  private struct Filled {
    let opened: CacheStore.Opened
    let store: CountingStore
    var cache: DocumentCache

    init(_ kind: CacheStore, _ count: Int, _ indexes: [DocumentIndex]) throws {
      opened = try kind.open()
      store = CountingStore(opened.store)
      cache = try CacheParts.cache(store)
      cache.release(cache.hear(CacheParts.all, CacheParts.cities(count)))
      cache.setIndexes(indexes)
      while cache.backfillIndexes(limit: 1_000) > 0 {}
      try cache.commit()
      var settings = DocumentCache.Settings()
      settings.hotBytes = CacheCostTests.hotBytes
      cache = try CacheParts.cache(store, settings)
    }

    mutating func run(_ query: DocumentQuery) -> (DocumentQueryResult, CountingStore.Count) {
      store.forget()
      let result = cache.run(query)
      return (result, store.count)
    }
  }

  private static func queries() throws -> [DocumentQuery] {
    let ordered = try CacheParts.all.ordered(by: CacheParts.rank)
    return [
      try ordered.first(limit), try ordered.last(limit),
      try CacheParts.all.where(CacheParts.rank, .greaterThan, 500).first(limit),
    ]
  }

  @Test(
    "with an index, as much of 3,200 documents as of 400; without, a page of them at a time",
    arguments: CacheStore.allCases)
  func limited(_ kind: CacheStore) throws {
    let queries = try Self.queries()
    let indexes = Set(queries.flatMap(\.idealIndexes)).sorted { "\($0)" < "\($1)" }
    var small = try Filled(kind, Self.counts.small, indexes)
    var large = try Filled(kind, Self.counts.large, indexes)
    let cities = CacheParts.cities(Self.counts.large)
    for query in queries {
      let (result, many) = large.run(query)
      #expect(result.plan.strategy == .index)
      #expect(result.documents == query.run(over: cities))
      let few = small.run(query).1
      // An entry and a document for each, and what a cursor reads ahead. Those that are equal at
      // the edge of the limit are looked at, too.
      #expect(many.rows <= 8 * Self.limit, "\(query.id): \(many)")
      #expect(many.rows <= few.rows + Self.limit, "\(query.id): \(many), not \(few)")
      #expect(many.bytes <= 100 * many.rows, "\(query.id): \(many)")
      #expect(large.cache.stored.rows.hot.byteCount <= Self.hotBytes)
    }
    large.cache.deleteAllIndexes()
    for query in queries {
      let (result, read) = large.run(query)
      #expect(result.plan.strategy == .scan)
      #expect(result.documents == query.run(over: cities))
      #expect(read.rows >= cities.count)
      #expect(read.largestPage.rows <= RowPage.maximumRows)
      #expect(read.largestPage.bytes <= 2 * RowPage.fullBytes)
      #expect(large.cache.stored.rows.hot.byteCount <= Self.hotBytes)
    }
  }

  @Test("of the documents that match, no more are kept than the limit and the offset")
  func kept() throws {
    for query in try Self.queries() {
      var selection = DocumentSelection(query)
      for document in CacheParts.cities(500) {
        selection.insert(document)
        #expect(selection.documents.count <= Self.limit)
      }
    }
  }
}
