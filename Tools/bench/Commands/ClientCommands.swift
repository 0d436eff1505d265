import ArgumentParser

struct StorageCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "storage",
    abstract: "Measures stores beside the bare C libraries, and the memory store beside LMDB.")

  @Option(help: "The number of rows in each store.")
  var rows = 1_000_000

  @Option(help: "The only store to measure.")
  var only: StoreKind?

  var title: String { "storage, \(rows) rows" }

  func validate() throws {
    guard rows > 0 else { throw ValidationError("--rows is at least 1.") }
  }

  func lines() throws -> [BenchLine] { try StorageSection.run(rows: rows, only: only) }
}

struct ClientCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "client",
    abstract: "Measures the delays that an application feels, and the speed of its queue.")

  func lines() async throws -> [BenchLine] {
    try await ClientSection.run()
    return []
  }
}

struct CachedNodeCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "cached-node",
    abstract: "Measures the memory of a cached node beside its size on the disk.")

  func lines() async throws -> [BenchLine] {
    try await CachedNode.run()
    return []
  }
}

struct DocumentsCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "documents",
    abstract: "Measures the cache of documents: its queries, its indexes and its disk.")

  @OptionGroup var documents: DocumentsOption

  @Option(help: "The only store to measure.")
  var only: StoreKind?

  func lines() throws -> [BenchLine] {
    try DocumentSection(count: documents.count, only: only).run()
    return []
  }
}

struct DocumentsClientCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "documents-client",
    abstract: "Measures what keeps a listener up to date over 100,000 cached documents.")

  func lines() throws -> [BenchLine] {
    try DocumentViewSection.run()
    return []
  }
}
