import TernCore
import TernQuery
import TernStorage
import TernStorageMemory
import Testing

@testable import TernDocumentReplica

@Suite("Views over a cache that is damaged during a listen")
struct DamagedViewTests {
  /// The next look at the first document in the store finds that it cannot be read.
  private func damageFirstDocument(_ replica: inout DocumentReplica, _ store: MemoryStore) throws {
    try replica.commit()
    let prefix = replica.cache.stored.rows.keys.begin(.document)
    try store.write { transaction throws(StorageError) in
      let row = try transaction.scan(KeyRange(prefix: prefix), limit: 1)
      guard let key = row.first?.key else { throw .abandoned }
      try transaction.put([0xFF, 0xFF, 0xFF], for: key)
    }
    replica.cache.stored.rows.hot.removeAll()
    replica.cache.stored.rows.collections.removeAll()
  }

  @Test("what is laid over a document that is lost does not pass for the server's")
  func overlayOverNothing() throws {
    let store = MemoryStore()
    var bench = try ReplicaBench(store: store)
    bench.listen(.collection(CollectionPath(unchecked: "a")), includesMetadata: false)
    bench.tell(2, holds: [entry("1", 1, at: 50), entry("2", 2, at: 60)], at: 100)
    bench.clear()
    bench.run { replica in
      do { try damageFirstDocument(&replica, store) } catch { Issue.record(error) }
      return []
    }
    bench.write(
      DocumentMutation(
        DocumentKey(unchecked: "a/1"),
        .patch(["y": 7], mask: DocumentFieldMask([DocumentFieldPath(unchecked: ["y"])]))))
    #expect(!bench.snapshots.isEmpty)
    #expect(bench.snapshots.allSatisfy { $0.isFromCache })
    // It is asked for again, from the start.
    #expect(bench.watched.map(\.id) == [2])
    #expect(bench.watched.allSatisfy { $0.resume == nil })
  }
}
