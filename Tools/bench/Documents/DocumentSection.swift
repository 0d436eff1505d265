import TernCore
import TernDocumentReplica
import TernQuery
import TernStorage

/// The costs of the cache of documents: one document, queries with and without indexes, offline by
/// default, its disk.
struct DocumentSection {
  /// The number of cached documents.
  let count: Int
  /// The only store to measure; all of them when it is `nil`.
  let only: StoreKind?

  func run() throws {
    print("\(count) documents of ten fields: measured, limit")
    for kind in StoreKind.allCases.filter({ only ?? $0 == $0 }).map(\.rawValue) {
      try LiveDocuments.measure(kind)
      try OfflineDocuments.measure(kind)
      let parts = try CachedDocuments(kind)
      defer { parts.remove() }
      try measure(kind, parts)
    }
  }

  private func measure(_ kind: String, _ parts: CachedDocuments) throws {
    var cache = try parts.open()
    let fill = try seconds { try parts.fill(&cache, count) }
    report(kind, "taking in one document, µs", fill * 1e6 / Double(count), nil)
    let data = Double(parts.encodedBytes)
    report(kind, "rows beside the encoded documents", Double(cache.byteCount) / data, 1.5)
    try parts.reopen()
    if let disk = parts.diskBytes {
      report(kind, "disk beside the encoded documents", Double(disk) / data, 1.5)
    }
    let opening = try seconds { cache = try parts.open() }
    report(kind, "opening, ms", opening * 1e3, 100)
    try documents(kind, &cache, warm: false)
    // What looks at every document has limits for 100,000 of them only.
    let limits: [Double?] = count > 100_000 ? [nil, nil, nil] : [8, 20, 15]
    try queries(kind, &cache, "without index", limits, cold: true)
    let whole = best(7) { cache.run(CachedDocuments.whole).documents.count }
    report(kind, "whole collection, ms", whole * 1e3, count > 100_000 ? nil : 150)
    try documents(kind, &cache, warm: true)
    let index = seconds {
      cache.setIndexes(CachedDocuments.indexes)
      while cache.backfillIndexes(limit: 10_000) > 0 {}
    }
    report(kind, "three indexes over one document, µs", index * 1e6 / Double(count), nil)
    try cache.commit()
    try queries(kind, &cache, "with index", [1.5, 1, 1], cold: false)
    try parts.reopen()
    cache = try parts.open()
    try queries(kind, &cache, "with index, just opened", [nil, nil, nil], cold: true)
    try parts.reopen()
    cache = try parts.open()
    try peaks(kind, &cache)
  }

  /// Measures the memory that queries with a limit take beside the store: packed documents for the
  /// next ones, within their own limit, and otherwise independent of the collection's size.
  private func peaks(_ kind: String, _ cache: inout DocumentCache) throws {
    for (index, name) in [(true, "with"), (false, "without")] {
      if !index { cache.deleteAllIndexes() }
      for query in try CachedDocuments.queries().dropFirst() {
        ProcessMemory.giveBack()
        ProcessMemory.forgetPeak()
        let before = ProcessMemory.resident
        _ = cache.run(query.query)
        let peak = Double(ProcessMemory.peak - before) / 1_048_576
        report(kind, "\(query.name) \(name) index, peak, MiB", peak, index ? 4 : 128)
      }
    }
  }

  private func documents(_ kind: String, _ cache: inout DocumentCache, warm: Bool) throws {
    var times: [Double] = []
    for number in 0..<2_000 {
      let key = CachedDocuments.key((number &* 7_919) % (warm ? 500 : count))
      var document = Document.invalid(key)
      times.append(seconds { document = cache.document(key) })
      if !document.isFound { throw BenchFailure(reason: "\(key) is not cached") }
    }
    let name = warm ? "one document, met before, p50, µs" : "one document p50, µs"
    report(kind, name, times.sorted()[times.count / 2] * 1e6, kind == "memory" ? 5 : nil)
  }

  private func queries(
    _ kind: String, _ cache: inout DocumentCache, _ name: String, _ limits: [Double?], cold: Bool
  ) throws {
    let counts = [CachedDocuments.statePopulation, 100, 20]
    for ((query, limit), expected) in zip(zip(try CachedDocuments.queries(), limits), counts) {
      let first = seconds { _ = cache.run(query.query) }
      if cold { report(kind, "\(query.name) \(name), first time, ms", first * 1e3, nil) }
      var returned = 0
      let time = best(15) {
        returned = cache.run(query.query).documents.count
        return returned
      }
      guard returned == expected else {
        throw BenchFailure(reason: "\(query.name) gave \(returned) documents")
      }
      report(kind, "\(query.name) \(name), ms", time * 1e3, limit)
    }
  }

  /// Returns the shortest of some rounds: the time of the work when no other process uses the
  /// processor.
  private func best(_ rounds: Int, _ body: () -> Int) -> Double {
    (0..<rounds).map { _ in BenchLine.seconds { _ = body() } }.min() ?? 0
  }

  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    try BenchLine.seconds(body)
  }

  private func report(_ kind: String, _ name: String, _ value: Double, _ limit: Double?) {
    let shown = (value * 1_000).rounded() / 1_000
    guard let limit else { return print("  \(kind) \(name): \(shown)") }
    print("  \(kind) \(name): \(shown), \(limit)  \(value <= limit ? "ok" : "miss")")
  }
}
