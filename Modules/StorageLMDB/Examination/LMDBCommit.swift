import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A commit, as the witness beside the file names it.
struct LMDBCommit: Equatable {
  var transaction: UInt64
  /// A checksum of what the commit wrote to its meta page.
  var digest: UInt32

  init(transaction: UInt64, digest: UInt32) {
    self.transaction = transaction
    self.digest = digest
  }

  /// The commit `transaction` of an open file; `nil` when its meta page cannot be read.
  init?(_ transaction: Int, in descriptor: Int32, pageBytes: Int) {
    self.transaction = UInt64(transaction)
    let offset = (transaction & 1) * pageBytes
    // Safe: `pread` fills at most the bytes of the buffer and keeps no pointer.
    let digest = unsafe withUnsafeTemporaryAllocation(
      byteCount: LMDBMeta.bytes, alignment: 16
    ) { page -> UInt32? in
      let count = unsafe pread(descriptor, page.baseAddress, page.count, off_t(offset))
      return count == page.count ? unsafe LMDBMeta.digest(UnsafeRawBufferPointer(page)) : nil
    }
    guard let digest else { return nil }
    self.digest = digest
  }

  /// The commit of a witness's payload: the transaction in 8 bytes, the checksum in 4, the least
  /// byte first.
  init?(_ payload: [UInt8]?) {
    guard let payload, payload.count == 12 else { return nil }
    transaction = payload[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    digest = payload[8...].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  var payload: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: transaction >> (8 * $0)) }
      + (0..<4).map { UInt8(truncatingIfNeeded: digest >> (8 * $0)) }
  }
}
