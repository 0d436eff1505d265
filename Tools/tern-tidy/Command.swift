import Foundation

/// Runs another program and waits for it.
enum Command {
  struct Result {
    let status: Int32
    let output: String
    let errors: String
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static func run(_ words: [String], in folder: String) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    let aside = FileManager.default.temporaryDirectory
      .appending(path: "tern-tidy-\(ProcessInfo.processInfo.processIdentifier)")
    _ = FileManager.default.createFile(atPath: aside.path(), contents: nil)
    defer { try? FileManager.default.removeItem(at: aside) }
    let output = Pipe()
    process.standardOutput = output
    // Errors go to a file: a second full pipe would stop the program.
    process.standardError = try FileHandle(forWritingTo: aside)
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus,
      output: String(decoding: bytes, as: UTF8.self),
      errors: String(decoding: (try? Data(contentsOf: aside)) ?? Data(), as: UTF8.self))
  }
}
