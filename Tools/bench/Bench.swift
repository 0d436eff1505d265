import ArgumentParser

/// Measures rates beside a baseline, in one run on one machine, and prints the ratios.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tern-bench",
    abstract: "Measures rates beside a baseline, in one run on one machine, and prints the ratios.",
    discussion: """
      Build it with -c release: rates of a debug build say nothing. Docs/BENCHMARKS.md says what \
      each section measures, and its figures.
      """,
    subcommands: [AllCommand.self] + ChildCommands.all,
    groupedSubcommands: [
      CommandGroup(name: "Stores and clients", subcommands: clients),
      CommandGroup(name: "Engines", subcommands: engines),
      CommandGroup(name: "Servers", subcommands: servers),
      CommandGroup(name: "Links and endpoints", subcommands: endpoints),
    ])

  static var clients: [any BenchCommand.Type] {
    [
      StorageCommand.self, ClientCommand.self, CachedNodeCommand.self, DocumentsCommand.self,
      DocumentsClientCommand.self,
    ]
  }

  static var engines: [any BenchCommand.Type] {
    let engines: [any BenchCommand.Type] = [
      DocumentsServerCommand.self, DocumentRulesCommand.self, LogCommand.self,
    ]
    #if TCP
      return engines + [RulesCommand.self]
    #else
      return engines
    #endif
  }

  static var servers: [any BenchCommand.Type] {
    #if TCP
      let servers: [any BenchCommand.Type] = [
        WritesCommand.self, BackupCommand.self, MetricsCommand.self, ServerSizeCommand.self,
        LargeReadsCommand.self,
      ]
      #if os(Linux)
        return servers + [ClusterCommand.self, DocumentsImportCommand.self]
      #else
        return servers
      #endif
    #else
      return []
    #endif
  }

  static var endpoints: [any BenchCommand.Type] {
    #if TCP
      let endpoints: [any BenchCommand.Type] = [
        FanOutCommand.self, IdleLinksCommand.self, TLSCommand.self, TreeFanOutCommand.self,
        DocumentsFanOutCommand.self, EndpointsCommand.self, WebChannelCommand.self,
      ]
      #if os(Linux)
        return endpoints
          + [DocumentsEndpointsCommand.self, GRPCCommand.self, InitialSyncCommand.self]
      #else
        return endpoints
      #endif
    #else
      return []
    #endif
  }
}

/// Runs every section.
struct AllCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "Runs every section with its default options, which takes hours.")

  func run() async throws {
    for section in Bench.clients + Bench.engines + Bench.servers + Bench.endpoints {
      try await Self.run(section)
    }
  }

  private static func run<Section: BenchCommand>(_ section: Section.Type) async throws {
    try await section.parse([]).run()
  }
}
