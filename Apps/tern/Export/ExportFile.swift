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
    else { throw Failure(.failed, "cannot write \(aside)") }
    self.handle = handle
  }

  func write(_ text: String) throws {
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      throw Failure(.failed, "cannot write \(aside): \(error)")
    }
  }

  /// Gives the file its name, once its content is on the disk.
  func finish() throws {
    guard !isStandardOutput else { return }
    do {
      try handle.synchronize()
      try handle.close()
    } catch {
      throw Failure(.failed, "cannot write \(aside): \(error)")
    }
    guard unsafe rename(aside, path) == 0 else {
      throw Failure(.failed, "cannot rename \(aside) to \(path): errno \(errno)")
    }
  }

  /// Removes what was written.
  func abandon() {
    guard !isStandardOutput else { return }
    try? handle.close()
    try? FileManager.default.removeItem(atPath: aside)
  }
}
