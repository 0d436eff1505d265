import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import Testing

@testable import TernDocumentReplica

@Suite("a cache takes in what servers say")
struct CacheServerTests {
  @Test("an accepted write is marked until the server shows it")
  func committed() throws {
    var cache = try CacheParts.cache()
    let key = CacheParts.city(1)
    let shown = cache.write(CacheParts.batch(1, [CacheParts.set(key, ["a": .integer(1)])]))
    #expect(shown[key]?.localWrites == .pending)
    let after = cache.acknowledge(
      1, version: CacheParts.version(20),
      results: [DocumentWriteResult(version: CacheParts.version(19))])
    #expect(after[key]?.localWrites == .committed)
    #expect(after[key]?.version == CacheParts.version(19))
    // Something older does not take it away; the document itself does.
    let old = DocumentServerEvent(
      version: CacheParts.version(18),
      documents: [CacheParts.found(key, ["a": .integer(0)], 18)])
    #expect(cache.applyServer(old).isEmpty)
    let told = CacheParts.found(key, ["a": .integer(1)], 19)
    let event = DocumentServerEvent(version: CacheParts.version(20), documents: [told])
    #expect(cache.applyServer(event) == [told])
    #expect(cache.document(key) == told)
  }

  @Test("documents may come in any order, of several targets at once", arguments: 0..<4)
  func anyOrder(_ shift: Int) throws {
    var cache = try CacheParts.cache()
    let documents = CacheParts.cities(40).sorted { $0.key < $1.key }
    let all = cache.allocate(.query(CacheParts.all.target)).id
    let query = try CacheParts.all.where(CacheParts.state, .equal, .string("S1"))
    let some = cache.allocate(.query(query.target)).id
    var event = DocumentServerEvent(version: CacheParts.version(10))
    event.documents = Array(documents[(shift * 9)...])
    event.documents += documents[..<(shift * 9)]
    if shift == 3 { event.documents.reverse() }
    let keys = Set(documents.map(\.key))
    let members = Set(documents.prefix(3).map(\.key))
    event.targets[all] = DocumentServerEvent.TargetDelta(added: keys, resumeToken: [1])
    event.targets[some] = DocumentServerEvent.TargetDelta(added: members, resumeToken: [1])
    #expect(cache.applyServer(event) == documents)
    // Before and after they are stored.
    for _ in 0..<2 {
      #expect(cache.remoteKeys(of: all) == keys)
      #expect(cache.remoteKeys(of: some) == members)
      #expect(cache.run(CacheParts.all).documents == documents)
      try cache.commit()
    }
    event.targets[all] = DocumentServerEvent.TargetDelta(removed: members, resumeToken: [2])
    event.targets[some] = DocumentServerEvent.TargetDelta(modified: members, resumeToken: [2])
    event.documents = []
    #expect(cache.applyServer(event).isEmpty)
    try cache.commit()
    #expect(cache.remoteKeys(of: all) == keys.subtracting(members))
    #expect(cache.remoteKeys(of: some) == members)
  }

  @Test("a document that is missing at no version is forgotten")
  func forgotten() throws {
    var cache = try CacheParts.cache()
    let key = CacheParts.city(1)
    cache.hear(CacheParts.all, [CacheParts.found(key, [:], 5)])
    try cache.commit()
    let event = DocumentServerEvent(version: .none, documents: [Document(key, .missing)])
    #expect(cache.applyServer(event).map(\.state) == [.invalid])
    try cache.commit()
    #expect(cache.document(key).state == .invalid)
    #expect(cache.lastSnapshotVersion == CacheParts.version(10))
  }

