import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that holds some disk space back, so that rows can be removed when the disk is full.
///
package final class Ballast: Sendable {
  /// The space held back, in bytes.
  package static let bytes = 1024 * 1024

  private let path: String

  private let held = Mutex(false)

  /// Whether the space is held.
  package var isHeld: Bool { held.withLock { $0 } }

  /// The ballast at `path`; takes the space if it can.
  package init(path: String) {
    self.path = path
    hold()
  }

  /// Takes the space if there is enough on the disk.
  package func hold() {
    held.withLock { isHeld in if !isHeld { isHeld = take() } }
  }

  private func take() -> Bool {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    if lseek(descriptor, 0, SEEK_END) == Self.bytes {
      return true
    }
    ftruncate(descriptor, 0)
    lseek(descriptor, 0, SEEK_SET)
    let chunk = [UInt8](repeating: 0, count: 64 * 1024)
    for _ in 0..<(Self.bytes / chunk.count) {
      // Safe: `write` reads `count` bytes of `chunk` and keeps no pointer.
      let written = unsafe chunk.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      if written < chunk.count {
        ftruncate(descriptor, 0)
        return false
      }
    }
    return true
  }

  /// Gives the space back to the disk.
  package func release() {
    unsafe truncate(path, 0)
    held.withLock { $0 = false }
  }
}
