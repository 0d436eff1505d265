#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// Forgetting everything, safe against a crash in the middle: a mark is made durable first, and a
// directory that has it is wiped before anything in it is opened.

extension StoreDirectory {
  /// The file that says that the others are to go.
  private static let mark = "wiping"

  /// True when an erasure was begun and not finished.
  public var isBeingWiped: Bool { holds(Self.mark) }

  /// Begins a wipe; returns when nothing can undo it any more.
  public func beginWipe() throws(StorageError) {
    let descriptor = unsafe open(
      file(Self.mark), O_WRONLY | O_CREAT | O_CLOEXEC, mode_t(Self.fileMode))
    guard descriptor >= 0 else { throw Self.error(errno, path) }
    _ = Self.closeFile(descriptor)
    try sync()
  }

  /// Overwrites and removes files that no process has open, and ends the erasure.
  ///
  /// What a file system or a disk keeps of overwritten blocks is out of reach.
  public func finishWipe(of names: [String]) throws(StorageError) {
    for name in names where holds(name) {
      overwrite(name)
      guard unsafe unlink(file(name)) == 0 else { throw Self.error(errno, path) }
    }
    try sync()
    remove(Self.mark)
    try sync()
  }

  /// Writes zeros over a file as well as it can: the file goes in any case.
  private func overwrite(_ name: String) {
    let descriptor = unsafe open(file(name), O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { _ = Self.closeFile(descriptor) }
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    var left = Int(lseek(descriptor, 0, SEEK_END))
    lseek(descriptor, 0, SEEK_SET)
    while left > 0 {
      // Safe: `write` reads the bytes of `zeros` and keeps no pointer.
      let written = unsafe zeros.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, min(left, $0.count))
      }
      if written <= 0 { break }
      left -= written
    }
    fsync(descriptor)
    ftruncate(descriptor, 0)
  }
}
