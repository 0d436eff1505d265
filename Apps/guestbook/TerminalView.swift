import Foundation
import Observation

/// A guestbook on a terminal.
@MainActor
struct TerminalView {
  let guestbook: Guestbook

  /// Prints the lines now and after each change, until the task is cancelled.
  func run() async {
    await follow { lines in
      Self.write((lines.isEmpty ? ["no entry yet"] : lines).joined(separator: "\n") + "\n")
      return true
    }
  }

  /// Prints a line at once, also into a pipe; `fflush(nil)` would wait for the reader of standard
  /// input.
  nonisolated static func write(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  /// Prints the lines once they are the expected ones.
  func show(until expected: [String]) async {
    await follow { $0 != expected }
    for line in expected { print("  \(line)") }
  }

  /// Calls `next` with the lines now and after each change, until it returns false.
  private func follow(_ next: ([String]) -> Bool) async {
    while !Task.isCancelled {
      let (changes, change) = AsyncStream.makeStream(of: Void.self)
      let lines = withObservationTracking {
        guestbook.lines
      } onChange: {
        change.finish()
      }
      guard next(lines) else { return }
      for await _ in changes {}
    }
  }
}
