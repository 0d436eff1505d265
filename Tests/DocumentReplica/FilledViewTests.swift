import TernCore
import TernDocumentReplica
import TernQuery
import TernTestKit
import Testing

/// Views that were empty take documents in at once.
@Suite("Views that were empty")
struct FilledViewTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))
  private let x = DocumentFieldPath(unchecked: ["x"])

  /// Checks that a snapshot lists its documents as new ones, each with its position.
  private func expectAllNew(_ snapshot: DocumentViewSnapshot?, _ ids: [String]) {
    #expect(snapshot?.documents.map(\.key.id) == ids)
    #expect(snapshot?.changes.map(\.document.key.id) == ids)
    #expect(snapshot?.changes.allSatisfy { $0.kind == .added && $0.oldIndex == nil } == true)
    #expect(snapshot?.changes.map(\.newIndex) == ids.indices.map { $0 })
  }

  @Test("a large result comes in the query's order, all of it new")
  func largeResult() throws {
    var dice = SeededGenerator(seed: 5)
    let order = Array(0..<500).shuffled(using: &dice)
    let documents = order.map { entry("d\($0)", Int64(999 - $0), at: 100) }
    var bench = try ReplicaBench()
    bench.listen(try all.ordered(by: x))
    bench.tell(2, holds: documents, at: 100)
    expectAllNew(bench.snapshots.last, (0..<500).reversed().map { "d\($0)" })
    #expect(bench.snapshots.last?.isFromCache == false)
    #expect(bench.watched.count == 1, "nothing is in doubt")
  }

  @Test("an empty result that is filled later, and one that is emptied and filled in one round")
  func laterRounds() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [], at: 100)
    bench.clear()
    for id in ["2", "1"] {
      bench.tell(.changed(entry(id, 1, at: 200), targets: [2], removed: []))
    }
    bench.tellSnapshot(200)
    #expect(bench.snapshots.count == 1)
    expectAllNew(bench.snapshots.last, ["1", "2"])
    for id in ["1", "2"] {
      let gone = DocumentVersion(microseconds: 300)
      bench.tell(.deleted(DocumentKey(unchecked: "a/\(id)"), readTime: gone, removed: [2]))
    }
    bench.tell(.changed(entry("3", 1, at: 300), targets: [2], removed: []))
    bench.tellSnapshot(300)
    #expect(bench.snapshots.count == 2)
    #expect(bench.snapshots.last?.documents.map(\.key.id) == ["3"])
    #expect(bench.snapshots.last?.changes.map(\.kind) == [.removed, .removed, .added])
    #expect(bench.snapshots.last?.changes.map(\.oldIndex) == [0, 0, nil])
    #expect(bench.snapshots.last?.changes.map(\.newIndex) == [nil, nil, 0])
  }

  @Test("pending writes are the first documents, in doubt once the server has no such")
  func pendingFirst() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [], at: 100)
    bench.clear()
    let batch = bench.write(set("2", 7), set("1", 7))
    expectAllNew(bench.snapshots.last, ["1", "2"])
    #expect(bench.snapshots.last?.hasPendingWrites == true)
    bench.run { $0.reject(batch, DocumentStatus(.permissionDenied, "")) }
    #expect(bench.snapshots.last?.documents.isEmpty == true)
    #expect(bench.snapshots.last?.changes.map(\.kind) == [.removed, .removed])
    bench.clear()
    bench.tellSnapshot(200)
    #expect(bench.snapshots.isEmpty, "nothing has changed")
  }

  @Test("a window takes no more than its limit out of a full collection")
  func window() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [], at: 100)
    bench.listen(try all.ordered(by: x).first(2))
    bench.tell(4, holds: [], at: 100)
    bench.clear()
    for id in 1...5 {
      bench.tell(.changed(entry("\(id)", Int64(9 - id), at: 200), targets: [2], removed: []))
    }
    bench.tellSnapshot(200)
    expectAllNew(bench.snapshots.last { $0.query.limit != nil }, ["5", "4"])
    expectAllNew(bench.snapshots.last { $0.query.limit == nil }, ["1", "2", "3", "4", "5"])
  }
}
