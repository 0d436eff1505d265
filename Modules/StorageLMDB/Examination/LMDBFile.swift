import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An LMDB file read by ordinary bounded reads, before LMDB maps it.
struct LMDBFile: ~Copyable {
  private let descriptor: Int32
  /// The length of the file, in bytes.
  let bytes: Int

  /// Opens the file at `path` for reading; `nil` when there is none.
  init?(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    bytes = Int(lseek(descriptor, 0, SEEK_END))
  }

  deinit { close(descriptor) }

  /// Reads `count` bytes at `offset` into `target`, which has room for them.
  ///
  /// - Throws: ``StorageError/corruptStore(reason:)`` at the end of the file;
  ///   ``StorageError/backend(operation:code:)`` with the `errno` of the read.
  func read(
    _ count: Int, at offset: Int, into target: UnsafeMutableRawPointer
  ) throws(StorageError) {
    var done = 0
    while done < count {
      let read = unsafe pread(descriptor, target + done, count - done, off_t(offset + done))
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw .backend(operation: "examine", code: errno) }
      guard read > 0 else { throw Self.cutOff(bytes: bytes) }
      done += read
    }
  }

  /// The error for a page in use that the file does not have.
  static func cutOff(bytes: Int) -> StorageError {
    .corruptStore(
      reason: "the file has \(bytes) bytes, and a page in use lies behind its end")
  }
}
