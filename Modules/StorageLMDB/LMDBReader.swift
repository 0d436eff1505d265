import CLMDB
import TernStorage

/// The backend's side of a snapshot.
///
/// The environment lends it to one snapshot, which uses it from one thread at a time.
/// ``LMDBWriter`` inherits from it, because reads inside a write transaction see the changes made
/// so far.
class LMDBReader: StoreReader {
  /// The transaction of all reads.
  ///
  /// A writer replaces it when the map grew or the reserve was released.
  var transaction: LMDBTransaction

  init(_ transaction: LMDBTransaction) { self.transaction = transaction }

  /// Lends the value where it lies in the mapped file, after its checksum was verified.
  ///
  /// The buffer is valid only during `body`. In a write transaction `body` must not change the
  /// store: LMDB may move the page.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` when the checksum of key and value does not
  ///   match.
  final func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    // Safe: the value lies in the map and stays while the transaction is lent and unchanged.
    let value = unsafe try key.withUnsafeBytes {
      key throws(StorageError) -> UnsafeRawBufferPointer? in
      guard let record = unsafe try record(for: key) else { return nil }
      if let value = unsafe RecordChecksum.checkedValue(of: record, key: key) {
        return unsafe value
      }
      throw unsafe .corruptRecord(key: [UInt8](key))
    }
    guard let value = unsafe value else { return nil }
    return unsafe try body(Span(_unsafeBytes: value))
  }

  /// Returns the bytes under a key without checking them. Recovery uses it to show what is left of
  /// a corrupt row.
  final func damagedValue(for key: Span<UInt8>) throws(StorageError) -> [UInt8]? {
    // Safe: the record is copied while the transaction is lent and unchanged.
    unsafe try key.withUnsafeBytes { key throws(StorageError) -> [UInt8]? in
      guard let record = unsafe try record(for: key) else { return nil }
      return unsafe [UInt8](record.dropFirst(RecordChecksum.bytes))
    }
  }

  /// Appends checked rows until the page is full. Each call seeks to the start of the scan; no
  /// cursor stays open between the pages of one scan.
  final func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let range = scan.range
    let isReversed = scan.isReversed
    // Safe: the pointer is used during the walk only.
    unsafe try withUnsafeMutablePointer(to: &page) { page throws(StorageError) in
      var walk = unsafe LMDBWalk(transaction, LMDBFiller(page: page), isReversed: isReversed)
      try walk.run(range)
    }
  }

  /// Returns the record of a key; `nil` without a row.
  ///
  /// The first branch serves almost all keys with one lookup and without a loop: rows have more
  /// than 509 bytes of key only in deep trees.
  @inline(__always)
  private func record(
    for key: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer? {
    if key.count <= LMDBSpace.root.capacity {
      return unsafe try transaction.get(transaction.keys.key(.root, key))
    }
    var space = LMDBSpace.root
    var rest = unsafe key
    while rest.count > space.capacity {
      guard let bucket = unsafe try bucket(in: space, rest) else { return nil }
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest[space.capacity...])
      space = bucket
    }
    return unsafe try transaction.get(transaction.keys.key(space, rest))
  }

  /// The bucket that the pointer for `rest` in `space` names, if there is one.
  final func bucket(
    in space: LMDBSpace, _ rest: UnsafeRawBufferPointer
  ) throws(StorageError) -> LMDBSpace? {
    let key = unsafe transaction.keys.key(space, rest)
    guard let record = unsafe try transaction.get(key) else { return nil }
    return unsafe try LMDBSpace(pointer: key, record: record)
  }
}

/// Copies rows into a page until it is full.
///
/// Rows of a bucket get their key from `outer` and the rest, which allocates once a row. Rows of
/// the root need no copy.
@safe
private struct LMDBFiller: LMDBVisitor {
  // Valid as long as the walk, see `fill`.
  let page: UnsafeMutablePointer<RowPage>
  var outer: [UInt8] = []
  /// The page of LMDB the last row was on.
  private var fetched: UInt = 0

  init(page: UnsafeMutablePointer<RowPage>) { unsafe self.page = page }

