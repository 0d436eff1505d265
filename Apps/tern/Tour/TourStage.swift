import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The stage of the tour: it starts processes, sends them input and waits for their output.
final class TourStage: Sendable {
  private let program: String
  private let folder: String
  let patience: Duration
  private let state = Mutex(State())

  private struct State {
    var actors: [ChildProcess] = []
    /// True when the tour is ending: no further process starts.
    var isOver = false
  }

  init(program: String, folder: String, patience: Duration) {
    // A name without a slash was found by the shell on PATH; this very file is sure.
    self.program =
      program.contains("/")
      ? program : URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
    self.folder = folder
    self.patience = patience
  }

  /// Says what happens next.
  func announce(_ text: String) { printLine("\n== \(text)") }

  /// Says what was observed.
  func observe(_ text: String) { printLine("   \(text)") }

  /// Starts this program with other arguments.
  func start(_ arguments: [String]) throws -> ChildProcess {
    // Under the lock, so that the end of the tour misses no process.
    try state.withLock { state in
      if state.isOver { throw Failure(.failed, "the tour is ending") }
      let child = try ChildProcess(program, arguments, folder: folder)
      state.actors.append(child)
      return child
    }
  }

  /// Runs this program to its end.
  ///
  /// - Returns: The lines it printed.
  func run(_ arguments: [String]) async throws -> [String] {
    let child = try start(arguments)
    child.closeInput()
    guard await child.exitCode(within: patience) == 0 else {
      throw Failure(
        .failed, "`tern \(arguments.joined(separator: " "))` failed: \(child.errors.history)")
    }
    _ = await child.output.line(within: patience) { _ in false }
    return child.output.history
  }

  /// Waits until a process says a line that begins that way.
  @discardableResult
  func expect(_ beginning: String, from child: ChildProcess, _ who: String) async throws -> String {
    let line = await child.output.line(within: patience) { $0.hasPrefix(beginning) }
    guard let line else {
      throw Failure(
        .failed,
        """
        \(who) did not say "\(beginning)" within \(patience); it said: \
        \(child.output.history.suffix(8)) \(child.errors.history.suffix(4))
        """)
    }
    return line
  }

  /// Fails the tour unless two observations are the same.
  func require(_ found: String, is expected: String, _ what: String) throws {
    guard found == expected else {
      throw Failure(.failed, "\(what): expected \(expected), found \(found)")
    }
  }

  /// Kills a process without a warning, and waits until it is gone.
  func kill(_ child: ChildProcess) async throws {
    child.killNow()
    guard await child.exitCode(within: patience) != nil else {
      throw Failure(.failed, "process \(child.processID) survived kill -9")
    }
  }

  /// Ends whatever still runs.
  func clear() {
    let all = state.withLock { state in
      state.isOver = true
      return state.actors
    }
    for actor in all { actor.killNow() }
    // A folder can be removed once nothing writes into it any more.
    for actor in all { actor.waitForEnd() }
  }
}
