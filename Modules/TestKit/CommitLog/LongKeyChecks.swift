import TernCommitLog
import TernStorage

/// The checks of checkpoints with long keys, which many databases cannot index as they are.
enum LongKeyChecks {
  /// Keys of any length up to the longest: without a pattern, so that nothing makes them shorter,
  /// and many that share almost all of their bytes.
  private static let keys: [[UInt8]] = {
    var random = SeededGenerator(seed: 4_096)
    func bytes(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    let shared = bytes(StorageLimits.keyBytes - 96)
    var keys = [2_000, 2_047, 2_048, 2_049, 2_600, 2_700, shared.count].map {
      Array(shared.prefix($0))
    }
    keys += (0..<40).map { _ in shared + bytes(96) }
    keys += [
      shared + [UInt8](repeating: 0, count: 96), shared + [UInt8](repeating: 255, count: 96),
    ]
    keys += (0..<9).map { _ in bytes(StorageLimits.keyBytes) }
    keys += [[], [0], [128], [255], [255, 255]]
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }()

  private static func rows(_ keys: [[UInt8]], _ value: UInt8) -> [Row] {
    keys.map { Row(key: $0, value: [value]) }
  }

  private static func puts(_ rows: [Row]) -> [Mutation] {
    rows.map { .put(key: $0.key, value: $0.value) }
  }

  /// Reads the checkpoint in pages of so many rows at most.
  private static func read(_ bench: CommitLogBench, limit: Int) async throws -> [Row] {
    var rows: [Row] = []
    while true {
      let page = try await bench.log.checkpoint(
        of: bench.shard, after: rows.last?.key, limit: limit)
      try bench.expect(page.rows.count <= limit, true, "a page of at most \(limit)")
      try bench.expect(page.isLast || !page.rows.isEmpty, true, "a page with a row")
      rows += page.rows
      if page.isLast { return rows }
    }
  }

  static let checkpoint = [
    CommitLogCheck("keys of any length are kept in order, and read in pages") { bench in
      _ = try await bench.advance(0, 0, puts(rows(keys, 1)).shuffled())
      for limit in [1, 7, 10_000] {
        try bench.expect(
          await read(bench, limit: limit) == rows(keys, 1), true, "pages of \(limit)")
      }
      for key in keys where key.count > 2_000 {
        let next = try await bench.rows(after: key, limit: 1).first?.key
        try bench.expect(next == keys.first { key.lexicographicallyPrecedes($0) }, true, "the next")
      }
    },
    CommitLogCheck("rows with long keys are replaced and removed, by key and by range") { bench in
      _ = try await bench.advance(0, 0, puts(rows(keys, 1)))
      var expected = rows(keys, 1)
      let newer = rows(keys.filter { $0.count.isMultiple(of: 2) }, 2)
      _ = try await bench.advance(0, 0, puts(newer))
      expected = expected.map { $0.key.count.isMultiple(of: 2) ? Row(key: $0.key, value: [2]) : $0 }
      try bench.expect(await read(bench, limit: 50) == expected, true, "after the replacement")
      let single = Array(keys.enumerated().filter { $0.offset.isMultiple(of: 5) }.map(\.element))
      _ = try await bench.advance(0, 0, single.map { .remove(KeyRange(only: $0)) })
      expected.removeAll { single.contains($0.key) }
      try bench.expect(await read(bench, limit: 50) == expected, true, "without single keys")
      // From within the keys that share their first bytes to within them, from before, and behind.
      let shared = expected.map(\.key).filter { $0.count == StorageLimits.keyBytes }
      let ranges = [
        KeyRange(from: shared[4], to: shared[7]), KeyRange(from: [1], to: shared[2]),
        KeyRange(prefix: Array(shared[9].prefix(3_000))),
        KeyRange(from: shared[shared.count - 2], to: nil),
      ]
      for range in ranges {
        _ = try await bench.advance(0, 0, [.remove(range)])
        expected.removeAll { range.contains($0.key.span) }
        try bench.expect(
          await read(bench, limit: 50) == expected, true, "without \(range.lower.count)")
      }
      _ = try await bench.advance(0, 0, [.remove(.all)] + puts(rows(keys, 3)))
      try bench.expect(await read(bench, limit: 50) == rows(keys, 3), true, "all of them again")
      _ = try await bench.advance(0, 0, [.remove(.all)])
      try bench.expect(await bench.rows(), [], "nothing")
    },
  ]
}
