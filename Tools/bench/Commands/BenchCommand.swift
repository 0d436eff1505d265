import ArgumentParser

/// A section of the benchmark, as a command.
protocol BenchCommand: AsyncParsableCommand {
  /// The heading of the section's lines.
  var title: String { get }

  /// Measures.
  ///
  /// - Returns: The lines to print; none when the section prints its figures itself.
  func lines() async throws -> [BenchLine]
}

extension BenchCommand {
  var title: String { Self.configuration.commandName ?? "" }

  func run() async throws {
    let lines = try await lines()
    if lines.isEmpty { return }
    print(title)
    print(BenchLine.heading)
    for line in lines { print(line.text) }
    if !lines.allSatisfy(\.isMet) { print("some targets were missed") }
  }
}

/// The number of measurements of a section.
struct RoundsOption: ParsableArguments {
  @Option(name: .customLong("rounds"), help: "The number of measurements.")
  var count = 3

  func validate() throws {
    guard count > 0 else { throw ValidationError("--rounds is at least 1.") }
  }
}

/// The number of documents of a section.
struct DocumentsOption: ParsableArguments {
  @Option(name: .customLong("documents"), help: "The number of documents.")
  var count = 100_000

  func validate() throws {
    guard count > 0 else { throw ValidationError("--documents is at least 1.") }
  }
}

/// A kind of store.
enum StoreKind: String, CaseIterable, ExpressibleByArgument {
  case memory, sqlite, lmdb
}
