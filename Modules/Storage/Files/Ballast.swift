import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that holds some disk space back, so that rows can be removed when the disk is full.
package final class Ballast: Sendable {
  private let path: String
  private let bytes: Int
  private let held = Mutex(false)

  /// Whether the space is held.
  package var isHeld: Bool { held.withLock { $0 } }

  /// The ballast at `path`; takes `bytes` of space if it can.
  package init(path: String, bytes: Int) {
    self.path = path
    self.bytes = bytes
    hold()
  }

  /// Takes the space if there is enough on the disk.
  package func hold() {
    held.withLock { isHeld in
      if !isHeld { isHeld = allocateFile(path, bytes: bytes) }
    }
  }

  /// Gives the space back to the disk.
  package func release() {
    unsafe truncate(path, 0)
    held.withLock { $0 = false }
  }
}

/// Makes the file at `path` at least `bytes` long, with all its space taken on the disk.
///
/// - Returns: Whether there was enough space; the file is emptied otherwise.
package func allocateFile(_ path: String, bytes: Int) -> Bool {
  let descriptor = unsafe open(
    path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(StoreDirectory.fileMode))
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  if lseek(descriptor, 0, SEEK_END) >= bytes { return true }
  #if os(Linux)
    let isAllocated = posix_fallocate(descriptor, 0, bytes) == 0
  #else
    let isAllocated = writeZeros(descriptor, bytes)
  #endif
  if !isAllocated { ftruncate(descriptor, 0) }
  return isAllocated
}

#if !os(Linux)
  private func writeZeros(_ descriptor: Int32, _ bytes: Int) -> Bool {
    lseek(descriptor, 0, SEEK_SET)
    let chunk = [UInt8](repeating: 0, count: 64 * 1024)
    var left = bytes
    while left > 0 {
      // Safe: `write` reads the bytes of `chunk` and keeps no pointer.
      let written = unsafe chunk.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, min(left, $0.count))
      }
      if written <= 0 { return false }
      left -= written
    }
    return true
  }
#endif
