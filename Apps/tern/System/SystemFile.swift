#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The error number of a system call that failed.
struct SystemError: Error {
  let number: Int32

  /// The error of the call that has just failed.
  static var latest: SystemError { SystemError(number: errno) }
}

/// An open file, read and written by system calls.
final class SystemFile {
  /// Standard input; it stays open.
  static func standardInput() -> SystemFile { SystemFile(descriptor: 0, closesAtEnd: false) }
  /// Standard output; it stays open.
  static func standardOutput() -> SystemFile { SystemFile(descriptor: 1, closesAtEnd: false) }

  private var descriptor: Int32
  private let closesAtEnd: Bool

  /// Takes over an open file.
  init(descriptor: Int32, closesAtEnd: Bool = true) {
    self.descriptor = descriptor
    self.closesAtEnd = closesAtEnd
  }

  /// Opens a file to read it; `nil` when that fails.
  convenience init?(readingAt path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.init(descriptor: descriptor)
  }

  /// Opens a file to write it in place; `nil` when that fails.
  convenience init?(writingAt path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.init(descriptor: descriptor)
  }

  /// Opens a new file without a name, which the system removes when it is closed.
  static func temporary() throws(SystemError) -> SystemFile {
    let folder = ClientFlags.variable("TMPDIR") ?? "/tmp"
    var template = Array("\(folder)/tern-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&template)
    guard descriptor >= 0 else { throw .latest }
    let file = SystemFile(descriptor: descriptor)
    _ = unsafe unlink(&template)
    return file
  }

  deinit { if closesAtEnd, descriptor >= 0 { _ = systemClose(descriptor) } }

  /// Returns the next bytes, at most `count`; none at the end.
  func read(upTo count: Int) throws(SystemError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    while true {
      let found = unsafe systemRead(descriptor, &buffer, count)
      if found >= 0 { return Array(buffer.prefix(found)) }
      guard errno == EINTR else { throw .latest }
    }
  }

  /// Returns everything up to the end.
  func readToEnd() throws(SystemError) -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let part = try read(upTo: Self.partBytes)
      if part.isEmpty { return all }
      all += part
    }
  }

  private static let partBytes = 64 << 10

  /// Writes all bytes.
  func write(_ bytes: [UInt8]) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { part in
        unsafe systemWrite(descriptor, part.baseAddress, part.count)
      }
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if errno != EINTR {
        throw .latest
      }
    }
  }

  /// Goes back to the beginning.
  func rewind() throws(SystemError) {
    if lseek(descriptor, 0, SEEK_SET) < 0 { throw .latest }
  }

  /// Waits until everything is on the disk.
  func synchronize() throws(SystemError) {
    if fsync(descriptor) != 0 { throw .latest }
  }

  func close() throws(SystemError) {
    guard closesAtEnd, descriptor >= 0 else { return }
    let open = descriptor
    descriptor = -1
    if systemClose(open) != 0 { throw .latest }
  }
}

// The system's calls, under names that no method hides.

private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(file, buffer, count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(file, buffer, count)
}

private func systemClose(_ file: Int32) -> Int32 { close(file) }
