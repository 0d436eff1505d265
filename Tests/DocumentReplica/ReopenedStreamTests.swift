import TernCore
import TernQuery
import Testing

@testable import TernDocumentReplica

@Suite("A listen stream that was opened again")
struct ReopenedStreamTests {
  private static let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))
  /// The targets, in the order in which they are asked for.
  private let whole: Int32 = 2
  private let one: Int32 = 4

  /// A bench whose two views go on over a new stream.
  private func reopened() throws -> ReplicaBench {
    var bench = try ReplicaBench()
    bench.listen(Self.all)
    bench.listen(.document(DocumentKey(unchecked: "a/1")))
    bench.tell(whole, holds: [entry("1", 1, at: 50), entry("2", 1, at: 50)], at: 100)
    bench.tell(one, holds: [entry("1", 1, at: 50)], at: 100)
    bench.run { $0.watchStreamClosed(isFailure: false) }
    bench.clear()
    return bench
  }

  /// The values of the documents that a snapshot shows.
  private func values(_ snapshot: DocumentViewSnapshot) -> [DocumentValue?] {
    snapshot.documents.map { $0.fields?["x"] }
  }

  @Test("views that go on are shown as of one time, though their targets are answered one by one")
  func together() throws {
    var bench = try reopened()
    bench.tell(one, holds: [entry("1", 2, at: 120)], at: 130)
    #expect(bench.snapshots.isEmpty)
    bench.tell(whole, holds: [entry("1", 2, at: 120), entry("2", 2, at: 110)], at: 130)
    #expect(Set(bench.snapshots.map(values)) == [[2], [2, 2]])
    #expect(bench.snapshots.allSatisfy { !$0.isFromCache })
    bench.clear()
    // From here on every snapshot counts at once.
    bench.tell(.changed(entry("1", 3, at: 140), targets: [one, whole], removed: []))
    bench.tellSnapshot(150)
    #expect(Set(bench.snapshots.map(values)) == [[3], [3, 2]])
  }

  @Test("no snapshot waits for a target that the server rejects")
  func refused() throws {
    var bench = try reopened()
    bench.tell(one, holds: [entry("1", 2, at: 120)], at: 130)
    let status = DocumentStatus(.permissionDenied, "no")
    bench.tell(.target(WatchTargetChange(.removed(status), targets: [whole])))
    #expect(bench.failures == [status])
    #expect(bench.snapshots.map(values) == [[2]])
  }

  @Test("no snapshot waits for a target that is not wanted any more")
  func unwanted() throws {
    var bench = try ReplicaBench()
    let listener = bench.listen(Self.all)
    bench.listen(.document(DocumentKey(unchecked: "a/1")))
    bench.tell(whole, holds: [entry("1", 1, at: 50)], at: 100)
    bench.tell(one, holds: [entry("1", 1, at: 50)], at: 100)
    bench.run { $0.watchStreamClosed(isFailure: false) }
    bench.clear()
    bench.run { $0.unlisten(listener) }
    bench.tell(one, holds: [entry("1", 2, at: 120)], at: 130)
    bench.tell(.target(WatchTargetChange(.added, targets: [whole])))
    bench.tell(.target(WatchTargetChange(.removed(nil), targets: [whole])))
    #expect(bench.snapshots.map(values) == [[2]])
  }
}
