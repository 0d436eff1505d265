import TernCore
import TernLedger
import TernQuery
import Testing

@testable import TernDocumentEngine

/// Records that have the right shape and numbers nobody can reckon with.
struct AbsurdRecordTests {
  @Test("a database's state with numbers that have no successor is none")
  func state() {
    var state = DatabaseState()
    state.last = DocumentVersion(microseconds: 7)
    #expect(DatabaseState(state.encode()) == state)
    for last in [Int64.min, .max] {
      state.last = DocumentVersion(microseconds: last)
      #expect(DatabaseState(state.encode()) == nil)
    }
    state.last = .none
    state.nextScope = .max
    #expect(DatabaseState(state.encode()) == nil)
  }

  @Test("an index over no fields, or over a field without a name, is none")
  func index() {
    let path = DocumentFieldPath(unchecked: ["a"])
    let segment = CompositeIndex.Segment(path: path, isDescending: true)
    let index = CompositeIndex(number: 1, scope: 2, segments: [segment])
    #expect(CompositeIndex(index.encode()) == index)
    var head = ByteWriter()
    head.append(1)
    head.append(bigEndian: ScopeNumber(1))
    head.append(bigEndian: ScopeNumber(2))
    #expect(CompositeIndex(head.bytes + [0, 0]) == nil)
    #expect(CompositeIndex(head.bytes + [1, 0, 0, 0]) == nil)
  }

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
