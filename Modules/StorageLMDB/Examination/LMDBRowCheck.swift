import TernStorage

/// A check of the rows of the main tree: their spaces, their buckets, their checksums.
///
/// A row whose value is damaged stays: reading it is an error. A row whose *key* is damaged would
/// be missing under its own one without a word, so the store is refused.
struct LMDBRowCheck: LMDBNodeVisitor {
  static let branchNodes = 2
  /// The bytes that may be hashed to tell damaged keys from damaged values.
  private static let hashLimit = 8 << 30

  /// A bucket: what its keys begin with is the begin of the bucket around it and `chunk`.
  private struct Bucket {
    var outer: UInt64?
    var chunk: [UInt8]
  }

  private var buckets: [UInt64: Bucket] = [:]
  /// The bucket of the row before, and what its keys begin with.
  private var current: (number: UInt64, prefix: [UInt8])?
  private var key: [UInt8] = []
  private var hashed = 0

  @inline(__always)
  static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    unsafe compareBytes(Span(_unsafeBytes: a), Span(_unsafeBytes: b))
  }

  @inline(__always)
  mutating func visit(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StorageError) {
    guard let tag = unsafe key.first, key.count <= LMDBKey.pointerBytes else {
      throw unsafe Self.damage([UInt8](key))
    }
    if tag == LMDBKey.rootTag, key.count < LMDBKey.pointerBytes {
      let row = unsafe UnsafeRawBufferPointer(rebasing: key.dropFirst())
      if unsafe RecordChecksum.checkedValue(of: value, key: row) == nil {
        unsafe try explain(key, value)
      }
    } else {
      unsafe try visitOther(key, value, tag)
    }
  }

  private mutating func visitOther(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ tag: UInt8
  ) throws(StorageError) {
    guard unsafe takeKey(of: key) else { throw unsafe Self.damage([UInt8](key)) }
    let isPointer = key.count == LMDBKey.pointerBytes
    // Safe: `self.key` lives through the call.
    let record = unsafe self.key.withUnsafeBytes {
      unsafe RecordChecksum.checkedValue(of: value, key: $0)
    }
    guard let record = unsafe record else {
      if isPointer { throw unsafe Self.damage([UInt8](key)) }
      return unsafe try explain(key, value)
    }
    guard isPointer else { return }
    guard record.count == 8 else { throw unsafe Self.damage([UInt8](key)) }
    let number = unsafe UInt64(bigEndian: record.loadUnaligned(as: UInt64.self))
    let space = tag == LMDBKey.rootTag ? LMDBSpace.root : .bucket(current?.number ?? 0)
    let chunk = unsafe [UInt8](key[space.prefixBytes..<(key.count - 1)])
    let outer = tag == LMDBKey.rootTag ? nil : current?.number
    guard buckets.updateValue(Bucket(outer: outer, chunk: chunk), forKey: number) == nil else {
      throw .corruptStore(reason: "two rows lead to the bucket \(number)")
    }
  }

  /// Sets ``key`` to what the checksum of a record is over, for its LMDB key.
  ///
  /// - Returns: `false` for an LMDB key that no row has.
  private mutating func takeKey(of lmdbKey: UnsafeRawBufferPointer) -> Bool {
    guard let tag = unsafe lmdbKey.first else { return false }
    let isPointer = lmdbKey.count == LMDBKey.pointerBytes
    if isPointer, unsafe lmdbKey.last != LMDBKey.pointerMark { return false }
    switch tag {
    case LMDBKey.rootTag:
      unsafe key = isPointer ? [UInt8](lmdbKey) : [UInt8](lmdbKey.dropFirst())
      return true
    case LMDBKey.bucketTag:
      guard lmdbKey.count >= 9 else { return false }
      let number = unsafe UInt64(
        bigEndian: lmdbKey.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      guard let prefix = prefix(of: number) else { return false }
      unsafe key = isPointer ? [UInt8](lmdbKey) : prefix + lmdbKey.dropFirst(9)
      return true
    default:
      unsafe key = [UInt8](lmdbKey)
      return LMDBFormat.isOwn(key)
    }
  }

  /// Returns the common prefix of a bucket's keys; `nil` for a bucket without a pointer to it.
  private mutating func prefix(of number: UInt64) -> [UInt8]? {
    if let current, current.number == number { return current.prefix }
    var chunks: [[UInt8]] = []
    var next: UInt64? = number
    while let inner = next {
      // A bucket is made after the one around it.
      guard let bucket = buckets[inner], bucket.outer ?? 0 < inner else { return nil }
      chunks.append(bucket.chunk)
      next = bucket.outer
    }
    let prefix = Array(chunks.reversed().joined())
    current = (number, prefix)
    return prefix
  }

  /// Tells a damaged key from a damaged value: with a damaged one, the record fits the key that
  /// differs in one bit, or in its length.
  private mutating func explain(
    _ lmdbKey: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let before = current
    defer { current = before }
    let whole = unsafe [UInt8](lmdbKey) + [UInt8](record)
    let count = lmdbKey.count
    var candidate = whole
    for bit in 0..<(8 * count) {
      candidate[bit >> 3] ^= 1 << UInt8(bit & 7)
      if fits(candidate, keyBytes: count) { throw Self.damage(Array(whole.prefix(count))) }
      candidate[bit >> 3] = whole[bit >> 3]
    }
    unsafe try explainLength(lmdbKey, record)
  }

  /// Tells a key whose length is wrong by one: the even size of its node hides that. Any other
  /// length leaves a gap between nodes, which ``LMDBTiling`` finds.
  private mutating func explainLength(
    _ lmdbKey: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let known = lmdbKey.count + record.count
    let count = lmdbKey.count ^ 1
    // One byte more than the node says is its padding, where it has any.
    guard unsafe record.baseAddress == lmdbKey.baseAddress.map({ unsafe $0 + lmdbKey.count }),
      count < lmdbKey.count || !known.isMultiple(of: 2)
    else { return }
    // Safe: the bytes lie in the node, padding included.
    let whole = unsafe [UInt8](
      UnsafeRawBufferPointer(start: lmdbKey.baseAddress, count: count + record.count))
    if fits(whole, keyBytes: count) { throw unsafe Self.damage([UInt8](lmdbKey)) }
  }

  /// Returns true when some bytes are an LMDB key and the record that belongs to it.
  private mutating func fits(_ bytes: [UInt8], keyBytes: Int) -> Bool {
    guard keyBytes > 0, keyBytes <= min(bytes.count, LMDBKey.pointerBytes),
      hashed < Self.hashLimit
    else { return false }
    hashed += bytes.count
    // Safe: `bytes` and `key` live through the calls.
    return unsafe bytes.withUnsafeBytes { bytes in
      let lmdbKey = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<keyBytes])
      guard unsafe takeKey(of: lmdbKey) else { return false }
      let record = unsafe UnsafeRawBufferPointer(rebasing: bytes[keyBytes...])
      return unsafe key.withUnsafeBytes {
        unsafe RecordChecksum.checkedValue(of: record, key: $0) != nil
      }
    }
  }

  private static func damage(_ key: [UInt8]) -> StorageError {
    .corruptStore(
      reason: "a row's key is damaged; it lies under "
        + key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
  }
}
