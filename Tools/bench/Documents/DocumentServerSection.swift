import Foundation
import TernCore
import TernDocumentAuthority
import TernLedger
import TernQuery
import TernStorage
import TernStorageMemory

/// The server's engine for documents without a network: what commits, queries and listeners cost.
enum DocumentServerSection {
  private static let number = DocumentFieldPath(unchecked: ["n"])
  private static let state = DocumentFieldPath(unchecked: ["s"])

  static func run(rounds: Int) throws -> [BenchLine] {
    [
      try fanOut(rounds: rounds), try resume(rounds: rounds), try firstOfMany(rounds: rounds),
      try fixedAndSorted(rounds: rounds), try commits(rounds: rounds),
    ]
  }

  /// 10,000 listeners on 100 distinct queries; the baseline asks every listener's query.
  private static func fanOut(rounds: Int) throws -> BenchLine {
    let bench = try DocumentBench()
    let watch = DocumentWatch(bench.authority)
    let before = ProcessMemory.resident
    for listener in 0..<10_000 {
      let target = WatchTarget(id: 1, subject: .query(try query(listener % 100).target))
      _ = try bench.read { reader throws(StorageError) in
        try watch.listen(target, on: listener, in: reader)
      }
    }
    let perListener = (ProcessMemory.resident - before) / 10_000
    let matchers = try (0..<10_000).map { DocumentMatcher(try query($0 % 100)) }
    let commits = 200
    var told = 0
    func change(_ value: Int) -> DocumentMutation {
      bench.set("rooms/r", ["n": .integer(Int64(value)), "s": .integer(1)])
    }
    let line = try BenchLine.measure(
      "change for 10,000 listeners", target: 5, count: commits, rounds: rounds,
      tern: {
        for round in 0..<commits {
          told += try bench.write([change(round)], telling: watch).told
        }
      },
      baseline: {
        for round in 0..<commits {
          let changes = try bench.write([change(round)]).decision.changes
          for matcher in matchers {
            for change in changes {
              let isMatch = matcher.matches(change.before) || matcher.matches(change.after)
              if isMatch { told += 1 }
            }
          }
        }
      })
    let matches = Double(watch.matchCount) / Double(commits * rounds)
    print("a change is matched \(matches) times for \(watch.groupCount) distinct queries,")
    print("  each listener holds about \(perListener) bytes; \(told) were told")
    return line
  }

  /// Every other query asks for a range, the others for a value and a range.
  private static func query(_ index: Int) throws -> DocumentQuery {
    let rooms = DocumentQuery.collection(try CollectionPath("rooms"))
    let bound = DocumentValue.integer(Int64(index * 2))
    if index % 2 == 0 { return try rooms.where(number, .greaterThanOrEqual, bound) }
    return try rooms.where(state, .equal, .integer(Int64(index))).where(number, .lessThan, bound)
  }

  /// A listener of 10,000 documents comes back after one changed; the baseline reads them all.
  private static func resume(rounds: Int) throws -> BenchLine {
    let bench = try DocumentBench()
    try bench.fill(10_000)
    let watch = DocumentWatch(bench.authority)
    let subject = WatchTarget.Subject.query(
      DocumentQuery.collection(try CollectionPath("rooms")).target)
    var stream = 0
    func listen(_ token: [UInt8]?) throws -> WatchOpening {
      stream += 1
      let resume = token.map { WatchTarget.Resume.token($0) }
      let target = WatchTarget(id: 1, subject: subject, resume: resume)
      return try bench.read { reader throws(StorageError) in
        let opening = try watch.listen(target, on: stream, in: reader)
        watch.closeStream(stream)
        return opening
      }
    }
    guard case .target(let current) = try listen(nil).tail[0] else { return failed }
    try bench.write([bench.set("rooms/5", ["n": -1])])
    var told = 0
    let line = try BenchLine.measure(
      "resume of 10,000, one changed", target: 100, count: 20, rounds: rounds,
      tern: { for _ in 0..<20 { told = try listen(current.resumeToken).body.count } },
      baseline: { for _ in 0..<20 { _ = try listen(nil).body.count } })
    print("who resumes 10,000 documents of which one changed is told \(told)")
    return line
  }

  private static let failed = BenchLine(name: "failed", rate: 0, baseline: 1, target: 1)

  /// The first ten by a field out of 50,000; the baseline has 500 documents.
  private static func firstOfMany(rounds: Int) throws -> BenchLine {
    let (large, small) = (try DocumentBench(), try DocumentBench())
    try large.fill(50_000)
    try small.fill(500)
    let query = try DocumentQuery.collection(CollectionPath("rooms"))
      .ordered(by: number, isDescending: true).first(10)
    print("first ten of 50,000 read \(try large.cost(of: query)) rows")
    return try BenchLine.measure(
      "first 10 of 50,000 beside of 500", target: 0.5, count: 200, rounds: rounds,
      tern: { for _ in 0..<200 { _ = try large.cost(of: query) } },
      baseline: { for _ in 0..<200 { _ = try small.cost(of: query) } })
  }

  /// Ten by a field among those with a value of another, once an index made itself.
  private static func fixedAndSorted(rounds: Int) throws -> BenchLine {
    let bench = try DocumentBench()
    try bench.fill(50_000)
    let query = try DocumentQuery.collection(CollectionPath("rooms"))
      .where(state, .equal, 7).ordered(by: number).starting(at: [25_000]).first(10)
    print("ten of 50,000 by value and order read \(try bench.cost(of: query)) rows", terminator: "")
    let without = try BenchLine.seconds { for _ in 0..<20 { _ = try bench.cost(of: query) } }
    try bench.makeIndexes(for: query)
    print(", with an index that made itself \(try bench.cost(of: query))")
    let with = try BenchLine.seconds { for _ in 0..<20 { _ = try bench.cost(of: query) } }
    return BenchLine(
      name: "value and order, with index", rate: 20 / with, baseline: 20 / without, target: 2)
  }

  /// Commits of one small document each, against puts of one row each into the same store.
  private static func commits(rounds: Int) throws -> BenchLine {
    let bench = try DocumentBench()
    let store = MemoryStore()
    var next: Int64 = 0
    return try BenchLine.measure(
      "commits of 5 fields beside bare puts", target: 0.02, count: 1_000, rounds: rounds,
      tern: {
        for _ in 0..<1_000 {
          next += 1
          try bench.write([bench.set("rooms/\(next)", DocumentBench.fields(next))])
        }
      },
      baseline: {
        for _ in 0..<1_000 {
          next += 1
          let key = Array("rooms/\(next)".utf8)
          try store.write { transaction throws(StorageError) in
            try transaction.put(DocumentBench.fields(next).bytes, for: key)
          }
        }
      })
  }
}
