import TernCore
import TernQuery
import Testing

@testable import TernDocumentReplica

@Suite("Targets that the server ends while requests are on their way")
struct EndedTargetTests {
  private static let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))
  private let target: Int32 = 2
  private let denied = DocumentStatus(.permissionDenied, "no")

  private var end: WatchChange {
    .target(WatchTargetChange(.removed(denied), targets: [target]))
  }

  private var left: WatchChange {
    .target(WatchTargetChange(.removed(nil), targets: [target]))
  }

  /// A bench whose listener has heard everything, and has begun again.
  private func begunAgain() throws -> ReplicaBench {
    var bench = try ReplicaBench()
    let first = bench.listen(Self.all)
    bench.tell(target, holds: [entry("1", 1, at: 50)], at: 100)
    bench.run { $0.unlisten(first) }
    bench.clear()
    bench.listen(Self.all)
    #expect(bench.watched.map(\.id) == [target], "the same target is asked for again")
    return bench
  }

  @Test("a listener that begins again is not ended with the one before")
  func earlierEnd() throws {
    var bench = try begunAgain()
    bench.tell(end, left)
    #expect(bench.failures.isEmpty)
    bench.tell(target, holds: [entry("1", 2, at: 120)], at: 130)
    #expect(bench.snapshots.last?.isFromCache == false)
    #expect(bench.snapshots.last?.documents.map(\.fields) == [["x": 2]])
  }

  @Test("a listener that begins again is ended when its own request is refused")
  func ownEnd() throws {
    var bench = try begunAgain()
    bench.tell(end, left, end)
    #expect(bench.failures == [denied])
  }

  @Test("a refused request counts as answered for those behind it")
  func refusedRequest() throws {
    var bench = try ReplicaBench()
    let first = bench.listen(Self.all)
    bench.run { $0.unlisten(first) }
    bench.listen(Self.all)
    // The answers to the first request, to its end, and to the second request.
    bench.tell(end, left)
    #expect(bench.failures.isEmpty)
    bench.tell(target, holds: [entry("1", 1, at: 50)], at: 100)
    #expect(bench.snapshots.last?.isFromCache == false)
    bench.tell(end)
    #expect(bench.failures == [denied])
  }

  @Test("answers to requests before a refusal are not taken for those of a later request")
  func lateAnswers() throws {
    var bench = try begunAgain()
    bench.tell(end)
    bench.clear()
    bench.tell(left, end)
    #expect(bench.failures == [denied])
    bench.listen(Self.all)
    bench.tell(.changed(entry("1", 9, at: 140), targets: [target], removed: []))
    bench.tellSnapshot(150)
    #expect(bench.snapshots.allSatisfy { $0.isFromCache }, "nothing was answered yet")
    bench.tell(target, holds: [entry("1", 3, at: 160)], at: 170)
    #expect(bench.snapshots.last?.isFromCache == false)
    #expect(bench.snapshots.last?.documents.map(\.fields) == [["x": 3]])
  }
}
