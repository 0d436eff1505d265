#if TCP && os(Linux)
  import Foundation

  /// A process that is killed when this one ends, however it ends: it lives as long as a pipe to
  /// it.
  struct TiedProcess {
    let process: Process
    private let pipe: Pipe

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - prefix: A program with arguments that takes the rest of the line as its own.
    ///   - signal: The signal that ends the program, without `SIG`.
    ///   - log: The file that its output is appended to.
    init(
      _ arguments: [String], prefix: [String] = [], signal: String = "KILL", log: String
    ) throws {
      if !FileManager.default.fileExists(atPath: log) {
        _ = FileManager.default.createFile(atPath: log, contents: nil)
      }
      guard let output = FileHandle(forWritingAtPath: log) else {
        throw BenchFailure(reason: "\(log) cannot be written")
      }
      try output.seekToEnd()
      // The program takes the place of the shell; what waits for the end of the pipe stays.
      let script = "exec 3<&0; (cat <&3 >/dev/null; kill -\(signal) $$) & exec \"$@\" 3<&-"
      process = Process()
      pipe = Pipe()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = prefix + ["sh", "-c", script, "sh"] + arguments
      process.standardInput = pipe
      process.standardOutput = output
      process.standardError = output
      // Other processes would keep it open when this one lets go of it.
      for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
        _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
      }
      try process.run()
      try output.close()
    }

    /// Sends the signal, without waiting for the end.
    func end() { try? pipe.fileHandleForWriting.close() }

    func waitForEnd() { process.waitUntilExit() }

    /// Runs a program to its end, on a thread of its own.
    ///
    /// - Returns: What it printed, without line breaks at the end.
    /// - Throws: `BenchFailure` for a status other than 0.
    @discardableResult
    static func run(_ arguments: [String]) async throws -> String {
      let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(returning: Result { try runBlocking(arguments) })
        }
      }
      return try result.get()
    }

    /// Runs a program to its end.
    @discardableResult
    static func runBlocking(_ arguments: [String]) throws -> String {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = arguments
      let output = Pipe()
      process.standardOutput = output
      process.standardError = output
      process.standardInput = FileHandle.nullDevice
      try process.run()
      let bytes = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
      guard process.terminationStatus == 0 else {
        throw BenchFailure(reason: "\(arguments.joined(separator: " ")) failed: \(text)")
      }
      return text
    }
  }
#endif
