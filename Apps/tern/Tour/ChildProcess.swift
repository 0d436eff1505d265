import Foundation

/// Another program of ours, driven through pipes and ended by its process id.
final class ChildProcess: Sendable {
  /// What it prints.
  let output = LineInbox()
  /// What it complains about.
  let errors = LineInbox()
  let processID: Int32

  private let process: Process
  private let input: FileHandle
  private let exit = ExitBox()

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - environment: All of its variables; `nil` passes those of this process on, without ours.
  ///   - folder: Where it works; `nil` is here.
  init(
    _ executable: String, _ arguments: [String], environment: [String: String]? = nil,
    folder: String? = nil
  ) throws {
    let process = Process()
    process.executableURL = URL(filePath: executable)
    process.arguments = arguments
    process.environment =
      environment
      ?? ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TERN_") }
    if let folder { process.currentDirectoryURL = URL(filePath: folder) }
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    let exit = exit
    process.terminationHandler = { ended in
      // What ended with a signal has no exit code of its own: shells say 128 and the signal.
      let signal = ended.terminationReason == .uncaughtSignal
      exit.resolve(ended.terminationStatus + (signal ? 128 : 0))
    }
    Self.read(output, into: self.output)
    Self.read(errors, into: self.errors)
    self.input = input.fileHandleForWriting
    try process.run()
    self.process = process
    processID = process.processIdentifier
  }

  private static func read(_ pipe: Pipe, into inbox: LineInbox) {
    pipe.fileHandleForReading.readabilityHandler = { handle in
      let data = handle.availableData
      inbox.add(Array(data))
      if data.isEmpty { handle.readabilityHandler = nil }
    }
  }

  /// Writes a line to its standard input.
  func send(_ line: String) {
    try? input.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Ends its standard input.
  func closeInput() { try? input.close() }

  /// Ends it without a warning, as `kill -9` does.
  func killNow() { kill(processID, SIGKILL) }

  /// Asks it to stop.
  func stop() { kill(processID, SIGTERM) }

  /// Waits for its end.
  ///
  /// - Returns: Its exit code; `nil` after `deadline`.
  func exitCode(within deadline: Duration) async -> Int32? {
    await withTaskGroup(of: Int32?.self) { group in
      group.addTask { await self.exit.value() }
      group.addTask {
        try? await ContinuousClock().sleep(for: deadline)
        if !Task.isCancelled { self.exit.wake() }
        return nil
      }
      var code: Int32?
      for await answer in group {
        code = code ?? answer
        group.cancelAll()
      }
      return code
    }
  }
}
