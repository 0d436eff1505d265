import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernDocumentReplica

@Suite("a damaged record of a cache is never handed out")
struct CacheDamageTests {
  /// A cache of which one row holds what it should not.
  private func damaged(
    _ tag: DocumentCacheKeys.Tag, active: Bool = false
  ) throws -> (cache: DocumentCache, id: Int32) {
    let store = MemoryStore()
    var cache = try CacheParts.cache(store)
    cache.setIndexes([
      DocumentIndex(
        group: "cities", segments: [DocumentIndex.Segment(CacheParts.state, .ascending)])
    ])
    while cache.backfillIndexes() > 0 {}
    let id = cache.hear(CacheParts.all, CacheParts.cities(200))
    if !active { cache.release(id) }
    try cache.commit()
    let prefix = cache.stored.rows.keys.begin(tag)
    try store.write { transaction throws(StorageError) in
      let row = try transaction.scan(KeyRange(prefix: prefix), limit: 1)
      guard let key = row.first?.key else { throw .abandoned }
      try transaction.put([0xFF, 0xFF, 0xFF], for: key)
    }
    // A new process has nothing in memory.
    if !active { cache = try CacheParts.cache(store) }
    cache.stored.rows.hot.removeAll()
    cache.stored.rows.collections.removeAll()
    return (cache, id)
  }

  @Test("a document: its target has to be sent again")
  func document() throws {
    var (cache, _) = try damaged(.document)
    #expect(cache.run(CacheParts.all).documents.count == 199)
    let record = cache.allocate(.query(CacheParts.all.target))
    #expect(record.resumeToken.isEmpty)
    #expect(record.snapshotVersion == .none)
    #expect(record.keyCount == 0)
    #expect(cache.remoteKeys(of: record.id).isEmpty)
    #expect(!cache.areIndexesComplete)
    try cache.commit()
  }

  @Test("a document of a target with listeners")
  func activeDocument() throws {
    var (cache, id) = try damaged(.document, active: true)
    #expect(cache.run(CacheParts.all).documents.count == 199)
    #expect(cache.target(id)?.resumeToken == [])
    #expect(cache.takeLostTargets() == [id])
    cache.hear(CacheParts.all, CacheParts.cities(200, version: 12), version: 12)
    try cache.commit()
    #expect(cache.run(CacheParts.all).documents.count == 200)
    #expect(cache.target(id)?.keyCount == 200)
  }

  @Test("a document that changed twice, once before it was damaged, is shown once")
  func changedBeforeAndAfter() throws {
    let store = MemoryStore()
    var cache = try CacheParts.cache(store)
    let inState = try CacheParts.all.where(CacheParts.state, .equal, .string("S0"))
    let ranked = try CacheParts.all.where(CacheParts.rank, .greaterThan, .integer(5))
    func city(_ number: Int, at version: Int64) -> Document {
      CacheParts.found(
        CacheParts.city(number), ["state": .string("S0"), "rank": .integer(Int64(number))], version)
    }
    let id = cache.hear(inState, [city(1, at: 10)])
    cache.noteViewChanges(
      target: id, added: [CacheParts.city(1)], removed: [], isFromCache: false)
    cache.hear(ranked, [city(9, at: 20)], version: 20)
    try cache.commit()
    let documents = KeyRange(prefix: cache.stored.rows.keys.begin(.document))
    try store.write { transaction throws(StorageError) in
      guard let row = try transaction.scan(documents).last else { throw .abandoned }
      try transaction.put([0xFF, 0xFF, 0xFF], for: row.key)
    }
    cache.stored.rows.hot.removeAll()
    #expect(cache.document(CacheParts.city(9)).state == .invalid)
    cache.hear(ranked, [city(9, at: 30)], version: 30)
    try cache.commit()
    let result = cache.run(inState)
    #expect(result.plan.strategy == .previousResults)
    #expect(result.documents.map(\.key) == [CacheParts.city(1), CacheParts.city(9)])
  }

  @Test("a document that another target received before that was found out")
  func toldMeanwhile() throws {
    let store = MemoryStore()
    var cache = try CacheParts.cache(store)
    let city = CacheParts.found(
      CacheParts.city(9), ["state": .string("S0"), "rank": .integer(9)], 20)
    let inState = try CacheParts.all.where(CacheParts.state, .equal, .string("S0"))
    let first = cache.hear(inState, [city], version: 20)
    try cache.commit()
    // From here on it is in memory too.
    #expect(cache.document(city.key) == city)
    let documents = KeyRange(prefix: cache.stored.rows.keys.begin(.document))
    try store.write { transaction throws(StorageError) in
      guard let row = try transaction.scan(documents).last else { throw .abandoned }
      try transaction.put([0xFF, 0xFF, 0xFF], for: row.key)
    }
    // The server says nothing new, and nothing is stored but that it belongs to this result too.
    let ranked = try CacheParts.all.where(CacheParts.rank, .greaterThan, .integer(5))
    let second = cache.hear(ranked, [city], version: 30)
    try cache.commit()
    #expect(cache.document(city.key).state == .invalid)
    #expect(cache.takeLostTargets() == [first, second])
    #expect(cache.target(second)?.resumeToken == [])
  }

