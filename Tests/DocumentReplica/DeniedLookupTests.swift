import TernCore
import TernQuery
import Testing

@testable import TernDocumentReplica

@Suite("Lookups of documents in doubt that the server denies")
struct DeniedLookupTests {
  private static let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))
  private let denied = DocumentStatus(.permissionDenied, "no")
  private let third = DocumentKey(unchecked: "a/3")
  private let entries = [entry("1", 1, at: 50), entry("2", 2, at: 50), entry("3", 3, at: 50)]

  /// Lets a listener show two documents of which the second is not in the server's result: it has
  /// taken the place of one that this device has deleted.
  private func doubt(_ bench: inout ReplicaBench, as target: Int32) throws {
    bench.listen(try Self.all.ordered(by: "x").first(2))
    bench.tell(target, holds: Array(entries.prefix(2)), at: 110)
    bench.clear()
    bench.write(.delete(DocumentKey(unchecked: "a/2")))
    #expect(bench.watched.map(\.purpose) == [.limboResolution])
  }

  private func deny(_ bench: inout ReplicaBench) throws {
    let lookup = try #require(bench.watched.last)
    bench.tell(.target(WatchTargetChange(.removed(denied), targets: [lookup.id])))
  }

  private func isCached(_ bench: inout ReplicaBench) -> Bool {
    bench.run { $0.get(.document(third), from: .cache).effects }
    guard case .success(let found)? = bench.answers.last else { return false }
    return !found.documents.isEmpty
  }

  @Test("a document that another listener's result has stays in it")
  func vouched() throws {
    var bench = try ReplicaBench()
    let whole = bench.listen(Self.all)
    bench.tell(2, holds: entries, at: 100)
    try doubt(&bench, as: 4)
    try deny(&bench)
    let stays = bench.snapshots.allSatisfy { $0.documents.contains { $0.key == third } }
    let isKept = isCached(&bench)
    #expect(stays && isKept)
    // From here on nothing tells of it any more.
    bench.clear()
    bench.run { $0.unlisten(whole) }
    #expect(bench.watched.map(\.purpose) == [.limboResolution])
    try deny(&bench)
    let isStillKept = isCached(&bench)
    #expect(!isStillKept)
    #expect(bench.snapshots.last?.documents.map(\.key.id) == ["1"])
  }

  @Test("a document that leaves the other result is asked for again")
  func left() throws {
    var bench = try ReplicaBench()
    bench.listen(Self.all)
    bench.tell(2, holds: entries, at: 100)
    try doubt(&bench, as: 4)
    try deny(&bench)
    bench.clear()
    bench.tell(
      .removed(third, readTime: DocumentVersion(microseconds: 120), removed: [2]))
    bench.tellSnapshot(120)
    let isAskedAgain = bench.watched.contains { $0.purpose == .limboResolution }
    #expect(isAskedAgain)
  }

  @Test("a result that held a document that was forgotten does not go on from where it ended")
  func lostResult() throws {
    var bench = try ReplicaBench()
    let whole = bench.listen(Self.all)
    bench.tell(2, holds: entries, at: 100)
    bench.run { $0.unlisten(whole) }
    try doubt(&bench, as: 4)
    try deny(&bench)
    let isKept = isCached(&bench)
    #expect(!isKept)
    bench.clear()
    bench.listen(Self.all)
    let again = try #require(bench.watched.last)
    #expect(again.id == 2)
    #expect(again.resume == nil, "the server would not tell of the document")
  }
}
