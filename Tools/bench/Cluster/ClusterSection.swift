#if TCP && os(Linux)
  import ArgumentParser
  import Foundation

  /// Nodes over one log in PostgreSQL, each a process of the program `tern`, with clients on the
  /// same machine.
  ///
  /// The database is the one of the connection string in `TERN_BENCH_POSTGRES`; the tables and
  /// their rows stay in its first schema, so use one that is thrown away. Without the variable, the
  /// section starts a PostgreSQL of its own, as durable as its standard settings make it. Every
  /// cluster has a shard of its own.
  struct ClusterSection {
    /// The parts, in the order in which they run.
    enum Part: String, CaseIterable, ExpressibleByArgument {
      case writes, follower
      case fanOut = "fan-out"
      case lag, takeover, start
    }

    let program: String
    let connection: String
    /// The number of measurements, if it was given.
    let givenRounds: Int?
    /// The leaves with which a node starts.
    let rows: Int
    /// The only part to measure; all of them when it is `nil`.
    let only: Part?

    /// The number of measurements of a part without a number of its own.
    var rounds: Int { givenRounds ?? 3 }

    static func run(givenRounds: Int?, rows: Int, only: Part?) async throws -> [BenchLine] {
      guard let program = ChildServer.ternProgram else { return [] }
      if let connection = ProcessInfo.processInfo.environment["TERN_BENCH_POSTGRES"] {
        return try await ClusterSection(
          program: program, connection: connection, givenRounds: givenRounds, rows: rows,
          only: only
        ).lines()
      }
      guard BenchPostgres.programs != nil else {
        print("cluster: install PostgreSQL, or set TERN_BENCH_POSTGRES to a connection string")
        return []
      }
      let postgres = try BenchPostgres()
      defer { postgres.remove() }
      return try await ClusterSection(
        program: program, connection: postgres.connection, givenRounds: givenRounds, rows: rows,
        only: only
      ).lines()
    }

    private func lines() async throws -> [BenchLine] {
      var lines: [BenchLine] = []
      if isWanted(.writes) || isWanted(.follower) {
        lines += try await ClusterWrites(
          section: self, withBaseline: isWanted(.writes), atFollower: isWanted(.follower)
        ).run(rounds: rounds)
      }
      if isWanted(.fanOut) { lines += try await ClusterFanOut(section: self).lines() }
      if isWanted(.lag) { lines += try await ClusterLag(section: self).lines() }
      if isWanted(.takeover) { lines += try await ClusterTakeover(section: self).lines() }
      if isWanted(.start) { lines += try await ClusterStart(section: self).lines() }
      return lines
    }

    private func isWanted(_ part: Part) -> Bool { only ?? part == part }

    /// Lends a cluster of so many nodes over an empty shard, all of them ready and the first one
    /// leading.
    func withCluster<R>(
      of count: Int, _ body: (BenchCluster) async throws -> R
    ) async throws -> R {
      let cluster = try BenchCluster(program: program, connection: connection)
      do {
        for _ in 0..<count {
          let node = try cluster.add()
          try cluster.start(node)
          try await cluster.awaitReady(node)
        }
        let result = try await body(cluster)
        await cluster.remove()
        return result
      } catch {
        // Not print: an error that ends the program would take it along.
        let words = "cluster: the nodes' last lines:\n\(cluster.lastLines)\n"
        FileHandle.standardError.write(Data(words.utf8))
        await cluster.remove()
        throw error
      }
    }
  }
#endif
