import ArgumentParser

struct DocumentsServerCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "documents-server",
    abstract: "Measures commits, queries and listeners of documents, without a network.")

  @OptionGroup var rounds: RoundsOption

  func lines() throws -> [BenchLine] { try DocumentServerSection.run(rounds: rounds.count) }
}

struct DocumentRulesCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "document-rules",
    abstract: "Measures what 100 rules for documents cost a write.")

  @OptionGroup var rounds: RoundsOption

  func lines() throws -> [BenchLine] { try DocumentRulesSection.run(rounds: rounds.count) }
}

struct LogCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Measures appends to a log in PostgreSQL beside a bare loop over libpq.",
    discussion: """
      TERN_BENCH_POSTGRES is the connection string of the database; the tables are made in its \
      first schema, so use one that is thrown away.
      """)

  @OptionGroup var rounds: RoundsOption

  func lines() async throws -> [BenchLine] { try await LogSection.run(rounds: rounds.count) }
}

#if TCP
  struct RulesCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "rules",
      abstract: "Measures what 100 rules for the tree cost a write, inside the server.")

    @OptionGroup var rounds: RoundsOption

    func lines() async throws -> [BenchLine] { try await RulesSection.run(rounds: rounds.count) }
  }
#endif