  @inline(__always)
  mutating func visit(
    _ entry: LMDBEntry, _ rest: UnsafeRawBufferPointer
  ) throws(StorageError) -> Bool {
    guard unsafe !page.pointee.isFull else { return false }
    let address = unsafe UInt(bitPattern: entry.key.baseAddress)
    if address >> 12 != fetched {
      // The rows that follow are on the same page: fetch all of it while this one is checked.
      fetched = address >> 12
      unsafe tern_fetch_page(entry.key.baseAddress)
    }
    if outer.isEmpty {
      unsafe try append(entry, key: rest)
    } else {
      let key = unsafe outer + rest
      // Safe: `key` lives through the call.
      unsafe try key.span.withUnsafeBytes { key throws(StorageError) in
        unsafe try append(entry, key: key)
      }
    }
    return unsafe !page.pointee.isFull
  }

  /// The most bytes of a record that is hashed because it ends a walk.
  ///
  /// Hashing a longer record for a row outside the range would cost more than the scan of a
  /// short range.
  private static var boundBytes: Int { 1_024 }

  /// Finds out whether the row that ends the walk lies inside the range, under a key that was
  /// damaged after the file was examined: the rows behind it would be missing without a word. A
  /// damaged value is the matter of those who read it.
  ///
  /// Only the root is checked: inside a bucket `rest` is not the key that the checksum covers.
  @inline(__always)
  func check(bound: LMDBEntry, _ rest: UnsafeRawBufferPointer) throws(StorageError) {
    guard outer.isEmpty, bound.value.count <= Self.boundBytes else { return }
    if unsafe RecordChecksum.checkedValue(of: bound.value, key: rest) == nil {
      unsafe try explain(bound, rest)
    }
  }

  /// Tries all flips of one bit in the key. When one of them matches the checksum, the key itself
  /// is damaged and the error names the key that was stored.
  ///
  /// A record that no flip explains has a damaged value. It lies outside the range, so this scan
  /// does not report it. The cost is one checksum for each bit of the key, and the path is taken
  /// for corrupt rows only.
  @inline(never)
  private func explain(
    _ bound: LMDBEntry, _ rest: UnsafeRawBufferPointer
  ) throws(StorageError) {
    var key = unsafe [UInt8](rest)
    for bit in 0..<(8 * key.count) {
      key[bit >> 3] ^= 1 << UInt8(bit & 7)
      // Safe: `key` lives through the call.
      let fits = unsafe key.withUnsafeBytes {
        unsafe RecordChecksum.checkedValue(of: bound.value, key: $0) != nil
      }
      if fits { throw .corruptRecord(key: key) }
      key[bit >> 3] ^= 1 << UInt8(bit & 7)
    }
  }

  /// Appends one checked row to the page.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)``, with rows before it already on the page.
  @inline(__always)
  private func append(
    _ entry: LMDBEntry, key: UnsafeRawBufferPointer
  ) throws(StorageError) {
    guard let value = unsafe RecordChecksum.checkedValue(of: entry.value, key: key) else {
      throw unsafe .corruptRecord(key: [UInt8](key))
    }
    unsafe page.pointee.append(
      key: Span(_unsafeBytes: key), value: Span(_unsafeBytes: value))
  }
}

extension LMDBSpace {
  /// The bucket a pointer's record names.
  init(
    pointer key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer
  ) throws(StorageError) {
    guard let value = unsafe RecordChecksum.checkedValue(of: record, key: key), value.count == 8
    else {
      throw unsafe .corruptRecord(key: [UInt8](key))
    }
    self = unsafe .bucket(UInt64(bigEndian: value.loadUnaligned(as: UInt64.self)))
  }
}

extension Span<UInt8> {
  /// A view of bytes the caller keeps alive and unchanged.
  @unsafe
  @_lifetime(borrow bytes)
  init(_unsafeBytes bytes: UnsafeRawBufferPointer) {
    let typed = unsafe bytes.assumingMemoryBound(to: UInt8.self)
    let span = unsafe Span(_unsafeElements: typed)
    self = unsafe _overrideLifetime(span, borrowing: bytes)
  }
}
