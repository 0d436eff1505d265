import Foundation

/// A file that appears under its name only when it is complete.
final class ExportFile {
  private let path: String
  private let aside: String
  private let handle: FileHandle

  private var isStandardOutput: Bool { path == "-" }

  /// Begins a file beside `path`; `-` is standard output.
  init(_ path: String) throws(Failure) {
    self.path = path
    aside = "\(path).\(ProcessInfo.processInfo.processIdentifier).part"
    if path == "-" {
      handle = .standardOutput
      return
    }
    guard FileManager.default.createFile(atPath: aside, contents: nil),
      let handle = FileHandle(forWritingAtPath: aside)
    else {
      throw Failure(.failed, "cannot write \(path): its folder is not there, or may not be written")
    }
    self.handle = handle
  }

  func write(_ text: String) throws {
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      throw cannotWrite
    }
  }

  /// Gives the file its name, once its content is on the disk.
  func finish() throws {
    guard !isStandardOutput else { return }
    do {
      try handle.synchronize()
      try handle.close()
    } catch {
      throw cannotWrite
    }
    guard unsafe rename(aside, path) == 0 else {
      throw cannotWrite
    }
  }

  /// The reason is the one of the system call that has just failed.
  private var cannotWrite: Failure {
    let code = errno
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
    return Failure(.failed, "cannot write \(path): \(reason)")
  }

  /// Removes what was written.
  func abandon() {
    guard !isStandardOutput else { return }
    try? handle.close()
    try? FileManager.default.removeItem(atPath: aside)
  }
}
