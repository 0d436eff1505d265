#if TCP
  import ArgumentParser

  struct WritesCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "writes",
      abstract: "Measures durable writes of 64 clients beside etcd, a bare server and SQLite.",
      discussion: "The program etcd must be installed.")

    @OptionGroup var rounds: RoundsOption

    @Option(help: "The only number of writes that a client has under way.")
    var only: WriteSection.Depth?

    func lines() async throws -> [BenchLine] {
      try await WriteSection(only: only).run(rounds: rounds.count)
    }
  }

  struct BackupCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "backup",
      abstract: "Measures backups of a large tree while 64 clients write.",
      discussion: "The program curl must be installed.")

    @OptionGroup var rounds: RoundsOption

    @Option(help: "The number of nodes in the tree.")
    var rows = 1_000_000

    func validate() throws {
      guard rows > 0 else { throw ValidationError("--rows is at least 1.") }
    }

    func lines() async throws -> [BenchLine] {
      try await BackupSection(nodes: rows).run(rounds: rounds.count)
    }
  }

  struct MetricsCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "metrics",
      abstract: "Measures what reading the metrics and an access log cost 64 writing clients.")

    @OptionGroup var rounds: RoundsOption

    func lines() async throws -> [BenchLine] {
      try await MetricsSection().run(rounds: rounds.count)
    }
  }

  struct ServerSizeCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "server-size",
      abstract: "Measures the memory of idle sessions, and the start on a million leaves.")

    func lines() async throws -> [BenchLine] {
      try await ServerSize.run()
      return []
    }
  }

  struct LargeReadsCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "large-reads",
      abstract: "Measures the memory that a server takes to send a node of 100 MB.",
      discussion: "The program curl must be installed.")

    func lines() async throws -> [BenchLine] {
      try await LargeReads.run()
      return []
    }
  }

  #if os(Linux)
    struct ClusterCommand: BenchCommand {
      static let configuration = CommandConfiguration(
        commandName: "cluster",
        abstract: "Measures nodes over one log in PostgreSQL, with clients on the same machine.",
        discussion: """
          The program tern stands beside this one, or TERN_PROGRAM names it. The database is that \
          of the connection string TERN_BENCH_POSTGRES; without it, the section starts a \
          PostgreSQL of its own, which must be installed.
          """)

      @Option(help: "The number of measurements. Default: 3; leaders killed or asked: 10.")
      var rounds: Int?

      @Option(help: "The number of leaves with which a node starts.")
      var rows = 1_000_000

      @Option(help: "The only part to measure.")
      var only: ClusterSection.Part?

      func validate() throws {
        if let rounds, rounds < 1 { throw ValidationError("--rounds is at least 1.") }
      }

      func lines() async throws -> [BenchLine] {
        try await ClusterSection.run(givenRounds: rounds, rows: rows, only: only)
      }
    }

    struct DocumentsImportCommand: BenchCommand {
      static let configuration = CommandConfiguration(
        commandName: "documents-import",
        abstract: "Measures the import of a file of documents by `tern doc import`.",
        discussion: "The program tern stands beside this one, or TERN_PROGRAM names it.")

      @OptionGroup var rounds: RoundsOption

      @OptionGroup var documents: DocumentsOption

      func lines() async throws -> [BenchLine] {
        try await ImportSection.run(documents: documents.count, rounds: rounds.count)
      }
    }
  #endif
#endif
