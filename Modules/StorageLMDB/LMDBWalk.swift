import CLMDB
import TernStorage

/// The action of a walk on each of its rows.
///
/// A visitor that changes rows may only remove the row it is given: the walk goes on from the
/// cursor's position.
protocol LMDBVisitor {
  /// The common prefix of the keys of the current space; the walk changes it.
  var outer: [UInt8] { get set }

  /// Takes a row: its entry, and its key's rest after `outer`; `false` ends the walk.
  ///
  /// - Parameters:
  ///   - entry: The LMDB key and the record, in the map. Both are valid until the transaction
  ///     changes or ends.
  ///   - rest: The part of `entry.key` behind the prefix of its space.
  mutating func visit(
    _ entry: LMDBEntry, _ rest: UnsafeRawBufferPointer
  ) throws(StorageError) -> Bool

  /// Checks the first row past the range, of which no more is known than that it ends the walk.
  func check(bound: LMDBEntry, _ rest: UnsafeRawBufferPointer) throws(StorageError)
}

extension LMDBVisitor {
  func check(bound: LMDBEntry, _ rest: UnsafeRawBufferPointer) {}
}

/// The bounds of a walk in one space: rests of keys from `lower` up to, not including, `upper`.
///
/// Inside a bucket both bounds are shortened by the bytes that lead to the bucket. An empty `lower`
/// and a `nil` `upper` set no bound.
@unsafe
struct LMDBBounds {
  var lower = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
  var upper: UnsafeRawBufferPointer?
}

/// A walk over the rows of a range through the spaces they are in, in key order or against it.
///
/// The rows of a space and its pointers lie side by side in LMDB's order, and a pointer sorts
/// exactly where the keys of its bucket belong. So the walk visits a space in order and recurses at
/// each pointer.
///
/// Each recursion costs two seeks: into the bucket, and back to the pointer. A walk through rows
/// with short keys never recurses. The depth is at most nine, since keys have at most 4,096 bytes.
struct LMDBWalk<Visitor: LMDBVisitor> {
  private(set) var visitor: Visitor
  private let transaction: LMDBTransaction
  private let isReversed: Bool
  /// True when pointers to buckets that became empty are removed.
  ///
  /// Only walks that remove rows set it; on a snapshot the removal would fail.
  private let prunes: Bool

  init(
    _ transaction: LMDBTransaction, _ visitor: Visitor, isReversed: Bool = false,
    prunes: Bool = false
  ) {
    self.transaction = transaction
    self.visitor = visitor
    self.isReversed = isReversed
    self.prunes = prunes
  }

  /// Visits the rows of `range`.
  mutating func run(_ range: KeyRange) throws(StorageError) {
    let upper = range.upper ?? []
    // Safe: the bounds outlive the walk.
    unsafe try range.lower.span.withUnsafeBytes { lower throws(StorageError) in
      unsafe try upper.span.withUnsafeBytes { upper throws(StorageError) in
        let bounds = unsafe LMDBBounds(
          lower: lower, upper: range.upper == nil ? nil : upper)
        _ = unsafe try run(.root, bounds)
      }
    }
  }

  /// Visits the rows of one space; `false` when the visitor has ended the walk.
  ///
  /// `start` may land before the range, on a pointer whose bucket ends before it. `inside` shortens
  /// the bounds for that bucket, and the inner walk visits nothing.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` for a pointer that fails its check, and
  ///   whatever the visitor throws.
  private mutating func run(
    _ space: LMDBSpace, _ bounds: LMDBBounds
  ) throws(StorageError) -> Bool {
    let prefix = space.prefixBytes
    let capacity = space.capacity
    let step = isReversed ? MDB_PREV : MDB_NEXT
    var entry = unsafe try start(space, bounds)
    while let found = unsafe entry, unsafe space.holds(found.key) {
      let rest = unsafe UnsafeRawBufferPointer(
        start: found.key.baseAddress.unsafelyUnwrapped + prefix, count: found.key.count - prefix)
      if rest.count > capacity {
        let chunk = unsafe UnsafeRawBufferPointer(rebasing: rest.dropLast())
        guard let inner = unsafe inside(chunk, bounds) else { break }
        guard unsafe try descend(found, space, inner) else { return false }
      } else {
        if unsafe isPast(rest, bounds) {
          unsafe try visitor.check(bound: found, rest)
          break
        }
        guard unsafe try visitor.visit(found, rest) else { return false }
      }
      unsafe entry = try transaction.move(step)
    }
    return true
  }

  /// Visits the bucket of a pointer, then puts the cursor back on the pointer.
  ///
  /// The walk of the bucket moves the only cursor, so the pointer's key is copied first: it lies in
  /// a page that a removal may change. The cursor returns by an exact search; the next `move` then
  /// continues behind the pointer.
  private mutating func descend(
    _ pointer: LMDBEntry, _ space: LMDBSpace, _ bounds: LMDBBounds
  ) throws(StorageError) -> Bool {
    let key = unsafe [UInt8](pointer.key)
    let bucket = unsafe try LMDBSpace(pointer: pointer.key, record: pointer.value)
    let before = visitor.outer.count
    visitor.outer += key[space.prefixBytes..<(space.prefixBytes + space.capacity)]
    let goesOn = unsafe try run(bucket, bounds)
    visitor.outer.removeSubrange(before...)
    let isEmpty = prunes ? try transaction.isEmpty(bucket) : false
    // Safe: `key` lives through the call, and LMDB keeps no pointer to it.
    unsafe try key.span.withUnsafeBytes { key throws(StorageError) in
      _ = unsafe try transaction.move(MDB_SET, key)
    }
    if isEmpty { try transaction.removeAtCursor() }
    return goesOn
  }

