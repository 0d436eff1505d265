import Foundation
import Testing

@testable import tern

/// The real binary.
let ternBinary = binary("tern")

/// A program of ours, beside this test's own; or any other, by its whole path.
func binary(_ name: String) -> String {
  if name.hasPrefix("/") { return name }
  let here = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
  return here.deletingLastPathComponent().appending(path: name).path
}

/// The time limit of any step on a busy machine.
let patience = Duration.seconds(60)

/// The output of a finished command.
struct Finished: Sendable {
  let code: Int32?
  let output: [String]
  let errors: String
}

/// Runs `tern`, or another program of ours, to its end.
func run(
  _ arguments: [String], program: String = "tern", input: String? = nil,
  environment: [String: String]? = nil, folder: String? = nil
) async throws -> Finished {
  let child = try ChildProcess(
    binary(program), arguments, environment: environment, folder: folder)
  if let input { child.send(input) }
  child.closeInput()
  return await finish(child)
}

/// Waits for a process to end; one that does not is killed.
func finish(_ child: ChildProcess) async -> Finished {
  let code = await child.exitCode(within: patience)
  if code == nil { child.killNow() }
  // Both pipes are read to their end before the lines are examined.
  _ = await child.output.line(within: patience) { _ in false }
  _ = await child.errors.line(within: patience) { _ in false }
  return Finished(
    code: code, output: child.output.history,
    errors: child.errors.history.joined(separator: "\n"))
}

/// A server process with its data in a folder of its own.
struct ServerUnderTest: Sendable {
  let process: ChildProcess
  let address: String

  /// Starts a server and waits until it listens; without rules it is one for development.
  init(folder: String, arguments: [String] = [], port: String = "0") async throws {
    let isBare = !arguments.contains("--rules") && !arguments.contains("--dev")
    process = try ChildProcess(
      ternBinary,
      ["serve", "--path", folder + "/data", "--port", port] + (isBare ? ["--dev"] : []) + arguments)
    let beginning = "listening on "
    let line = await process.output.line(within: patience) { $0.hasPrefix(beginning) }
    address = String(
      try #require(line, "\(process.errors.history)").dropFirst(beginning.count))
  }

  var port: String { address.split(separator: ":").last.map(String.init) ?? "" }

  /// Runs a client command against this server, which a busy machine may keep waiting.
  func tern(_ arguments: String..., input: String? = nil) async throws -> Finished {
    let waiting = arguments.contains("--timeout") ? [] : ["--timeout", "60"]
    return try await run(arguments + ["--server", address] + waiting, input: input)
  }

  /// Asks it to stop, and answers its exit code.
  func stop() async -> Int32? {
    process.stop()
    let code = await process.exitCode(within: patience)
    _ = await process.output.line(within: patience) { _ in false }
    _ = await process.errors.line(within: patience) { _ in false }
    return code
  }
}

/// Lends a new empty folder, and removes it.
func withFolder(_ body: (String) async throws -> Void) async throws {
  let folder = URL.temporaryDirectory.appending(path: "tern-test-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder.path)
}

/// Lends a running server, and kills it.
func withServer(
  _ arguments: [String] = [], _ body: (ServerUnderTest, String) async throws -> Void
) async throws {
  try await withFolder { folder in
    let server = try await ServerUnderTest(folder: folder, arguments: arguments)
    defer { server.process.killNow() }
    try await body(server, folder)
  }
}
