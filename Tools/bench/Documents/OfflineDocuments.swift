import TernCore
import TernDocumentAuthority
import TernDocumentReplica
import TernQuery

/// Queries of a device that has been offline for long, with nothing set up: what they cost when the
/// collection they look in is ten times as large.
///
/// The cache is set up as clients of the native API do: queries that look at much more than they
/// return get an index. Acceptance row F29.
enum OfflineDocuments {
  private static let counts = (small: 10_000, large: 100_000)
  /// The factor by which the larger collection may be slower: 3 times, for 10 times the documents.
  private static let growthLimit = 3.0

  static func measure(_ kind: String) throws {
    let small = try run(kind, counts.small)
    let large = try run(kind, counts.large)
    for ((name, few), (_, many)) in zip(small, large) {
      let growth = many.later / few.later
      print(
        "  \(kind) offline, nothing set up, \(name): first \(milliseconds(many.first)) ms, then "
          + "\(milliseconds(many.later)) ms, \(many.read) documents read;",
        "of a tenth as many \(milliseconds(few.later)) ms; \(BenchLine.tenths(growth)) times,",
        "\(growthLimit)  \(growth <= growthLimit ? "ok" : "miss")")
    }
  }

  private struct Times {
    /// Of the first run, which finds no index, and of the later ones, in seconds.
    var first: Double
    var later: Double
    /// The documents that a later run looked at.
    var read: Int
  }

  private static func run(_ kind: String, _ count: Int) throws -> [(String, Times)] {
    let parts = try CachedDocuments(kind)
    defer { parts.remove() }
    var cache = try parts.open()
    try parts.fill(&cache, count)
    try parts.reopen()
    cache = try parts.open()
    cache.createsIndexes = true
    return try CachedDocuments.queries().map { name, query in
      let first = BenchLine.seconds { _ = cache.run(query) }
      // A client does this in its idle turns.
      while cache.backfillIndexes() > 0 {}
      try cache.commit()
      var read = 0
      let times = (0..<15).map { _ in
        BenchLine.seconds { read = cache.run(query).plan.documentsRead }
      }
      return (name, Times(first: first, later: times.min() ?? 0, read: read))
    }
  }

  private static func milliseconds(_ seconds: Double) -> String {
    let rounded = Int((seconds * 1e5).rounded())
    return "\(rounded / 100)." + (rounded % 100 < 10 ? "0" : "") + "\(rounded % 100)"
  }
}
