import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that holds some disk space back, so that rows can be removed when the disk is full.
public final class ReservedSpace: Sendable {
  /// The bytes to which a part of the space is held, when the disk has no more.
  private static let stepBytes = 16 * 1024

  private let path: String
  private let bytes: Int
  private let held = Mutex(0)

  /// True when all of the space is held.
  public var isHeld: Bool { held.withLock { $0 >= bytes } }

  /// The file at `path`; takes `bytes` of space, or as much as there is.
  public init(path: String, bytes: Int) {
    self.path = path
    self.bytes = bytes
    hold()
  }

  /// Takes the space, or a part of it when the disk has no more.
  public func hold() {
    held.withLock { held in
      if held >= bytes { return }
      var step = bytes - held
      while held < bytes, step >= min(bytes, Self.stepBytes) {
        if held + step <= bytes, Self.allocate(path, bytes: held + step) {
          held += step
        } else {
          step /= 2
        }
      }
    }
  }

  /// Gives the space back to the disk.
  public func release() {
    Self.release(path)
    held.withLock { $0 = 0 }
  }

  /// Gives the space of the file at `path` back, of which nothing is known to be held.
  public static func release(_ path: String) { unsafe truncate(path, 0) }
}

extension ReservedSpace {
  /// Makes the file at `path` at least `bytes` long, with all its space taken on the disk.
  ///
  /// - Returns: Whether there was enough space; the file is as long as before otherwise.
  public static func allocate(_ path: String, bytes: Int) -> Bool {
    let descriptor = unsafe open(
      path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(StoreDirectory.fileMode))
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let length = lseek(descriptor, 0, SEEK_END)
    if length >= bytes { return true }
    #if os(Linux)
      let isAllocated = posix_fallocate(descriptor, 0, bytes) == 0
    #else
      let isAllocated = writeZeros(descriptor, bytes)
    #endif
    if !isAllocated { ftruncate(descriptor, max(0, length)) }
    return isAllocated
  }
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
