import TernCore
import TernDocumentReplica
import TernQuery
import Testing

@Suite("Single reads")
struct DocumentGetTests {
  private let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))
  private let one = DocumentQuery.document(DocumentKey(unchecked: "a/1"))

  /// The answer in short: the documents and whether they are the cache's, or the failure.
  private func answer(_ result: DocumentGetResult?) -> String {
    switch result {
    case .success(let snapshot):
      "\(snapshot.documents.map(\.key.id)) \(snapshot.isFromCache ? "cache" : "server")"
    case .failure(let status): "\(status.code)"
    case nil: "none"
    }
  }

  private func get(
    _ query: DocumentQuery, _ source: DocumentGetSource, knows: Bool
  ) throws -> String {
    var bench = try ReplicaBench()
    if knows {
      bench.listen(all)
      bench.tell(2, holds: [entry("1", 1, at: 100)], at: 100)
    }
    bench.run { $0.setNetwork(isEnabled: false) }
    bench.run { $0.get(query, from: source).effects }
    return answer(bench.answers.last)
  }

  @Test("only so many reads wait, and those that end make room")
  func limit() throws {
    var limits = DocumentReplica.Limits()
    limits.reads = 2
    var bench = try ReplicaBench(limits: limits)
    var last: DocumentListenerID?
    for _ in 1...3 {
      bench.run { replica in
        let (id, effects) = replica.get(all, from: .server)
        last = last ?? id
        return effects
      }
    }
    #expect(bench.answers.map { answer($0) } == ["resourceExhausted"])
    // Who gives up makes room, too.
    bench.run { replica in last.map { replica.unlisten($0) } ?? [] }
    bench.run { $0.get(all, from: .server).effects }
    #expect(bench.answers.count == 1)
    bench.tell(2, holds: [entry("1", 1, at: 100)], at: 100)
    #expect(bench.answers.dropFirst().map { answer($0) } == ["[\"1\"] server", "[\"1\"] server"])
    bench.clear()
    bench.run { $0.get(all, from: .server).effects }
    #expect(bench.answers.isEmpty)
  }

  @Test("offline, a read answers from the cache, or says that it cannot")
  func offline() throws {
    #expect(try get(one, .serverOrCache, knows: true) == "[\"1\"] cache")
    #expect(try get(one, .serverOrCache, knows: false) == "unavailable")
    #expect(try get(all, .serverOrCache, knows: false) == "[] cache")
    #expect(try get(one, .server, knows: true) == "unavailable")
    #expect(try get(all, .server, knows: true) == "unavailable")
    #expect(try get(one, .cache, knows: true) == "[\"1\"] cache")
    #expect(try get(one, .cache, knows: false) == "unavailable")
    #expect(try get(all, .cache, knows: false) == "[] cache")
  }

  @Test("online, a read waits for the server's answer and then asks no more")
  func online() throws {
    var bench = try ReplicaBench()
    bench.run { $0.get(one, from: .serverOrCache).effects }
    #expect(bench.answers.isEmpty)
    bench.tell(2, holds: [entry("1", 1, at: 100)], at: 100)
    #expect(bench.answers.map(answer) == ["[\"1\"] server"])
    bench.tell(.changed(entry("1", 2, at: 200), targets: [2], removed: []))
    bench.tellSnapshot(200)
    #expect(bench.answers.count == 1)
  }

  @Test("a read that cannot reach the server is answered when the client knows that it is offline")
  func patience() throws {
    var bench = try ReplicaBench()
    bench.run { $0.get(all, from: .serverOrCache).effects }
    #expect(bench.answers.isEmpty)
    bench.run { $0.onlineTimerFired() }
    #expect(bench.answers.map(answer) == ["[] cache"])
  }

  @Test("a document known to be gone is answered as such")
  func knownToBeGone() throws {
    var bench = try ReplicaBench()
    bench.listen(one)
    bench.tell(2, holds: [], at: 100)
    bench.run { $0.get(one, from: .cache).effects }
    #expect(bench.answers.map(answer) == ["[] cache"])
  }
}
