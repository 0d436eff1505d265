import CLMDB
import TernStorage

/// What a store keeps about itself, in the space after all buckets.
enum LMDBFormat {
  /// The version this code writes and the newest it reads.
  static let version: UInt64 = 1

  private static let versionKey = [LMDBKey.metaTag] + Array("format".utf8)
  private static let bucketKey = [LMDBKey.metaTag] + Array("bucket".utf8)

  /// All LMDB keys of what a store keeps about itself.
  static let keys = [versionKey, bucketKey]

  /// Writes the format of a new store.
  static func create(_ transaction: LMDBTransaction) throws(StorageError) {
    try write(version, versionKey, transaction)
  }

  /// Checks that a store has the format this code reads.
  static func check(_ transaction: LMDBTransaction) throws(StorageError) {
    guard let found = try read(versionKey, transaction) else {
      throw .corruptStore(reason: "the LMDB file is not a Tern store")
    }
    guard found <= version else {
      throw .newerFormat(found: Int(clamping: found), supported: Int(version))
    }
  }

  /// The number of a bucket never used before.
  static func takeBucketNumber(_ transaction: LMDBTransaction) throws(StorageError) -> UInt64 {
    let last = try read(bucketKey, transaction) ?? 0
    guard last < .max else { throw .corruptRecord(key: bucketKey) }
    let next = last + 1
    try write(next, bucketKey, transaction)
    return next
  }

  private static func read(
    _ key: [UInt8], _ transaction: LMDBTransaction
  ) throws(StorageError) -> UInt64? {
    // Safe: the record is decoded before the transaction changes.
    unsafe try key.span.withUnsafeBytes { bytes throws(StorageError) in
      guard let record = unsafe try transaction.get(bytes) else { return nil }
      guard let value = unsafe checkedValue(of: record, key: bytes), value.count == 8 else {
        throw .corruptRecord(key: key)
      }
      return unsafe UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }
  }

  private static func write(
    _ number: UInt64, _ key: [UInt8], _ transaction: LMDBTransaction
  ) throws(StorageError) {
    var buffer = RecordBuffer()
    let value = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    // Safe: the record is copied into the room made for it, both valid here.
    unsafe try buffer.withRecord(value.span, for: key.span) { record throws(StorageError) in
      unsafe try key.span.withUnsafeBytes { key throws(StorageError) in
        let target = unsafe try transaction.reserve(key, count: record.count)
        unsafe target.copyMemory(from: record.baseAddress!, byteCount: record.count)
      }
    }
  }
}