  @Test("increments on what the server has already added to are not added twice")
  func bases() throws {
    var cache = try CacheParts.cache()
    let key = CacheParts.city(1)
    cache.hear(CacheParts.all, [CacheParts.found(key, ["n": .integer(5)], 5)])
    let increment = DocumentMutation(
      key, .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform("n", .increment(.integer(1)))])
    let bases = cache.baseMutations(for: [increment])
    _ = cache.write(
      DocumentBatch(
        id: 1, localWriteTime: DocumentTimestamp(uncheckedMicroseconds: 1), baseMutations: bases,
        mutations: [increment]))
    let echo = DocumentServerEvent(
      version: CacheParts.version(11),
      documents: [CacheParts.found(key, ["n": .integer(6)], 11)])
    #expect(cache.applyServer(echo).map { $0.fields?["n"] } == [.integer(6)])
  }

  @Test("thousands of writes to one document are answered one by one")
  func manyAnswers() throws {
    var cache = try CacheParts.cache()
    let key = CacheParts.city(1)
    let count = 3_000
    let increment = DocumentMutation(
      key, .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform("n", .increment(.integer(1)))])
    for id in 1...count { _ = cache.write(CacheParts.batch(UInt64(id), [increment])) }
    for id in 1...count {
      let shown = cache.acknowledge(
        UInt64(id), version: CacheParts.version(Int64(id)), results: [])
      #expect(shown[key]?.fields?["n"] == .integer(Int64(count)))
      #expect(shown[key]?.localWrites == (id == count ? .committed : .pending))
    }
  }

  @Test("the server's copy of an accepted write replays no later one")
  func manyCopies() throws {
    var cache = try CacheParts.cache()
    let key = CacheParts.city(1)
    func write(_ id: Int64) -> DocumentMutation {
      let name = id % 2 == 0 ? "even" : "odd"
      return DocumentMutation(
        key, .patch([name: .integer(id)], mask: DocumentFieldMask([.init(unchecked: [name])])))
    }
    let base = DocumentServerEvent(
      version: CacheParts.version(5), documents: [CacheParts.found(key, ["odd": 0], 5)])
    _ = cache.applyServer(base)
    for id in 1...100 { _ = cache.write(CacheParts.batch(UInt64(id), [write(Int64(id))])) }
    #expect(cache.hasPendingWrites(to: key) && !cache.hasPendingWrites(to: CacheParts.city(2)))
    let first = cache.acknowledge(1, version: CacheParts.version(10), results: [])
    #expect(first[key]?.fields == ["even": 100, "odd": 99])
    var replayed = cache.pending.replayedCount
    let copy = DocumentServerEvent(
      version: CacheParts.version(10), documents: [CacheParts.found(key, ["odd": 1], 10)])
    let told = cache.applyServer(copy)
    #expect(told.map(\.fields) == [["even": 100, "odd": 99]])
    #expect(told.map(\.version) == [CacheParts.version(10)])
    #expect(told.map(\.created) == [CacheParts.version(10)])
    #expect(told.map(\.localWrites) == [.pending])
    #expect(cache.pending.replayedCount == replayed)
    // Something else shows through.
    replayed = cache.pending.replayedCount
    let other = DocumentServerEvent(
      version: CacheParts.version(11),
      documents: [CacheParts.found(key, ["odd": 1, "more": 2], 11)])
    #expect(cache.applyServer(other).map(\.fields) == [["even": 100, "odd": 99, "more": 2]])
    #expect(cache.pending.replayedCount == replayed + 99)
    // A document that is gone is made again only by what makes one.
    let gone = DocumentServerEvent(
      version: CacheParts.version(12),
      documents: [Document(key, .missing, version: CacheParts.version(12))])
    #expect(cache.applyServer(gone).map(\.fields) == [["even": 100, "odd": 99]])
    for id in 2...100 {
      _ = cache.acknowledge(UInt64(id), version: CacheParts.version(Int64(20 + id)), results: [])
    }
    #expect(!cache.hasPendingWrites(to: key))
  }

  @Test("a write whose precondition names a version is replayed over every copy")
  func conditionalCopies() throws {
    var cache = try CacheParts.cache()
    let key = CacheParts.city(1)
    let base = DocumentServerEvent(
      version: CacheParts.version(10), documents: [CacheParts.found(key, ["n": 1], 10)])
    _ = cache.applyServer(base)
    let write = CacheParts.set(key, ["n": 2]).requiring(.version(CacheParts.version(10)))
    #expect(cache.write(CacheParts.batch(1, [write]))[key]?.fields == ["n": 2])
    let same = DocumentServerEvent(
      version: CacheParts.version(11), documents: [CacheParts.found(key, ["n": 1], 11)])
    #expect(cache.applyServer(same).map(\.fields) == [["n": 1]])
  }

  @Test("a target continues where it was, also after a restart", arguments: CacheStore.allCases)
  func tokens(_ kind: CacheStore) throws {
    let opened = try kind.open()
    var cache = try CacheParts.cache(opened.store)
    let documents = CacheParts.cities(3)
    let id = cache.hear(CacheParts.all, documents, token: [9, 9])
    #expect(id == 2)
    cache.release(id)
    try cache.commit()
    try opened.reopen()
    cache = try CacheParts.cache(opened.store)
    let record = cache.allocate(.query(CacheParts.all.target))
    #expect(record.id == 2)
    #expect(record.resumeToken == [9, 9])
    #expect(record.snapshotVersion == CacheParts.version(10))
    #expect(record.keyCount == 3)
    #expect(cache.remoteKeys(of: 2) == Set(documents.map(\.key)))
    #expect(cache.allocate(.documents([CacheParts.city(1)])).id == 4)
    #expect(cache.lastSnapshotVersion == CacheParts.version(10))
  }

  @Test("a target that is sent anew loses token and versions")
  func mismatch() throws {
    var cache = try CacheParts.cache()
    let id = cache.hear(CacheParts.all, CacheParts.cities(3))
    let event = DocumentServerEvent(
      version: CacheParts.version(11),
      targets: [
        id: DocumentServerEvent.TargetDelta(
          removed: cache.remoteKeys(of: id), resumeToken: [5])
      ],
      mismatched: [id: .existenceFilterMismatch])
    _ = cache.applyServer(event)
    try cache.commit()
    let record = try #require(cache.target(id))
    #expect(record.resumeToken.isEmpty)
    #expect(record.snapshotVersion == .none)
    #expect(record.keyCount == 0)
  }

  @Test("what the server judged is not looked at again")
  func previous() throws {
    var cache = try CacheParts.cache()
    let query = try CacheParts.all.where(CacheParts.state, .equal, .string("S1"))
    let documents = CacheParts.cities(200)
    cache.hear(CacheParts.all, documents)
    let matching = query.run(over: documents)
    let id = cache.hear(query, matching, version: 11)
    cache.noteViewChanges(
      target: id, added: Set(matching.map(\.key)), removed: [], isFromCache: false)
    try cache.commit()
    let key = CacheParts.city(3)
    let late = CacheParts.found(key, ["state": .string("S1"), "rank": .integer(0)], 12)
    _ = cache.applyServer(
      DocumentServerEvent(version: CacheParts.version(12), documents: [late]))
    try cache.commit()
    let result = cache.run(query)
    #expect(result.plan.strategy == .previousResults)
    #expect(result.plan.documentsRead == matching.count + 1)
    #expect(result.documents == query.run(over: matching + [late]))
  }
}
