import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import Testing

@testable import TernDocumentReplica

@Suite("bundles in a cache")
struct CacheBundleTests {
  private let metadata = BundleMetadata(id: "b1", createTime: CacheParts.version(100))

  private func bundle(_ query: DocumentQuery) -> DocumentBundle {
    DocumentBundle(
      metadata: metadata,
      queries: [NamedQuery(name: "big", query: query, readTime: CacheParts.version(90))],
      documents: (0..<3).map { index in
        BundledDocument(
          document: CacheParts.found(
            CacheParts.city(index), ["rank": .integer(Int64(index))], Int64(50 + index)),
          readTime: CacheParts.version(90), queries: index == 0 ? [] : ["big"])
      })
  }

  @Test("bring documents and named queries", arguments: CacheStore.allCases)
  func load(_ kind: CacheStore) throws {
    let opened = try kind.open()
    var cache = try CacheParts.cache(opened.store)
    let newer = CacheParts.found(CacheParts.city(2), ["rank": .integer(9)], 60)
    cache.release(cache.hear(CacheParts.all, [newer]))
    let query = try CacheParts.all.where(CacheParts.rank, .greaterThan, .integer(0))
      .ordered(by: CacheParts.rank, isDescending: true).first(7)
    #expect(cache.hasBundle(metadata) == false)
    let changed = cache.load(bundle(query)).changed
    #expect(Set(changed.keys) == [CacheParts.city(0), CacheParts.city(1)])
    #expect(cache.hasBundle(metadata) == true)
    let later = BundleMetadata(id: "b1", createTime: CacheParts.version(101))
    #expect(cache.hasBundle(later) == false)
    try cache.commit()
    try opened.reopen()
    cache = try CacheParts.cache(opened.store)
    #expect(cache.document(CacheParts.city(2)) == newer)
    #expect(
      cache.namedQuery("big")
        == NamedQuery(name: "big", query: query, readTime: CacheParts.version(90)))
    #expect(cache.namedQuery("small") == nil)
    // A listen goes on as of the time of the bundle.
    let record = cache.allocate(.query(query.target))
    #expect(record.resumeToken.isEmpty)
    #expect(record.snapshotVersion == CacheParts.version(90))
    #expect(cache.remoteKeys(of: record.id) == [CacheParts.city(1), CacheParts.city(2)])
  }

  @Test("an older one changes no named query that is newer")
  func older() throws {
    var cache = try CacheParts.cache()
    let query = try CacheParts.all.where(CacheParts.rank, .equal, .integer(1))
    let id = cache.hear(
      query, [CacheParts.found(CacheParts.city(1), ["rank": .integer(1)], 95)],
      version: 95, token: [4])
    cache.release(id)
    try cache.commit()
    _ = cache.load(bundle(query))
    let record = cache.allocate(.query(query.target))
    #expect(record.resumeToken == [4])
    #expect(cache.remoteKeys(of: record.id) == [CacheParts.city(1)])
  }
}
