import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import Testing

@testable import TernDocumentReplica

@Suite("a cache makes room")
struct CacheEvictionTests {
  /// Documents of a kilobyte, in a collection of their own.
  private func documents(_ collection: String, _ count: Int) -> [Document] {
    (0..<count).map { index in
      CacheParts.found(
        DocumentKey(unchecked: "\(collection)/d\(index)"),
        ["text": .string(String(repeating: "x", count: 1_000))], 10)
    }
  }

  private func query(_ collection: String) -> DocumentQuery {
    .collection(CollectionPath(unchecked: collection))
  }

  @Test("by what was not used for longest, and never by what is needed")
  func leastRecentlyUsed() throws {
    let settings = DocumentCache.Settings(limitBytes: DocumentCache.Settings.minimumBytes)
    var cache = try CacheParts.cache(MemoryStore(), settings)
    for name in ["old", "newer", "listened", "written"] {
      let id = cache.hear(query(name), documents(name, 400), version: 10)
      try cache.commit()
      if name != "listened" { cache.release(id) }
      try cache.commit()
    }
    let kept = DocumentKey(unchecked: "old/d3")
    _ = cache.write(CacheParts.batch(1, [CacheParts.set(kept, ["a": .integer(1)])]))
    let taken = cache.evict()
    #expect(cache.byteCount < DocumentCache.Settings.minimumBytes)
    #expect(taken.targets > 0)
    #expect(cache.stored.base(kept).document.isFound)
    #expect(cache.run(query("listened")).documents.count == 400)
    #expect(cache.run(query("old")).documents.count == 1)
    #expect(cache.run(query("written")).documents.count == 400)
    // Within the limit nothing goes.
    #expect(cache.evict() == DocumentEvictionResult())
  }

  @Test("never without a limit")
  func unlimited() throws {
    var cache = try CacheParts.cache(MemoryStore(), DocumentCache.Settings(limitBytes: nil))
    cache.release(cache.hear(query("a"), documents("a", 2_000)))
    try cache.commit()
    #expect(cache.evict() == DocumentEvictionResult())
    #expect(cache.run(query("a")).documents.count == 2_000)
  }

  @Test("at once in an eager cache, except what a view or a write needs")
  func eager() throws {
    var cache = try CacheParts.cache(MemoryStore(), DocumentCache.Settings(isEager: true))
    let id = cache.hear(CacheParts.all, CacheParts.cities(3))
    let viewer = cache.allocate(.query(query("towns").target)).id
    cache.noteViewChanges(
      target: viewer, added: [CacheParts.city(1)], removed: [], isFromCache: true)
    _ = cache.write(
      CacheParts.batch(1, [DocumentMutation(CacheParts.city(2), .patch(.empty, mask: .empty))]))
    try cache.commit()
    cache.release(id)
    try cache.commit()
    #expect(cache.stored.base(CacheParts.city(0)).document.state == .invalid)
    #expect(cache.stored.base(CacheParts.city(1)).document.isFound)
    #expect(cache.stored.base(CacheParts.city(2)).document.isFound)
    cache.release(viewer)
    _ = cache.reject(1)
    try cache.commit()
    #expect(cache.stored.base(CacheParts.city(1)).document.state == .invalid)
    #expect(cache.stored.base(CacheParts.city(2)).document.state == .invalid)
    #expect(cache.stored.rows.head.documentCount == 0)
    #expect(cache.byteCount == 0)
    #expect(cache.allocate(.query(CacheParts.all.target)).resumeToken.isEmpty)
  }

  @Test("entirely on request; pending writes stay", arguments: CacheStore.allCases)
  func wiped(_ kind: CacheStore) throws {
    let opened = try kind.open()
    var cache = try CacheParts.cache(opened.store)
    cache.release(cache.hear(CacheParts.all, CacheParts.cities(3)))
    _ = cache.write(CacheParts.batch(1, [CacheParts.set("cities/mine", [:])]))
    try cache.clearAll()
    #expect(cache.run(CacheParts.all).documents.map(\.key) == ["cities/mine"])
    try opened.reopen()
    cache = try CacheParts.cache(opened.store)
    #expect(cache.run(CacheParts.all).documents.isEmpty)
    #expect(cache.byteCount == 0)
  }
}
