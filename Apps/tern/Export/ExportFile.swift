import Foundation

/// A file that appears under its name only when it is complete.
///
/// A link is followed, and a file that is there keeps its mode and, where the system allows it, its
/// owner. What is no regular file, such as a device or a pipe, is written in place.
final class ExportFile {
  private let path: String
  /// The file that is renamed at the end; `nil` for what is written in place.
  private let aside: String?
  /// The file that gets a new content.
  private let target: String
  private let handle: FileHandle

  /// True for a regular file, whose completion is reported; other targets speak for themselves.
  var isFile: Bool { aside != nil }

  /// Begins a file beside `path`; `-` is standard output.
  init(_ path: String) throws(Failure) {
    self.path = path
    var found = stat()
    let code = unsafe stat(path, &found)
    let exists = path != "-" && code == 0
    if path == "-" || exists && found.st_mode & S_IFMT != S_IFREG {
      (aside, target) = (nil, path)
      if path == "-" {
        handle = .standardOutput
        return
      }
      guard let handle = FileHandle(forWritingAtPath: path) else { throw Self.cannotWrite(path) }
      self.handle = handle
      return
    }
    target = Self.resolved(path)
    let aside = "\(target).\(ProcessInfo.processInfo.processIdentifier).part"
    let mode = exists ? found.st_mode & 0o7777 : 0o666
    let descriptor = unsafe open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600 & mode)
    guard descriptor >= 0 else { throw Self.cannotWrite(path) }
    self.aside = aside
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    if exists {
      // Only a privileged program may give files away.
      _ = fchown(descriptor, found.st_uid, found.st_gid)
      _ = fchmod(descriptor, mode)
    } else {
      let mask = umask(0)
      _ = umask(mask)
      _ = fchmod(descriptor, mode & ~mask)
    }
  }

  /// The file that a path leads to over links, also when that is not there yet.
  private static func resolved(_ path: String) -> String {
    var path = path
    for _ in 0..<40 {
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
        break
      }
      let folder = URL(filePath: path).deletingLastPathComponent().path
      path = next.hasPrefix("/") ? next : folder + "/" + next
    }
    return path
  }

  func write(_ text: String) throws {
    if path == "-" { return printText(text) }
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      throw Self.cannotWrite(path)
    }
  }

  /// Gives the file its name, once its content is on the disk.
  func finish() throws {
    guard path != "-" else { return }
    do {
      if aside != nil { try handle.synchronize() }
      try handle.close()
    } catch {
      throw Self.cannotWrite(path)
    }
    guard let aside else { return }
    guard unsafe rename(aside, target) == 0 else { throw Self.cannotWrite(path) }
  }

  /// The reason is the one of the system call that has just failed.
  private static func cannotWrite(_ path: String) -> Failure {
    Failure(.failed, "cannot write \(path): \(systemText(errno))")
  }

  /// Removes what was written.
  func abandon() {
    guard let aside else { return }
    try? handle.close()
    try? FileManager.default.removeItem(atPath: aside)
  }
}
