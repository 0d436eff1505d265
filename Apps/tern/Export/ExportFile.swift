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
  private let file: SystemFile

  /// True for a regular file, whose completion is reported; other targets speak for themselves.
  var isFile: Bool { aside != nil }

  /// Begins a file beside `path`; `-` is standard output.
  init(_ path: String) throws(Failure) {
    if let descriptor = Self.descriptor(of: path) {
      self.path = descriptor == 1 ? "-" : path
      (aside, target) = (nil, path)
      file = SystemFile(descriptor: descriptor, closesAtEnd: false)
      return
    }
    self.path = path
    let target = Self.resolved(path)
    let exists = path != "-" && FileManager.default.fileExists(atPath: path)
    let found = FileStatus(of: target, followsLinks: false)
    if path == "-" || exists && found?.isRegular != true {
      (aside, self.target) = (nil, path)
      if path == "-" {
        file = .standardOutput()
        return
      }
      guard let file = SystemFile(writingAt: path) else { throw Self.cannotWrite(path) }
      self.file = file
      return
    }
    self.target = target
    let mode = found?.mode ?? 0o666
    guard let (aside, descriptor) = PartFiles.create(for: target, mode: 0o600 & mode) else {
      throw Self.cannotWrite(path)
    }
    self.aside = aside
    file = SystemFile(descriptor: descriptor)
    if let found {
      // Only a privileged program may give files away.
      _ = fchown(descriptor, found.owner, found.group)
      _ = fchmod(descriptor, mode)
    } else {
      let mask = umask(0)
      _ = umask(mask)
      _ = fchmod(descriptor, mode & ~mask)
    }
  }

  /// The open file that a path names, such as `/dev/stdout`; `nil` for a path of its own.
  ///
  /// What else is written to it, by this program or its caller, goes on behind the data.
  private static func descriptor(of path: String) -> Int32? {
    switch path {
    case "/dev/stdout": return 1
    case "/dev/stderr": return 2
    default:
      for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
        return Int32(path.dropFirst(folder.count))
      }
      return nil
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
      try file.write(Array(text.utf8))
    } catch {
      throw Self.cannotWrite(path)
    }
  }

  /// Gives the file its name, once its content is on the disk.
  func finish() throws {
    guard path != "-" else { return }
    do {
      if aside != nil { try file.synchronize() } else { try file.close() }
    } catch {
      throw Self.cannotWrite(path)
    }
    guard let aside else { return }
    guard unsafe rename(aside, target) == 0 else { throw Self.cannotWrite(path) }
    PartFiles.forget(aside)
    // Open, and so locked, until it has its name: other programs leave it alone.
    try? file.close()
  }

  /// The reason is the one of the system call that has just failed.
  private static func cannotWrite(_ path: String) -> Failure {
    Failure(.failed, "cannot write \(path): \(systemText(errno))")
  }

  /// Removes what was written.
  func abandon() {
    guard let aside else { return }
    try? file.close()
    PartFiles.remove(aside)
  }
}
