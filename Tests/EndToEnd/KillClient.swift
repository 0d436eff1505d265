import Testing

@testable import tern

/// A `tern-torture` that is killed and started again, with everything it ever printed.
final class KillClient {
  /// The count of numbers that each run of the program has for its writes.
  static let numbersPerRun = 10_000

  let name: String
  /// Everything it printed, in all of its runs.
  private(set) var lines: [String] = []
  /// The number of kills.
  private(set) var kills = 0
  private let storage: String
  private let folder: String
  private let port: String
  private var runs = 0
  private var process: ChildProcess?

  init(_ name: String, storage: String, folder: String, port: String) {
    self.name = name
    self.storage = storage
    self.folder = folder
    self.port = port
  }

  /// The number of the first write of every run so far.
  var firstNumbers: [Int] { (1...max(runs, 1)).map { $0 * Self.numbersPerRun } }

  /// Starts it on what its last run left behind, and waits until it is there.
  func start(seed: UInt64, offline: Bool = false) async throws {
    try launch(seed: seed, offline: offline)
    try await line("open")
  }

  /// Starts it without waiting for it.
  func launch(seed: UInt64, offline: Bool = false) throws {
    runs += 1
    process = try ChildProcess(
      binary("tern-torture"),
      [
        "--storage", storage, "--path", "\(folder)/\(name)", "--port", port, "--name", name,
        "--first", "\(runs * Self.numbersPerRun)", "--seed", "\(seed)",
      ] + (offline ? ["--offline"] : []))
  }

  func send(_ command: String) { process?.send(command) }

  /// Waits for the next line that begins like this, and hears all lines before it.
  @discardableResult
  func line(_ beginning: String) async throws -> String {
    while true {
      let line = await process?.output.line(within: patience) { _ in true }
      lines.append(
        try #require(
          line,
          """
          \(name) said nothing more, waiting for "\(beginning)" \
          after \(lines.suffix(3)): \(process?.errors.history ?? [])
          """))
      if let line, line.hasPrefix(beginning) { return line }
    }
  }

  /// Kills it, and hears what it had said.
  func kill() async throws {
    guard let process else { return }
    process.killNow()
    #expect(await process.exitCode(within: patience) == 128 + 9, "\(process.errors.history)")
    while let line = await process.output.line(within: patience, where: { _ in true }) {
      lines.append(line)
    }
    self.process = nil
    kills += 1
  }

  /// Kills it if it runs, at the end of a test that may have failed.
  func clean() { process?.killNow() }

  /// Reads everything that the client shows.
  func sight() async throws -> KillSight {
    send("tree")
    return KillSight(
      tree: String(try await line("tree ").dropFirst("tree ".count)),
      documents: String(try await line("documents ").dropFirst("documents ".count)))
  }
}

/// The client's view of everything.
struct KillSight: Equatable {
  /// The tree, as JSON.
  var tree: String
  /// The fields of every document by its id, as JSON.
  var documents: String
}
