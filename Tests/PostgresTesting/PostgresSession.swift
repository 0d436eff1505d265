import Foundation

/// A session of the server's own client, which keeps transactions open.
package final class PostgresSession {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var count = 0

  /// Starts a session.
  package init(_ connection: String) throws {
    process.executableURL = URL(filePath: PostgresServer.program("psql"))
    process.arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", connection]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Runs statements and returns what they print.
  package func ask(_ statements: String) throws -> String {
    count += 1
    let end = "end \(count)\n"
    try input.fileHandleForWriting.write(
      contentsOf: Data("\(statements);\n\\echo end \(count)\n".utf8))
    var text = ""
    while !text.hasSuffix(end) {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { throw ProgramFailure("psql", output: text) }
      text += String(decoding: data, as: UTF8.self)
    }
    return text.dropLast(end.count).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Repeats statements until they print `expected`, for two minutes at most.
  package func ask(_ statements: String, until expected: String) async throws -> Bool {
    let deadline = ContinuousClock.now.advanced(by: .seconds(120))
    while ContinuousClock.now < deadline {
      if try ask(statements) == expected { return true }
      _ = try ask("select pg_sleep(0.005)")
      // What is waited for may need this thread.
      await Task.yield()
    }
    return false
  }

  /// Ends the session.
  package func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
