import CLMDB
import TernStorage

/// The rows that a store keeps about itself, in the space after all buckets.
enum LMDBFormat {
  /// The version this code writes and the newest it reads.
  static let version: UInt64 = 1

  private static let versionKey = [LMDBKey.metaTag] + Array("format".utf8)
  private static let bucketKey = [LMDBKey.metaTag] + Array("bucket".utf8)
  private static let reservePrefix = [LMDBKey.metaTag] + Array("reserve".utf8)

  /// With its checksum and the header of a page it takes 4,096 bytes.
  private static let reserveRowBytes = 4_096 - 16 - RecordChecksum.bytes

  /// Returns true when a row under this LMDB key is one of those that a store keeps about itself.
  static func isOwn(_ key: [UInt8]) -> Bool {
    key == versionKey || key == bucketKey
      || key.starts(with: reservePrefix) && key.count == reservePrefix.count + 2
  }

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

  /// Returns true when the rows that reserve space exist; they are added and removed together.
  static func hasReserve(_ transaction: LMDBTransaction) throws(StorageError) -> Bool {
    // Safe: LMDB keeps no pointer to the key.
    unsafe try reserveKey(0).span.withUnsafeBytes { key throws(StorageError) in
      unsafe try transaction.get(key) != nil
    }
  }

  /// Writes rows that hold `bytes` back, each with a page of its own: free pages need not lie side
  /// by side for them.
  static func putReserve(
    _ bytes: Int, _ transaction: LMDBTransaction
  ) throws(StorageError) {
    let value = [UInt8](repeating: 0, count: reserveRowBytes)
    for number in 0..<max(1, bytes >> 12) { try write(value, reserveKey(number), transaction) }
  }

  /// Removes the rows that hold space back.
  static func removeReserve(_ transaction: LMDBTransaction) throws(StorageError) {
    var number = 0
    var isThere = true
    while isThere {
      // Safe: LMDB keeps no pointer to the key.
      isThere = unsafe try reserveKey(number).span.withUnsafeBytes { key throws(StorageError) in
        unsafe try transaction.remove(key)
      }
      number += 1
    }
  }

  private static func reserveKey(_ number: Int) -> [UInt8] {
    reservePrefix + [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  private static func read(
    _ key: [UInt8], _ transaction: LMDBTransaction
  ) throws(StorageError) -> UInt64? {
    // Safe: the record is decoded before the transaction changes.
    unsafe try key.span.withUnsafeBytes { bytes throws(StorageError) in
      guard let record = unsafe try transaction.get(bytes) else { return nil }
      guard let value = unsafe RecordChecksum.checkedValue(of: record, key: bytes), value.count == 8
      else {
        throw .corruptRecord(key: key)
      }
      return unsafe UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
    }
  }

  private static func write(
    _ number: UInt64, _ key: [UInt8], _ transaction: LMDBTransaction
  ) throws(StorageError) {
    let value = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    try write(value, key, transaction)
  }

  private static func write(
    _ value: [UInt8], _ key: [UInt8], _ transaction: LMDBTransaction
  ) throws(StorageError) {
    var buffer = RecordBuffer()
    // Safe: the record is copied into the room made for it, both valid here.
    unsafe try buffer.withRecord(value.span, for: key.span) { record throws(StorageError) in
      unsafe try key.span.withUnsafeBytes { key throws(StorageError) in
        let target = unsafe try transaction.reserve(key, count: record.count)
        guard let bytes = record.baseAddress else { return }
        unsafe target.copyMemory(from: bytes, byteCount: record.count)
      }
    }
  }
}
