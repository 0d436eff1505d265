import CLMDB
import TernStorage

/// A walk over the rows of a range through the spaces they are in, in key order or against it.
struct LMDBWalk {
  /// What to do after a row.
  enum Next { case proceed, stop }

  private let transaction: LMDBTransaction
  private let isReversed: Bool
  /// Removes a pointer whose bucket became empty.
  private let prunes: Bool
  /// What the keys of the current space have in common.
  private var outer: [UInt8] = []

  init(_ transaction: LMDBTransaction, isReversed: Bool = false, prunes: Bool = false) {
    self.transaction = transaction
    self.isReversed = isReversed
    self.prunes = prunes
  }

  /// Visits the rows of `space` whose rest of key is in `lower..<upper`.
  ///
  /// - Parameter visit: Takes the entry, the key's part before this space, and its rest.
  mutating func run(
    _ space: LMDBSpace, _ lower: ArraySlice<UInt8>, _ upper: ArraySlice<UInt8>?,
    _ visit: (LMDBEntry, [UInt8], UnsafeRawBufferPointer) throws(StorageError) -> Next
  ) throws(StorageError) -> Next {
    let prefix = space.prefixBytes
    var entry = unsafe try start(space, lower, upper)
    while let found = unsafe entry, unsafe isKey(found.key, in: space) {
      let rest = unsafe UnsafeRawBufferPointer(rebasing: found.key[prefix...])
      if rest.count > space.capacity {
        guard let inner = unsafe bounds(space, rest.dropLast(), lower, upper) else { break }
        let next = unsafe try descend(found, space, inner.lower, inner.upper, visit)
        if next == .stop { return .stop }
      } else {
        if unsafe isPast(rest, lower, upper) { break }
        if unsafe try visit(found, outer, rest) == .stop { return .stop }
      }
      unsafe entry = try transaction.move(isReversed ? MDB_PREV : MDB_NEXT)
    }
    return .proceed
  }

  /// Visits the bucket of a pointer, then puts the cursor back on the pointer.
  private mutating func descend(
    _ pointer: LMDBEntry, _ space: LMDBSpace, _ lower: ArraySlice<UInt8>,
    _ upper: ArraySlice<UInt8>?,
    _ visit: (LMDBEntry, [UInt8], UnsafeRawBufferPointer) throws(StorageError) -> Next
  ) throws(StorageError) -> Next {
    let key = unsafe [UInt8](pointer.key)
    let bucket = unsafe try LMDBSpace(pointer: pointer.key, record: pointer.value)
    let before = outer.count
    outer += key[space.prefixBytes..<(space.prefixBytes + space.capacity)]
    let next = unsafe try run(bucket, lower, upper, visit)
    outer.removeSubrange(before...)
    let isEmpty = prunes ? try transaction.isEmpty(bucket) : false
    // Safe: `key` lives through the call, and LMDB keeps no pointer to it.
    unsafe try key.span.withUnsafeBytes { key throws(StorageError) in
      _ = unsafe try transaction.move(MDB_SET, key)
    }
    if isEmpty { try transaction.removeAtCursor() }
    return next
  }

  private func start(
    _ space: LMDBSpace, _ lower: ArraySlice<UInt8>, _ upper: ArraySlice<UInt8>?
  ) throws(StorageError) -> LMDBEntry? {
    guard isReversed else {
      return unsafe try lower.withUnsafeKey { lower throws(StorageError) in
        unsafe try transaction.move(MDB_SET_RANGE, transaction.keys.key(space, lower))
      }
    }
    guard let upper else {
      let end = unsafe transaction.keys.end(of: space)
      guard unsafe try transaction.move(MDB_SET_RANGE, end) != nil else {
        return unsafe try transaction.move(MDB_LAST)
      }
      return unsafe try transaction.move(MDB_PREV)
    }
    return unsafe try upper.withUnsafeKey { upper throws(StorageError) in
      let bound = unsafe transaction.keys.key(space, upper)
      guard let found = unsafe try transaction.move(MDB_SET_RANGE, bound) else {
        return unsafe try transaction.move(MDB_LAST)
      }
      // Part of the bucket that holds the bound itself may come before the bound.
      if upper.count > space.capacity, unsafe equal(found.key, bound) { return unsafe found }
      return unsafe try transaction.move(MDB_PREV)
    }
  }

  /// The bounds inside the bucket of the keys that begin with `chunk`; `nil` when it is past the
  /// range, in the direction of the walk.
  private func bounds(
    _ space: LMDBSpace, _ chunk: Slice<UnsafeRawBufferPointer>, _ lower: ArraySlice<UInt8>,
    _ upper: ArraySlice<UInt8>?
  ) -> (lower: ArraySlice<UInt8>, upper: ArraySlice<UInt8>?)? {
    let chunk = unsafe UnsafeRawBufferPointer(rebasing: chunk)
    let count = chunk.count
    var inner: (lower: ArraySlice<UInt8>, upper: ArraySlice<UInt8>?) = ([], nil)
    if lower.count > count, unsafe lower.prefix(count).order(chunk) == 0 {
      inner.lower = lower.dropFirst(count)
    } else if unsafe lower.order(chunk) > 0 {
      return nil
    }
    if let upper {
      if upper.count > count, unsafe upper.prefix(count).order(chunk) == 0 {
        inner.upper = upper.dropFirst(count)
      } else if unsafe upper.order(chunk) <= 0 {
        return nil
      }
    }
    return inner
  }

  @inline(__always)
  private func isPast(
    _ rest: UnsafeRawBufferPointer, _ lower: ArraySlice<UInt8>, _ upper: ArraySlice<UInt8>?
  ) -> Bool {
    if isReversed { return unsafe !lower.isEmpty && lower.order(rest) > 0 }
    guard let upper else { return false }
    return unsafe upper.order(rest) <= 0
  }

  @inline(__always)
  private func isKey(_ key: UnsafeRawBufferPointer, in space: LMDBSpace) -> Bool {
    switch space {
    case .root: unsafe key[0] == LMDBKey.rootTag
    case .bucket(let number):
      unsafe key[0] == LMDBKey.bucketTag && key.count >= 9
        && UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)) == number
    }
  }

  private func equal(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    unsafe compareBytes(Span(_unsafeBytes: a), Span(_unsafeBytes: b)) == 0
  }
}

extension LMDBTransaction {
  /// Whether a space holds no row.
  func isEmpty(_ space: LMDBSpace) throws(StorageError) -> Bool {
    let first = unsafe keys.key(space, UnsafeRawBufferPointer(start: nil, count: 0))
    guard let found = unsafe try move(MDB_SET_RANGE, first) else { return true }
    let end = unsafe keys.end(of: space)
    return unsafe compareBytes(Span(_unsafeBytes: found.key), Span(_unsafeBytes: end)) >= 0
  }
}

extension ArraySlice<UInt8> {
  func withUnsafeKey<R>(
    _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    unsafe try span.withUnsafeBytes(body)
  }

  /// Compares with `other` as unsigned bytes.
  @inline(__always)
  func order(_ other: UnsafeRawBufferPointer) -> Int {
    unsafe compareBytes(span, Span(_unsafeBytes: other))
  }
}
