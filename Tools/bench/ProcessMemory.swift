import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// The memory of this process; zero where the system does not say.
enum ProcessMemory {
  /// The resident memory now, in bytes.
  static var resident: Int { value(of: "VmRSS:") }

  /// The resident memory that is no part of a file, in bytes: pages of a mapped file are the
  /// system's, as those that it keeps of files that are read, and it takes them back when it needs
  /// room.
  static var own: Int { value(of: "RssAnon:") }

  /// The most that was resident since ``forgetPeak()``, in bytes.
  static var peak: Int { value(of: "VmHWM:") }

  /// Gives back to the system what was freed, so that what is used next is seen.
  static func giveBack() {
    #if canImport(Glibc)
      // Swift's map of the C library leaves it out.
      typealias Trim = @convention(c) (Int) -> CInt
      guard let symbol = unsafe dlsym(nil, "malloc_trim") else { return }
      _ = unsafe unsafeBitCast(symbol, to: Trim.self)(0)
    #endif
  }

  /// Begins to look for the peak of a process anew.
  static func forgetPeak(of process: String = "self") {
    // In place: a file of the system cannot be replaced by another one.
    guard let file = FileHandle(forWritingAtPath: "/proc/\(process)/clear_refs") else { return }
    try? file.write(contentsOf: Data("5".utf8))
    try? file.close()
  }

  /// Returns a figure that the system has about a process, in bytes.
  static func value(of name: String, in process: String = "self") -> Int {
    let path = "/proc/\(process)/status"
    let status = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
    return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
  }
}
