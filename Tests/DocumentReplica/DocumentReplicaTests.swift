import TernCore
import TernDocumentReplica
import TernQuery
import Testing

@Suite("Replica of documents")
struct DocumentReplicaTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))
  private let x = DocumentFieldPath(unchecked: ["x"])

  private func keys(_ snapshot: DocumentViewSnapshot?) -> [String] {
    snapshot?.documents.map(\.key.id) ?? []
  }

  @Test("a write is heard twice: pending, and as the server has it")
  func twoEvents() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [], at: 100)
    bench.clear()
    let batch = bench.write(set("1", 7))
    #expect(bench.snapshots.count == 1)
    #expect(bench.snapshots[0].hasPendingWrites && !bench.snapshots[0].isFromCache)
    bench.acknowledge(batch, at: 200)
    #expect(bench.snapshots.count == 1)
    bench.tell(.changed(entry("1", 7, at: 200), targets: [2], removed: []))
    bench.tellSnapshot(200)
    #expect(bench.snapshots.count == 2)
    #expect(!bench.snapshots[1].hasPendingWrites)
    #expect(bench.snapshots[1].changes.map(\.kind) == [.metadata])
  }

  @Test("all writes of an accepted batch to one document are kept, not only the first")
  func severalWritesToOne() throws {
    var bench = try ReplicaBench()
    let key = DocumentKey(unchecked: "a/1")
    let batch = bench.write(
      set("1", 7),
      DocumentMutation(key, .patch(["x": 8], mask: DocumentFieldMask([x]))),
      DocumentMutation(
        key, .patch(.empty, mask: .empty),
        transforms: [DocumentFieldTransform(x, .increment(.integer(1)))]))
    bench.acknowledge(batch, at: 200)
    bench.run { $0.get(.document(key), from: .cache).effects }
    #expect(try bench.answers.last?.get().documents.first?.fields == ["x": 9])
  }

  @Test("a refused write goes at once, also over one that is accepted and still to come")
  func refusedOverAccepted() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [], at: 100)
    let accepted = bench.write(set("1", 7))
    let refused = bench.write(set("1", 8))
    bench.acknowledge(accepted, at: 200)
    bench.clear()
    bench.run { $0.reject(refused, DocumentStatus(.permissionDenied, "")) }
    #expect(bench.snapshots.last?.documents.first?.fields == ["x": 7])
    #expect(bench.snapshots.last?.hasPendingWrites == true)
    bench.tell(.changed(entry("1", 7, at: 200), targets: [2], removed: []))
    bench.tellSnapshot(200)
    #expect(bench.snapshots.last?.hasPendingWrites == false)
    #expect(bench.snapshots.last?.isFromCache == false)
  }

  @Test("a wait for pending writes does not end with a later one that could not be queued")
  func waitPastFullQueue() throws {
    var bench = try ReplicaBench()
    let first = bench.write(set("1", 1))
    bench.run { $0.waitForPendingWrites().effects }
    let second = bench.write(set("2", 2))
    bench.run { $0.reject(second, DocumentStatus(.resourceExhausted, "")) }
    #expect(bench.waits.isEmpty)
    bench.acknowledge(first, at: 100)
    #expect(bench.waits == [false])
  }

  @Test("what another client undid before the server reported it does not stay")
  func undoneWrite() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [], at: 100)
    let batch = bench.write(set("1", 7))
    bench.acknowledge(batch, at: 200)
    bench.clear()
    // As of 300 the target is complete without the document.
    bench.tell(.target(WatchTargetChange(.none, targets: [2], resumeToken: [2])))
    bench.tellSnapshot(300)
    #expect(bench.watched.map(\.purpose) == [.limboResolution])
    #expect(bench.snapshots.last?.isFromCache == true)
    bench.tell(1, holds: [], at: 300)
    #expect(keys(bench.snapshots.last) == [])
    #expect(bench.snapshots.last?.isFromCache == false)
  }

  @Test("a window that loses a document is filled from the cache, and only then asked again")
  func refill() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: (1...5).map { entry("\($0)", Int64($0), at: 100) }, at: 100)
    bench.listen(try all.ordered(by: x).first(2))
    bench.clear()
    bench.write(.delete(DocumentKey(unchecked: "a/1")))
    let window = bench.snapshots.last { $0.query.limit != nil }
    #expect(keys(window) == ["2", "3"])
    #expect(window?.changes.map(\.kind) == [.removed, .added])
  }

  @Test("what one target reported of a document is not undone by what another reports of before")
  func newestCounts() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.listen(try all.where(x, .greaterThan, 0))
    bench.tell(2, holds: [entry("1", 1, at: 100)], at: 100)
    bench.tell(4, holds: [entry("1", 1, at: 100)], at: 100)
    bench.clear()
    bench.tell(.changed(entry("1", 3, at: 300), targets: [2], removed: []))
    bench.tell(.changed(entry("1", 2, at: 200), targets: [4], removed: []))
    bench.tellSnapshot(300)
    #expect(bench.snapshots.map { $0.documents.first?.fields } == [["x": 3], ["x": 3]])
    let gone = DocumentVersion(microseconds: 500)
    bench.tell(.deleted(DocumentKey(unchecked: "a/1"), readTime: gone, removed: [2, 4]))
    bench.tell(.changed(entry("1", 4, at: 400), targets: [4], removed: []))
    bench.tell(.removed(DocumentKey(unchecked: "a/1"), readTime: nil, removed: [4]))
    bench.tellSnapshot(500)
    #expect(bench.snapshots.suffix(2).map { keys($0) } == [[], []])
    #expect(bench.snapshots.suffix(2).allSatisfy { !$0.isFromCache })
  }

  @Test("answers without a request do no harm")
  func surplusAnswers() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    for _ in 0..<3 { bench.tell(.target(WatchTargetChange(.added, targets: [2]))) }
    bench.tell(.target(WatchTargetChange(.removed(nil), targets: [98])))
    bench.tell(2, holds: [entry("1", 1, at: 100)], at: 100)
    #expect(keys(bench.snapshots.last) == ["1"])
    #expect(bench.snapshots.last?.isFromCache == false)
  }

  @Test("what is said of a target before its request is answered is not meant for it")
  func staleGeneration() throws {
    var bench = try ReplicaBench()
    let first = bench.listen(all)
    bench.tell(2, holds: [entry("1", 1, at: 100)], at: 100)
    bench.run { $0.unlisten(first) }
    bench.listen(all)
    bench.clear()
    bench.tell(.changed(entry("2", 2, at: 150), targets: [2], removed: []))
    bench.tellSnapshot(150)
    #expect(bench.snapshots.isEmpty)
    bench.tell(.target(WatchTargetChange(.removed(nil), targets: [2])))
    bench.tell(2, holds: [entry("3", 3, at: 200)], at: 200)
    #expect(keys(bench.snapshots.last) == ["1", "3"])
  }

  @Test("ten batches are on their way at once, and the next follows an answer")
  func pipeline() throws {
    var bench = try ReplicaBench()
    for number in 1...12 { bench.write(set("\(number)", 0)) }
    #expect(bench.sent == Array(1...10))
    bench.acknowledge(1, at: 100)
    #expect(bench.sent == Array(1...11))
  }

  @Test("a refusal takes back what was shown; trouble on the way does not")
  func refusals() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.write(set("1", 1))
    bench.run { $0.writeStreamClosed(DocumentStatus(.unavailable, "")) }
    #expect(bench.settled.isEmpty && bench.sent == [1, 1])
    bench.run { $0.writeStreamClosed(DocumentStatus(.aborted, "")) }
    #expect(bench.settled.isEmpty)
    bench.run { $0.writeStreamClosed(DocumentStatus(.permissionDenied, "")) }
    #expect(bench.settled == [1])
    #expect(keys(bench.snapshots.last) == [])
  }

  @Test("waits end when what was pending is settled, and not by later writes")
  func waits() throws {
    var bench = try ReplicaBench()
    bench.run { $0.waitForPendingWrites().effects }
    #expect(bench.waits == [false])
    bench.write(set("1", 1))
    bench.write(set("2", 1))
    bench.run { $0.waitForPendingWrites().effects }
    bench.write(set("3", 1))
    bench.acknowledge(1, at: 100)
    #expect(bench.waits == [false])
    bench.run { $0.reject(2, DocumentStatus(.permissionDenied, "")) }
    #expect(bench.waits == [false, false])
    bench.run { $0.waitForPendingWrites().effects }
    bench.run { $0.switchUser(to: "another") }
    #expect(bench.waits == [false, false, true])
  }

  @Test("what is pending goes with its user, also over what is accepted and still to come")
  func pendingOfFormerUser() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.tell(2, holds: [], at: 100)
    let accepted = bench.write(set("1", 7))
    bench.write(set("1", 8))
    bench.write(set("2", 8))
    bench.acknowledge(accepted, at: 200)
    bench.run { $0.switchUser(to: "another") }
    #expect(keys(bench.snapshots.last) == ["1"])
    #expect(bench.snapshots.last?.documents.first?.fields == ["x": 7])
    bench.run { $0.switchUser(to: "") }
    #expect(keys(bench.snapshots.last) == ["1", "2"])
    #expect(bench.snapshots.last?.documents.first?.fields == ["x": 8])
  }

  @Test("the signal that all are in step follows a round, once")
  func inSync() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.listen(try all.ordered(by: x))
    bench.run { $0.listenInSync().effects }
    #expect(bench.inSyncCount == 1)
    bench.write(set("1", 1))
    #expect(bench.inSyncCount == 2)
  }

  @Test("a refused target ends its listeners and no others")
  func refusedTarget() throws {
    var bench = try ReplicaBench()
    bench.listen(all)
    bench.listen(DocumentQuery.collection(CollectionPath(unchecked: "b")))
    bench.tell(
      .target(
        WatchTargetChange(.removed(DocumentStatus(.permissionDenied, "no")), targets: [4])))
    #expect(bench.failures.map(\.code) == [.permissionDenied])
    bench.tell(2, holds: [entry("1", 1, at: 100)], at: 100)
    #expect(keys(bench.snapshots.last) == ["1"])
  }
}
