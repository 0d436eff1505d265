/// Measures rates beside a baseline, in one run on one machine, and prints the ratios.
///
/// `swift run -c release --disable-default-traits tern-bench [section ...] [--rows N]
/// [--only PART] [--rounds N] [--documents N]`
@main
struct Bench {
  /// Every section by name; a new one adds a line.
  static var sections: [BenchSection] {
    var sections: [BenchSection] = [("storage", { try StorageSection.run($0) })]
    /// Adds a section that prints its lines itself.
    func add(_ name: String, _ run: @escaping @Sendable (BenchOptions) async throws -> Void) {
      sections.append(
        (
          name,
          {
            try await run($0)
            return []
          }
        ))
    }
    add("client") { _ in try await ClientSection.run() }
    #if TCP
      add("fan-out") { _ in try await FanOut.run() }
      add("idle-links") { _ in try await IdleLinks.run() }
      sections.append(("writes", { try await WriteSection(only: $0.only).run(rounds: $0.rounds) }))
      sections.append(
        ("backup", { try await BackupSection(nodes: $0.rows).run(rounds: $0.rounds) }))
      sections.append(("metrics", { try await MetricsSection().run(rounds: $0.rounds) }))
      sections.append(("tree-fan-out", { try await TreeFanOut.run(rounds: $0.rounds) }))
      sections.append(("rules", { try await RulesSection.run(rounds: $0.rounds) }))
      sections.append(("endpoints", { try await EndpointsSection.run($0) }))
      sections.append(("documents-fan-out", { try await DocumentFanOut.run(rounds: $0.rounds) }))
      sections.append(("tls", { try await TLSSection.run(rounds: $0.rounds) }))
      #if os(Linux)
        sections.append(("grpc", { try await GRPCSection.run($0) }))
        sections.append(("initial-sync", { try await InitialSync.run($0) }))
        sections.append(("documents-import", { try await ImportSection.run($0) }))
        sections.append(("cluster", { try await ClusterSection.run($0) }))
        sections.append(("documents-endpoints", { try await DocumentEndpointsSection.run($0) }))
      #endif
      sections.append(("webchannel", { try await WebChannelSection.run($0) }))
      add("large-reads") { _ in try await LargeReads.run() }
      add("server-size") { _ in try await ServerSize.run() }
    #endif
    sections.append(("document-rules", { try DocumentRulesSection.run(rounds: $0.rounds) }))
    sections.append(("log", { try await LogSection.run($0) }))
    add("cached-node") { _ in try await CachedNode.run() }
    sections.append(
      ("documents-server", { try DocumentServerSection.run(rounds: $0.rounds) }))
    add("documents") { try DocumentSection($0).run() }
    add("documents-client") { _ in try DocumentViewSection.run() }
    return sections
  }

  static func main() async throws {
    let options = BenchOptions(CommandLine.arguments.dropFirst())
    // A client with nothing in its memory, started by the section `cached-node`.
    if options.sections.first == CachedNode.command {
      return try await CachedNode.load(options.sections[2], from: options.sections[1])
    }
    #if TCP
      // The relay is a process of its own, started by the section `fan-out`.
      if options.sections == ["fan-out-relay"] { return try await FanOutRelay.serve() }
      // So is the server, started by the sections that measure it.
      if options.sections.first == ServedTree.command {
        return try await ServedTree.serve(
          options.sections[1], Array(options.sections.dropFirst(2)))
      }
      if options.sections.first == BareHTTPServer.command {
        return try await BareHTTPServer.serve()
      }
      if options.sections.first == BareHTTP2Server.command {
        return try await BareHTTP2Server.serve(bytes: Int(options.sections[1]) ?? 0)
      }
      #if os(Linux)
        if options.sections.first == BareServer.command {
          return try BareServer.serve(options.sections[1])
        }
      #endif
    #endif
    let unknown = options.sections.filter { name in !sections.contains { $0.name == name } }
    guard unknown.isEmpty else {
      let known = sections.map(\.name).joined(separator: ", ")
      print("no section \(unknown.joined(separator: ", ")); there are \(known)")
      return
    }
    var hasMissed = false
    for section in sections
    where options.sections.isEmpty || options.sections.contains(section.name) {
      let lines = try await section.run(options)
      if lines.isEmpty { continue }
      print(section.name == "storage" ? "storage, \(options.rows) rows" : section.name)
      print(BenchLine.heading)
      for line in lines {
        print(line.text)
        if !line.isMet { hasMissed = true }
      }
    }
    if hasMissed { print("some targets were missed") }
  }
}

/// A part of the benchmark: its lines, or none when it prints them itself.
typealias BenchSection = (
  name: String, run: @Sendable (BenchOptions) async throws -> [BenchLine]
)

/// The options of the command line.
struct BenchOptions {
  var sections: [String] = []
  /// The rows in the stores that are measured.
  var rows = 1_000_000
  /// The number of measurements in a section with rounds, if it was given.
  var givenRounds: Int?
  /// The number of measurements in a section with rounds; 3 if it was not given.
  var rounds: Int { givenRounds ?? 3 }
  /// The documents in the cache that is measured.
  var documents = 100_000
  /// The part of a section to run; all of it if not said.
  var only: String?

  init(_ arguments: some Sequence<String>) {
    var option: String?
    for argument in arguments {
      switch option {
      case "--rows": rows = Int(argument) ?? rows
      case "--rounds": givenRounds = Int(argument).map { max(1, $0) } ?? givenRounds
      case "--documents": documents = Int(argument) ?? documents
      case "--only": only = argument
      default:
        if argument.hasPrefix("--") {
          option = argument
        } else {
          sections.append(argument)
        }
        continue
      }
      option = nil
    }
  }
}
