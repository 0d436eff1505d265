import TernCore
import TernDocumentReplica
import TernQuery
import TernStorageMemory

/// The cost of keeping a listener up to date over many cached documents.
enum DocumentViewSection {
  private static let count = 100_000

  static func run() throws {
    print("documents-client: \(count) cached documents, a live query of the first 100")
    let cache = try DocumentCache(store: MemoryStore(), prefix: [1])
    var replica = DocumentReplica(
      cache: cache, database: try DocumentDatabase(projectID: "bench"))
    fill(&replica)
    let query = try DocumentQuery.collection(CollectionPath("a"))
      .ordered(by: DocumentFieldPath(dotted: "rank")).first(100)
    let clock = ContinuousClock()
    let start = clock.now
    _ = replica.listen(query)
    report("first result, ms", [(clock.now - start) / .milliseconds(1)])
    var batch: UInt64 = 0
    // Beyond the window there is no event; inside it, one document moves among the hundred.
    report("write beyond the window p50, µs", times(&replica, &batch) { 500 + $0 % 90_000 })
    report("write in the window to event p50, µs", times(&replica, &batch) { 1 + $0 % 90 })
  }

  private static func times(
    _ replica: inout DocumentReplica, _ batch: inout UInt64, _ place: (Int) -> Int
  ) -> [Double] {
    let clock = ContinuousClock()
    var times: [Double] = []
    for number in 0..<2_000 {
      batch += 1
      let id = place(number &* 7)
      let mutation = DocumentMutation(
        key(id), .set(["rank": .integer(Int64(id)), "round": .integer(Int64(number))]))
      let start = clock.now
      let prepared = replica.cache.prepare(
        [mutation], id: batch, user: "", at: DocumentTimestamp(uncheckedMicroseconds: 1))
      _ = replica.plan(prepared)
      times.append((clock.now - start) / .microseconds(1))
      // Answered at once, so that the queue stays as short as that of a device online.
      let version = DocumentVersion(microseconds: Int64(1_000 + batch))
      _ = replica.acknowledge(
        batch, version: version, results: [DocumentWriteResult(version: version)])
    }
    return times
  }

  private static func fill(_ replica: inout DocumentReplica) {
    let version = DocumentVersion(microseconds: 100)
    for start in stride(from: 0, to: count, by: 1_000) {
      var event = DocumentServerEvent(version: version)
      for number in start..<start + 1_000 {
        let fields: DocumentFields = [
          "rank": .integer(Int64(number)), "name": .string("document number \(number)"),
        ]
        event.documents.append(Document(key(number), .found(fields), version: version))
      }
      _ = replica.cache.applyServer(event)
    }
  }

  private static func key(_ number: Int) -> DocumentKey {
    DocumentKey(unchecked: "a/\(100_000 + number)")
  }

  private static func report(_ name: String, _ values: [Double]) {
    let sorted = values.sorted()
    print("  \(name): \((sorted[sorted.count / 2] * 10).rounded() / 10)")
  }
}
