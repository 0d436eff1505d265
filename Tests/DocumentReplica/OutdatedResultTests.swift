import TernCore
import TernDocumentReplica
import TernQuery
import Testing

/// The server's documents of a view, when they were learnt otherwise than from a listen that went
/// on without a break.
@Suite("Views whose result was known before")
struct OutdatedResultTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))

  private func bundle(of documents: [Document], at version: Int64) -> DocumentBundle {
    let readTime = DocumentVersion(microseconds: version)
    return DocumentBundle(
      metadata: BundleMetadata(id: "b", createTime: readTime),
      queries: [NamedQuery(name: "all", query: all, readTime: readTime)],
      documents: documents.map {
        BundledDocument(document: $0, readTime: readTime, queries: ["all"])
      })
  }

  /// A listener of the cache that shows two documents the server counted once.
  private func cached() throws -> ReplicaBench {
    var bench = try ReplicaBench()
    let server = bench.listen(all)
    bench.tell(2, holds: [entry("1", 1, at: 50), entry("2", 2, at: 60)], at: 100)
    bench.listen(all, source: .cache)
    bench.run { $0.unlisten(server) }
    bench.tell(.target(WatchTargetChange(.removed(nil), targets: [2])))
    bench.clear()
    return bench
  }

  @Test("what a bundle does not count is in doubt once the server is asked")
  func bundleUnderAnOpenView() throws {
    var bench = try cached()
    bench.run { $0.load(bundle(of: [entry("1", 1, at: 50)], at: 200)) }
    bench.listen(all)
    #expect(bench.watched.map(\.resume) == [.readTime(DocumentVersion(microseconds: 200))])
    bench.clear()
    bench.tell(2, holds: [], at: 300)
    #expect(bench.replica.limbo.active.values.map(\.id) == ["2"])
    #expect(bench.snapshots.allSatisfy { $0.isFromCache })
  }

  @Test("what a bundle brings does not replace what the server is telling")
  func bundleWhileTheServerIsAsked() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 100)
    bench.run { $0.load(bundle(of: [entry("2", 2, at: 60)], at: 200)) }
    #expect(bench.replica.cache.target(2)?.resumeToken == [1])
    // The document that only the bundle has is asked for by its name.
    #expect(bench.replica.limbo.active.values.map(\.id) == ["2"])
    bench.tellSnapshot(300)
    #expect(bench.snapshots.last?.documents.map(\.key.id) == ["1", "2"])
    #expect(bench.snapshots.last?.isFromCache == true)
  }

  @Test("what an answer that broke off had counted is not counted by the next")
  func brokenAnswer() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(.target(WatchTargetChange(.added, targets: [2])))
    bench.tell(.changed(entry("1", 1, at: 50), targets: [2], removed: []))
    bench.tellSnapshot(100)
    bench.run { $0.watchStreamClosed() }
    #expect(bench.watched.last?.resume == nil)
    bench.clear()
    bench.tell(2, holds: [entry("2", 2, at: 60)], at: 200)
    #expect(bench.replica.limbo.active.values.map(\.id) == ["1"])
    #expect(bench.snapshots.map(\.isFromCache) == [true])
    #expect(bench.snapshots.last?.documents.map(\.key.id) == ["1", "2"])
  }

  @Test("what an answer that broke off had counted and the next counts again stays")
  func repeatedAnswer() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(.target(WatchTargetChange(.added, targets: [2])))
    bench.tell(.changed(entry("1", 1, at: 50), targets: [2], removed: []))
    bench.tellSnapshot(100)
    bench.run { $0.watchStreamClosed() }
    bench.clear()
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 200)
    #expect(bench.replica.limbo.active.isEmpty)
    #expect(bench.snapshots.map(\.isFromCache) == [false])
  }
}
