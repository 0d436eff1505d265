import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import Testing

@testable import TernDocumentReplica

@Suite("indexes of a cache")
struct CacheIndexTests {
  private func filled(
    _ count: Int, _ store: any OrderedStore = MemoryStore()
  ) throws -> DocumentCache {
    var cache = try CacheParts.cache(store)
    cache.release(cache.hear(CacheParts.all, CacheParts.cities(count)))
    try cache.commit()
    return cache
  }

  private func query() throws -> DocumentQuery {
    try CacheParts.all.where(CacheParts.state, .equal, .string("S7"))
  }

  @Test("come by themselves only when asked for, and where they pay")
  func automatic() throws {
    var small = try filled(99)
    small.createsIndexes = true
    #expect(try small.run(query()).plan.createdIndexes.isEmpty)
    var cache = try filled(200)
    #expect(try cache.run(query()).plan.createdIndexes.isEmpty)
    cache.createsIndexes = true
    // Everything is wanted: no index would help.
    let ordered = try CacheParts.all.ordered(by: CacheParts.rank)
    #expect(cache.run(ordered).plan.createdIndexes.isEmpty)
    let expected = try cache.run(query())
    #expect(expected.plan.createdIndexes.count == 1)
    #expect(expected.plan.strategy == .scan)
    #expect(try cache.explain(query()).strategy == .scan)
    while cache.backfillIndexes(limit: 30) > 0 {}
    let served = try cache.run(query())
    #expect(served.plan.strategy == .index)
    #expect(served.plan.documentsRead == 4)
    #expect(served.documents == expected.documents)
    cache.deleteAllIndexes()
    let without = try cache.run(query())
    #expect(without.plan.strategy == .scan)
    #expect(without.documents == expected.documents)
  }

  @Test("stay after a restart; making them does not", arguments: CacheStore.allCases)
  func restart(_ kind: CacheStore) throws {
    let opened = try kind.open()
    var cache = try filled(200, opened.store)
    cache.createsIndexes = true
    _ = try cache.run(query())
    _ = cache.backfillIndexes(limit: 50)
    try opened.reopen()
    cache = try CacheParts.cache(opened.store)
    #expect(!cache.createsIndexes)
    #expect(cache.allIndexes.count == 1)
    #expect(!cache.areIndexesComplete)
    while cache.backfillIndexes() > 0 {}
    #expect(try cache.explain(query()).strategy == .index)
  }

  @Test("never hide a pending write, nor show what it took away")
  func pending() throws {
    var cache = try filled(200)
    try cache.setIndexes(query().idealIndexes)
    while cache.backfillIndexes() > 0 {}
    _ = cache.write(
      CacheParts.batch(
        1,
        [
          CacheParts.set("cities/new", ["state": .string("S7"), "rank": .integer(1)]),
          DocumentMutation(CacheParts.city(7), .delete),
          CacheParts.set(CacheParts.city(8), ["state": .string("S7"), "rank": .integer(1)]),
        ]))
    let result = try cache.run(query())
    #expect(result.plan.strategy == .index)
    #expect(
      result.documents.map(\.key.id) == ["c107", "c157", "c57", "c8", "new"])
    _ = cache.reject(1)
    #expect(try cache.run(query()).documents.map(\.key.id) == ["c107", "c157", "c57", "c7"])
  }

  @Test("end a walk at the limit, from either end")
  func limits() throws {
    var cache = try filled(1_000)
    let first = try CacheParts.all.ordered(by: CacheParts.rank).first(5)
    cache.setIndexes(first.idealIndexes)
    while cache.backfillIndexes() > 0 {}
    let queries = [
      first, try CacheParts.all.ordered(by: CacheParts.rank).last(5),
      try CacheParts.all.ordered(by: CacheParts.rank, isDescending: true).first(5),
    ]
    for query in queries {
      let result = cache.run(query, usingPrevious: false)
      #expect(result.plan.strategy == .index)
      #expect(result.plan.documentsRead == 5)
      #expect(result.documents == query.run(over: CacheParts.cities(1_000)))
    }
  }

  @Test("have at most a hundred fields, in a configuration and elsewhere")
  func fieldLimit() throws {
    var cache = try filled(10)
    let index = DocumentIndex(
      group: "cities",
      segments: (0..<300).map { .init(DocumentFieldPath(unchecked: ["f\($0)"]), .ascending) })
    #expect(throws: DocumentIndexError.self) { try cache.configure([index]) }
    let fields = (0..<300).map { #"{"fieldPath": "f\#($0)", "order": "ASCENDING"}"# }
    let text =
      #"{"indexes": [{"collectionGroup": "cities", "fields": [\#(fields.joined(separator: ","))]}]}"#
    #expect(throws: DocumentIndexError.self) { try cache.setIndexes(text) }
    cache.setIndexes([index])
    #expect(cache.allIndexes.isEmpty)
  }

  @Test("are read from a configuration, and others deleted")
  func configuration() throws {
    var cache = try filled(10)
    cache.setIndexes(try query().idealIndexes)
    try cache.setIndexes(
      """
      {"indexes": [{"collectionGroup": "cities", "queryScope": "COLLECTION", "fields": [
        {"fieldPath": "tags", "arrayConfig": "CONTAINS"},
        {"fieldPath": "a.`b c`", "order": "DESCENDING"},
        {"fieldPath": "__name__", "order": "ASCENDING"}]}], "fieldOverrides": []}
      """)
    let nested = DocumentFieldPath(unchecked: ["a", "b c"])
    #expect(
      cache.allIndexes == [
        DocumentIndex(
          group: "cities",
          segments: [
            DocumentIndex.Segment("tags", .contains), DocumentIndex.Segment(nested, .descending),
          ])
      ])
    for text in [
      "[", "[]", #"{"indexes": 1}"#, #"{"indexes": [{"collectionGroup": "c"}]}"#,
      #"{"indexes": [{"collectionGroup": "c", "fields": [{"fieldPath": "a"}]}]}"#,
      #"{"indexes": [{"collectionGroup": "c", "fields": [{"fieldPath": "a..", "order": "ASCENDING"}]}]}"#,
    ] {
      #expect(throws: DocumentIndexError.self) { try cache.setIndexes(text) }
    }
    #expect(cache.allIndexes.count == 1)
  }
}
