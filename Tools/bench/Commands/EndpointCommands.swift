#if TCP
  import ArgumentParser

  struct FanOutCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "fan-out",
      abstract: "Measures the bare transport beside redis-server: one publisher, 1,000 listeners.",
      discussion: "The program redis-server must be installed.")

    func lines() async throws -> [BenchLine] {
      try await FanOut.run()
      return []
    }
  }

  struct IdleLinksCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "idle-links",
      abstract: "Measures the memory of 10,000 links on which nothing happens.")

    func lines() async throws -> [BenchLine] {
      try await IdleLinks.run()
      return []
    }
  }

  struct TLSCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "tls",
      abstract: "Measures links behind TLS beside links in the clear.")

    @OptionGroup var rounds: RoundsOption

    func lines() async throws -> [BenchLine] { try await TLSSection.run(rounds: rounds.count) }
  }

  struct TreeFanOutCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "tree-fan-out",
      abstract: "Measures events of the tree at 1,000 listeners of one path.")

    @OptionGroup var rounds: RoundsOption

    func lines() async throws -> [BenchLine] { try await TreeFanOut.run(rounds: rounds.count) }
  }

  struct DocumentsFanOutCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "documents-fan-out",
      abstract: "Measures events of documents at 1,000 listeners of one query.")

    @OptionGroup var rounds: RoundsOption

    func lines() async throws -> [BenchLine] { try await DocumentFanOut.run(rounds: rounds.count) }
  }

  struct EndpointsCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "endpoints",
      abstract: "Measures idle WebSockets, events over WebSocket, and small reads over REST.",
      discussion: "For reads, the program wrk must be installed.")

    @OptionGroup var rounds: RoundsOption

    @Option(help: "The only part to measure.")
    var only: EndpointsSection.Part?

    func lines() async throws -> [BenchLine] {
      try await EndpointsSection.run(only: only, rounds: rounds.count)
    }
  }

  struct WebChannelCommand: BenchCommand {
    static let configuration = CommandConfiguration(
      commandName: "webchannel",
      abstract: "Measures idle sessions of browsers, and the time to the last of 1,000 listeners.")

    func lines() async throws -> [BenchLine] { try await WebChannelSection.run() }
  }

  #if os(Linux)
    struct DocumentsEndpointsCommand: BenchCommand {
      static let configuration = CommandConfiguration(
        commandName: "documents-endpoints",
        abstract: "Measures events of documents over gRPC, over WebChannel, and under rules.")

      @OptionGroup var rounds: RoundsOption

      @Option(help: "The only part to measure.")
      var only: DocumentEndpointsSection.Part?

      func lines() async throws -> [BenchLine] {
        try await DocumentEndpointsSection.run(only: only, rounds: rounds.count)
      }
    }

    struct GRPCCommand: BenchCommand {
      static let configuration = CommandConfiguration(
        commandName: "grpc",
        abstract: "Measures calls, commits, idle streams and a large query over gRPC.")

      @OptionGroup var rounds: RoundsOption

      @OptionGroup var documents: DocumentsOption

      @Option(help: "The only part to measure.")
      var only: GRPCSection.Part?

      func lines() async throws -> [BenchLine] {
        try await GRPCSection.run(only: only, documents: documents.count, rounds: rounds.count)
      }
    }

    struct InitialSyncCommand: BenchCommand {
      static let configuration = CommandConfiguration(
        commandName: "initial-sync",
        abstract: "Measures the first snapshot of a large collection.")

      @OptionGroup var rounds: RoundsOption

      @OptionGroup var documents: DocumentsOption

      @Option(help: "The only part to measure: a client's store, or the server's side.")
      var only: InitialSync.Part?

      func lines() async throws -> [BenchLine] {
        try await InitialSync.run(only: only, documents: documents.count, rounds: rounds.count)
      }
    }
  #endif
#endif
