import TernServerAssembly

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The memory that this process may use.
enum MachineMemory {
  /// The files in which control groups limit the memory of their processes.
  private static let limitFiles = [
    "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
  ]

  /// The machine's memory in bytes, or the limit of its container where that is lower.
  static func bytes() -> Int {
    let machine = Int(clamping: ProcessInfo.processInfo.physicalMemory)
    let limits = limitFiles.compactMap { path in
      (try? String(contentsOfFile: path, encoding: .utf8)).flatMap {
        Int($0.trimmed)
      }
    }
    return limits.filter { $0 > 0 }.reduce(machine, min)
  }

  /// The memory that all clients of a server may take when nothing else is said: a quarter.
  static func standardLimit() -> Int { max(LimitOptions.leastMemoryBytes, bytes() / 4) }
}
