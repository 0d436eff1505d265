import Foundation
import TernCommitLog
import TernLogPostgres

/// Appends to a log in PostgreSQL beside a loop over libpq that does as little as can be done.
///
/// The database is the one of the connection string in `TERN_BENCH_POSTGRES`. The tables are made
/// in its first schema; use one that is thrown away.
struct LogSection {
  private static let writes = 64
  private static let writeBytes = 100

  let connection: String
  let rounds: Int

  static func run(rounds: Int) async throws -> [BenchLine] {
    guard let connection = ProcessInfo.processInfo.environment["TERN_BENCH_POSTGRES"] else {
      print("log: set TERN_BENCH_POSTGRES to a connection string of libpq")
      return []
    }
    return try await LogSection(connection: connection, rounds: rounds).lines()
  }

  private func lines() async throws -> [BenchLine] {
    let log = PostgresLog(
      PostgresOptions(connection: connection), clock: ContinuousClock(), uptime: Self.uptime)
    let bare = try BarePostgres(connection)
    let shard = ShardID(UInt32.random(in: .min ... .max))
    var position = try await log.open(shard).position
    var lines: [BenchLine] = []
    let batches: [(name: String, writes: Int, count: Int)] = [
      ("log: batches of 64 writes", Self.writes, 400), ("log: one write, then the next", 1, 400),
    ]
    for batch in batches {
      var ours: [Double] = []
      var theirs: [Double] = []
      let payload = [UInt8](repeating: 7, count: batch.writes * Self.writeBytes)
      for _ in 0..<rounds {
        let clock = ContinuousClock()
        let bareStart = clock.now
        for _ in 0..<batch.count {
          try bare.append(rows: batch.writes, bytes: Self.writeBytes)
        }
        theirs.append(Self.seconds(since: bareStart))
        let start = clock.now
        for _ in 0..<batch.count {
          let draft = LogBatch.Draft(id: .random(in: .min ... .max), payload: payload)
          let outcome = try await log.append(draft, to: shard, after: position, epoch: .none)
          guard outcome == .appended(position.next) else { throw BenchFailure() }
          position = position.next
        }
        ours.append(Self.seconds(since: start))
      }
      let total = Double(batch.writes * batch.count)
      lines.append(
        BenchLine(
          name: batch.name, rate: total / BenchLine.median(ours),
          baseline: total / BenchLine.median(theirs), target: 0.5))
    }
    await log.close()
    try bare.finish()
    return lines
  }

  private struct BenchFailure: Error {}

  private static func seconds(since start: ContinuousClock.Instant) -> Double {
    let time = start.duration(to: .now)
    return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
  }

  private static let uptime: @Sendable () -> Int64 = {
    let start = ContinuousClock.now
    return {
      let passed = start.duration(to: .now).components
      return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
    }
  }()
}
