import TernCore
import TernQuery
import Testing

@testable import TernDocumentReplica

/// Records of a cache that have the right shape and numbers out of range.
struct AbsurdCacheRecordTests {
  @Test("the numbers of a whole cache leave room for more")
  func cacheHead() {
    #expect(CacheHead(record: CacheHead().record) == CacheHead())
    let absurd: [(inout CacheHead) -> Void] = [
      { $0.highestTarget = .max }, { $0.nextCollection = .max }, { $0.nextIndex = .max },
      { $0.sequence = .max }, { $0.byteCount = .max }, { $0.documentCount = .max },
    ]
    for change in absurd {
      var head = CacheHead()
      change(&head)
      #expect(CacheHead(record: head.record) == nil)
    }
  }

  @Test("a target as of no time is none", arguments: [Int64.min, .max])
  func target(time: Int64) {
    let collection = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    var target = DocumentTargetRecord(id: 2, subject: .query(collection.target))
    #expect(StoredTarget(id: 2, record: target.record) == StoredTarget(target))
    target.limboFreeVersion = DocumentVersion(microseconds: time)
    #expect(StoredTarget(id: 2, record: target.record) == nil)
  }
}
