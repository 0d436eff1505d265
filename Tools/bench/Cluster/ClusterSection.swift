#if TCP && os(Linux)
  import Foundation

  /// Nodes over one log in PostgreSQL, each a process of the program `tern`, with clients on the
  /// same machine.
  ///
  /// The database is the one of the connection string in `TERN_BENCH_POSTGRES`; the tables and
  /// their rows stay in its first schema, so use one that is thrown away. Without the variable, the
  /// section starts a PostgreSQL of its own, as durable as its standard settings make it. Every
  /// cluster has a shard of its own.
  struct ClusterSection {
    /// The parts by the names of `--only`, in the order in which they run.
    static let parts = ["writes", "follower", "fan-out", "lag", "takeover", "start"]

    let program: String
    let connection: String
    let options: BenchOptions

    static func run(_ options: BenchOptions) async throws -> [BenchLine] {
      if let only = options.only, !parts.contains(only) {
        print("cluster: no part \(only); there are \(parts.joined(separator: ", "))")
        return []
      }
      guard let program = ChildServer.ternProgram else { return [] }
      if let connection = ProcessInfo.processInfo.environment["TERN_BENCH_POSTGRES"] {
        return try await ClusterSection(
          program: program, connection: connection, options: options
        ).lines()
      }
      guard BenchPostgres.programs != nil else {
        print("cluster: install PostgreSQL, or set TERN_BENCH_POSTGRES to a connection string")
        return []
      }
      let postgres = try BenchPostgres()
      defer { postgres.remove() }
      return try await ClusterSection(
        program: program, connection: postgres.connection, options: options
      ).lines()
    }

    private func lines() async throws -> [BenchLine] {
      var lines: [BenchLine] = []
      if isWanted("writes") || isWanted("follower") {
        lines += try await ClusterWrites(
          section: self, withBaseline: isWanted("writes"), atFollower: isWanted("follower")
        ).run(rounds: options.rounds)
      }
      if isWanted("fan-out") { lines += try await ClusterFanOut(section: self).lines() }
      if isWanted("lag") { lines += try await ClusterLag(section: self).lines() }
      if isWanted("takeover") { lines += try await ClusterTakeover(section: self).lines() }
      if isWanted("start") { lines += try await ClusterStart(section: self).lines() }
      return lines
    }

    private func isWanted(_ part: String) -> Bool { options.only == nil || options.only == part }

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
