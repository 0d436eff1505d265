import TernCore
import TernDocumentReplica
import TernQuery
import Testing

/// Listeners of the cache and of the server that share a view.
@Suite("Views shared by listeners of cache and server")
struct SharedViewTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))

  @Test("a listener of the cache hears that the server is not asked any more")
  func serverLeaves() throws {
    var bench = try ReplicaBench()
    let server = bench.listen(all)
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 100)
    bench.listen(all, source: .cache)
    #expect(bench.snapshots.last?.isFromCache == false)
    bench.clear()
    bench.run { $0.unlisten(server) }
    #expect(bench.snapshots.map(\.isFromCache) == [true])
    #expect(bench.snapshots.first?.changes.isEmpty == true)
    #expect(bench.snapshots.first?.documents.map(\.key.id) == ["1"])
  }

  @Test("a listener without metadata hears of it with the next document")
  func serverLeavesSilently() throws {
    var bench = try ReplicaBench()
    let server = bench.listen(all, includesMetadata: false)
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 100)
    bench.listen(all, includesMetadata: false, source: .cache)
    bench.clear()
    bench.run { $0.unlisten(server) }
    #expect(bench.snapshots.isEmpty)
    bench.write(set("2", 2))
    #expect(bench.snapshots.map(\.isFromCache) == [true])
    #expect(bench.snapshots.map(\.hasPendingWrites) == [true])
  }

  @Test("the view is the server's again when a listener asks it again")
  func serverComesBack() throws {
    var bench = try ReplicaBench()
    let first = bench.listen(all)
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 100)
    bench.listen(all, source: .cache)
    bench.run { $0.unlisten(first) }
    bench.tell(.target(WatchTargetChange(.removed(nil), targets: [2])))
    bench.clear()
    bench.listen(all)
    #expect(bench.snapshots.map(\.isFromCache) == [true])
    #expect(bench.watched.map(\.resume) == [.token([1])])
    bench.clear()
    bench.tell(2, holds: [], at: 200)
    #expect(bench.snapshots.map(\.isFromCache) == [false, false])
  }

  @Test("as long as one listener asks the server, nothing changes for the others")
  func oneOfTwoLeaves() throws {
    var bench = try ReplicaBench()
    let first = bench.listen(all)
    bench.listen(all)
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 100)
    bench.listen(all, source: .cache)
    bench.clear()
    bench.run { $0.unlisten(first) }
    #expect(bench.snapshots.isEmpty)
  }

  @Test("documents in doubt are not asked for on behalf of the cache, and again with the server")
  func limboEnds() throws {
    var bench = try ReplicaBench()
    let first = bench.listen(all)
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 100)
    bench.listen(all, source: .cache)
    bench.tell(.removed(entry("1", 1).key, readTime: nil, removed: [2]))
    bench.tellSnapshot(200)
    #expect(bench.replica.limbo.active.values.map(\.id) == ["1"])
    bench.run { $0.unlisten(first) }
    #expect(bench.replica.limbo.active.isEmpty)
    #expect(bench.snapshots.last?.isFromCache == true)
    bench.tell(.target(WatchTargetChange(.removed(nil), targets: [2])))
    bench.listen(all)
    bench.tell(2, holds: [], at: 300)
    #expect(bench.replica.limbo.active.values.map(\.id) == ["1"])
  }

  @Test("a read that was the last to ask the server does not overtake what it has read")
  func readLeaves() throws {
    var bench = try ReplicaBench()
    bench.run { $0.get(all, from: .server).effects }
    bench.listen(all, source: .cache)
    bench.clear()
    bench.tell(2, holds: [entry("1", 1, at: 50)], at: 100)
    #expect(bench.answers.count == 1)
    #expect(bench.snapshots.map(\.isFromCache) == [false, true])
    #expect(bench.snapshots.map { $0.changes.count } == [1, 0])
  }
}
