import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A small file beside a store that names the newest commit known to be durable.
///
/// A backend writes it *after* a commit was synced, without a sync of its own. It therefore never
/// runs ahead of the store, and a store that is behind its witness has lost commits to damage. A
/// witness that is missing or corrupt proves nothing. Format: Docs/Formats/storage-witness.md.
public final class Witness: Sendable {
  /// The longest payload, in bytes.
  public static let payloadBytes = 48
  /// The length of the file, in bytes.
  static let fileBytes = 64

  private static let head = Array("TernWit".utf8) + [1]
  private static let payloadStart = 12
  private static let checksumStart = 60

  private let path: String
  /// The open file; negative before the first write.
  private let descriptor = Mutex<Int32>(-1)

  /// The witness at `path`. Performs no I/O.
  public init(path: String) { self.path = path }

  deinit { descriptor.withLock { Self.close(&$0) } }

  /// Returns the payload; `nil` when there is none or its checksum is wrong.
  public func read() -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { _ = StoreDirectory.closeFile(file) }
    var bytes = [UInt8](repeating: 0, count: Self.fileBytes + 1)
    // Safe: `pread` fills at most the bytes of `bytes` and keeps no pointer.
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(file, $0.baseAddress, $0.count, 0)
    }
    guard count == Self.fileBytes else { return nil }
    return Self.payload(of: Array(bytes.prefix(count)))
  }

  /// Replaces the payload. Takes about a microsecond, since nothing is synced.
  ///
  /// An I/O error is ignored: the older payload stays true. The payload must not exceed
  /// ``payloadBytes``.
  public func write(_ payload: [UInt8]) {
    let bytes = Self.encode(payload)
    descriptor.withLock { file in
      if file < 0 {
        file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(StoreDirectory.fileMode))
      }
      guard file >= 0 else { return }
      // Safe: `pwrite` reads the bytes of `bytes` and keeps no pointer.
      _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, 0) }
    }
  }

  /// Makes the payload written last durable; `false` when that failed.
  public func sync() -> Bool { descriptor.withLock { $0 >= 0 && fsync($0) == 0 } }

  /// Removes the file. The removal is durable after the next ``StoreDirectory/sync()``; sync before
  /// putting an older store in place.
  public func remove() {
    descriptor.withLock { file in
      Self.close(&file)
      unsafe unlink(path)
    }
  }

  private static func close(_ file: inout Int32) {
    if file >= 0 { _ = StoreDirectory.closeFile(file) }
    file = -1
  }

  /// The file's bytes for a payload.
  static func encode(_ payload: [UInt8]) -> [UInt8] {
    precondition(payload.count <= payloadBytes, "a witness has at most 48 bytes of payload")
    var bytes = head + [UInt8(payload.count), 0, 0, 0] + payload
    bytes += [UInt8](repeating: 0, count: checksumStart - bytes.count)
    let sum = checksum(of: bytes)
    bytes += (0..<4).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
    return bytes
  }

  private static func payload(of bytes: [UInt8]) -> [UInt8]? {
    let count = Int(bytes[head.count])
    guard count <= payloadBytes else { return nil }
    let payload = Array(bytes[payloadStart..<payloadStart + count])
    return encode(payload) == bytes ? payload : nil
  }

  private static func checksum(of bytes: [UInt8]) -> UInt32 {
    // Safe: both buffers live through the call.
    unsafe head.withUnsafeBytes { head in
      unsafe bytes.withUnsafeBytes { unsafe RecordChecksum.of(key: head, value: $0) }
    }
  }
}