  @Test("a place in a result that its own query meets: what is there is found all the same")
  func mappingMet() throws {
    let disk = FaultyDisk()
    let store = disk.open()
    var cache = try CacheParts.cache(store)
    let city = CacheParts.found(CacheParts.city(1), ["state": .string("S0")], 10)
    let inState = try CacheParts.all.where(CacheParts.state, .equal, .string("S0"))
    let id = cache.hear(inState, [city])
    cache.noteViewChanges(target: id, added: [city.key], removed: [], isFromCache: false)
    try cache.commit()
    #expect(cache.run(inState).plan.strategy == .previousResults)
    let mappings = KeyRange(prefix: cache.stored.rows.keys.begin(.mapping))
    let row = try store.read { view throws(StorageError) in try view.scan(mappings).last?.key }
    disk.corrupt(try #require(row))
    let result = cache.run(inState)
    #expect(result.plan.strategy == .scan)
    #expect(result.documents.map(\.key) == [city.key])
    #expect(cache.takeLostTargets() == [id])
  }

  @Test("a target that was released while nothing could be stored costs nothing when it is back")
  func releasedWhileFull() throws {
    let disk = FaultyDisk()
    var cache = try CacheParts.cache(disk.open())
    let id = cache.hear(CacheParts.all, CacheParts.cities(3))
    try cache.commit()
    disk.fill()
    cache.hear(CacheParts.all, CacheParts.cities(4, version: 12), version: 12, token: [2])
    #expect(throws: StorageError.diskFull) { try cache.commit() }
    cache.release(id)
    #expect(throws: StorageError.diskFull) { try cache.commit() }
    disk.free()
    let record = cache.allocate(.query(CacheParts.all.target))
    #expect(record.id == id && record.resumeToken == [2])
    #expect(cache.load(CacheParts.all, of: id).documents.count == 4)
    try cache.commit()
    #expect(cache.target(id)?.keyCount == 4 && cache.target(id)?.resumeToken == [2])
    // Once it is stored it is out of memory.
    cache.release(id)
    #expect(cache.stored.targets.released.isEmpty)
    cache = try CacheParts.cache(disk.open())
    let again = cache.allocate(.query(CacheParts.all.target))
    #expect(again.id == id && again.keyCount == 4)
    #expect(cache.load(CacheParts.all, of: id).documents.count == 4)
  }

  @Test("a target that is back before anything can be stored goes on from where it was")
  func backWhileFull() throws {
    let disk = FaultyDisk()
    var cache = try CacheParts.cache(disk.open())
    let id = cache.hear(CacheParts.all, CacheParts.cities(3))
    try cache.commit()
    disk.fill()
    cache.hear(CacheParts.all, CacheParts.cities(4, version: 12), version: 12, token: [2])
    cache.release(id)
    let record = cache.allocate(.query(CacheParts.all.target))
    #expect(record.id == id && record.resumeToken == [2])
    disk.free()
    #expect(cache.load(CacheParts.all, of: id).documents.count == 4)
    #expect(cache.target(id)?.keyCount == 4)
  }

  @Test("a target: it is a new one")
  func target() throws {
    var (cache, _) = try damaged(.target)
    let record = cache.allocate(.query(CacheParts.all.target))
    #expect(record.resumeToken.isEmpty)
    #expect(record.keyCount == 0)
    #expect(cache.remoteKeys(of: record.id).isEmpty)
    // Its documents are on their own now.
    #expect(cache.run(CacheParts.all).documents.count == 200)
    #expect(cache.stored.rows.head.orphanCount == 200)
  }

  @Test("an entry: its index is made anew")
  func entry() throws {
    var (cache, _) = try damaged(.entry)
    let query = try CacheParts.all.where(CacheParts.state, .equal, .string("S0"))
    #expect(cache.run(query).documents.count == 4)
    while cache.backfillIndexes() > 0 {}
    let result = cache.run(query)
    #expect(result.plan.strategy == .index)
    #expect(result.documents.count == 4)
  }

  @Test("a collection: everything is fetched again")
  func collection() throws {
    var (cache, _) = try damaged(.collection)
    #expect(cache.run(CacheParts.all).documents.isEmpty)
    #expect(cache.allocate(.query(CacheParts.all.target)).resumeToken.isEmpty)
    try cache.commit()
  }

  @Test("the head: everything is fetched again")
  func head() throws {
    var (cache, _) = try damaged(.head)
    #expect(cache.byteCount == 0)
    #expect(cache.run(CacheParts.all).documents.isEmpty)
  }
}