  /// Places the cursor on the first entry of a walk: forwards, at or after the lower bound;
  /// backwards, on the last entry below the upper bound.
  ///
  /// Every seek may leave the space, for example to the first key of the next one. The caller
  /// checks that with `holds`.
  private func start(
    _ space: LMDBSpace, _ bounds: LMDBBounds
  ) throws(StorageError) -> LMDBEntry? {
    guard isReversed else {
      return unsafe try transaction.move(
        MDB_SET_RANGE, transaction.keys.key(space, bounds.lower))
    }
    guard let upper = unsafe bounds.upper else {
      return unsafe try last(before: transaction.keys.end(of: space))
    }
    let bound = unsafe transaction.keys.key(space, upper)
    guard upper.count > space.capacity else { return unsafe try last(before: bound) }
    // Part of the bucket that holds the bound itself may come before the bound.
    if let found = unsafe try transaction.move(MDB_SET_RANGE, bound),
      unsafe order(found.key, bound) == 0
    {
      return unsafe found
    }
    return unsafe try last(before: bound)
  }

  /// Returns the entry before `bound`, which need not exist. `MDB_SET_RANGE` finds nothing when
  /// `bound` is past the last key of the file; the last entry is then the answer.
  private func last(
    before bound: UnsafeRawBufferPointer
  ) throws(StorageError) -> LMDBEntry? {
    let found = unsafe try transaction.move(MDB_SET_RANGE, bound)
    return unsafe try transaction.move(found == nil ? MDB_LAST : MDB_PREV)
  }

  /// The bounds inside the bucket of the keys that begin with `chunk`; `nil` when the bucket is
  /// past the range, in the direction of the walk.
  ///
  /// `chunk` has the length of the space's capacity. A bound that is longer and begins with `chunk`
  /// lies inside the bucket; its rest is the inner bound. Any other bound either excludes the whole
  /// bucket or does not restrict it.
  private func inside(
    _ chunk: UnsafeRawBufferPointer, _ bounds: LMDBBounds
  ) -> LMDBBounds? {
    var inner = unsafe LMDBBounds()
    let lower = unsafe bounds.lower
    if lower.count > chunk.count, unsafe order(prefix(lower, chunk.count), chunk) == 0 {
      unsafe inner.lower = UnsafeRawBufferPointer(rebasing: lower[chunk.count...])
    } else if unsafe order(lower, chunk) > 0 {
      return nil
    }
    guard let upper = unsafe bounds.upper else { return unsafe inner }
    if upper.count > chunk.count, unsafe order(prefix(upper, chunk.count), chunk) == 0 {
      unsafe inner.upper = UnsafeRawBufferPointer(rebasing: upper[chunk.count...])
    } else if unsafe order(upper, chunk) <= 0 {
      return nil
    }
    return unsafe inner
  }

  /// Compares a row with the bound at the far end of the walk. The near bound needs no check,
  /// because the walk starts at it.
  @inline(__always)
  private func isPast(_ rest: UnsafeRawBufferPointer, _ bounds: LMDBBounds) -> Bool {
    if isReversed {
      return unsafe !bounds.lower.isEmpty && order(bounds.lower, rest) > 0
    }
    guard let upper = unsafe bounds.upper else { return false }
    return unsafe order(upper, rest) <= 0
  }

  private func prefix(
    _ bytes: UnsafeRawBufferPointer, _ count: Int
  ) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }

  @inline(__always)
  private func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    unsafe compareBytes(Span(_unsafeBytes: a), Span(_unsafeBytes: b))
  }
}

extension LMDBSpace {
  /// Returns true when an LMDB key is in this space.
  ///
  /// A cursor that leaves a space meets the next bucket or the rows of the store itself, which
  /// begin with other bytes. The length is checked before the number is loaded: the store's own
  /// keys may be short.
  @inline(__always)
  func holds(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let start = key.baseAddress else { return false }
    return switch self {
    case .root: unsafe start.load(as: UInt8.self) == LMDBKey.rootTag
    case .bucket(let number):
      unsafe start.load(as: UInt8.self) == LMDBKey.bucketTag && key.count >= 9
        && UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 1, as: UInt64.self)) == number
    }
  }
}

extension LMDBTransaction {
  /// Returns true when a space holds no row.
  ///
  /// Seeks with the transaction's cursor, so the caller has to place the cursor again.
  func isEmpty(_ space: LMDBSpace) throws(StorageError) -> Bool {
    let first = unsafe keys.key(space, UnsafeRawBufferPointer(start: nil, count: 0))
    guard let found = unsafe try move(MDB_SET_RANGE, first) else { return true }
    let end = unsafe keys.end(of: space)
    return unsafe compareBytes(Span(_unsafeBytes: found.key), Span(_unsafeBytes: end)) >= 0
  }
}
