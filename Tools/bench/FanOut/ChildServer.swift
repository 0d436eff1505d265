import Foundation

/// A server in a process of its own, ended with the measurement.
struct ChildServer {
  let process: Process
  let port: Int

  /// The path of the program `tern`: the one beside this program, or what `TERN_PROGRAM` names.
  /// `nil`, with a line about it, when there is none.
  static var ternProgram: String? {
    let own = URL(fileURLWithPath: CommandLine.arguments[0])
    let program =
      ProcessInfo.processInfo.environment["TERN_PROGRAM"]
      ?? own.deletingLastPathComponent().appending(path: "tern").path
    if FileManager.default.isExecutableFile(atPath: program) { return program }
    print("there is no program at \(program); build it, or name it in TERN_PROGRAM")
    return nil
  }

  /// This program with `arguments`, once it has printed its port.
  static func start(_ arguments: [String]) throws -> ChildServer {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = Pipe()
    try process.run()
    return ChildServer(process: process, port: Int(firstLine(of: output)) ?? 0)
  }

  /// A redis-server that keeps nothing on disk; it must be installed.
  static func redis(port: Int = .random(in: 20_000..<30_000)) throws -> ChildServer {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "redis-server", "--port", "\(port)", "--save", "", "--appendonly", "no",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    while !firstLine(of: output).contains("Ready to accept") && process.isRunning {}
    return ChildServer(process: process, port: port)
  }

  /// Memory that is resident now, in bytes; 0 where the system does not say.
  var residentBytes: Int { ProcessMemory.value(of: "VmRSS:", in: "\(process.processIdentifier)") }

  /// The most that was resident since ``forgetPeak()``, in bytes; 0 where the system does not say.
  var peakBytes: Int { ProcessMemory.value(of: "VmHWM:", in: "\(process.processIdentifier)") }

  /// Begins to look for the peak anew.
  func forgetPeak() { ProcessMemory.forgetPeak(of: "\(process.processIdentifier)") }

  /// Processor time used so far, in the program and in the system for it; 0 where the system does
  /// not say.
  var processorSeconds: Double {
    let path = "/proc/\(process.processIdentifier)/stat"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    // The name in parentheses may hold anything; the times are the 12th and 13th fields behind it.
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
      return 0
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  func stop() {
    // Nothing is to be saved, and a loaded server takes its time to say goodbye.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static func firstLine(of pipe: Pipe) -> String {
    var line: [UInt8] = []
    while let byte = pipe.fileHandleForReading.readData(ofLength: 1).first {
      if byte == UInt8(ascii: "\n") { break }
      line.append(byte)
    }
    return String(decoding: line, as: UTF8.self)
  }
}
