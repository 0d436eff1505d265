import CLMDB
import TernStorage

/// The backend's side of the write transaction.
///
/// LMDB fixes the size of its map before a transaction begins. A transaction that fills the map
/// fails as a whole, so the writer keeps a list of its changes, grows the map between two
/// transactions, and replays the list. The list costs a copy of each key and value; the writer does
/// without it when the free part of the map exceeds ``LMDBEnvironment/ampleBytes``.
///
/// One writer exists at a time: ``LMDBStore`` creates it under its write lock, lends it to one
/// `write` call, and aborts whatever is still open at the end. Changes block on page faults, and on
/// open snapshots while the map grows; ``commit()`` also syncs.
final class LMDBWriter: LMDBReader, StoreWriter {
  private let environment: LMDBEnvironment
  /// The changes so far, to make them again after the map grew; `nil` when the map is so large
  /// that no transaction fills it.
  ///
  /// The list is in order, and a replay performs all of it: a later change may undo an earlier one.
  private var changes: [Change]?

  /// Set when the disk was full: makes room for a transaction that begins with a removal.
  ///
  /// The writer calls it at most once, in the first removal, and only if no put came before: the
  /// closure commits transactions of its own, which is impossible while this one has changes.
  var makeRoom: (() throws(StorageError) -> Void)?
  /// True when puts fail until a row was removed.
  ///
  /// The store sets it while the reserve is not held: a put could then consume the last pages that
  /// a later removal needs for its own copies of pages.
  var mustRemoveFirst = false

  /// A change as replayed after the map grew. Keys are whole keys of the store, not LMDB keys,
  /// because a replay may allocate other bucket numbers.
  private enum Change {
    case put(key: [UInt8], value: [UInt8])
    case remove(key: [UInt8])
    case removeRange(KeyRange)
  }

  init(_ environment: LMDBEnvironment) throws(StorageError) {
    self.environment = environment
    changes = environment.isMapAmple ? nil : []
    super.init(try environment.beginWrite())
  }

  /// Stores a row, replacing an earlier one under the same key.
  ///
  /// - Throws: ``StorageError/diskFull`` when the map is at its limit, or while removals have to
  ///   come first; ``StorageError/corruptRecord(key:)`` when a pointer on the way to the row fails
  ///   its check.
  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    if mustRemoveFirst { throw .diskFull }
    makeRoom = nil
    if changes != nil {
      try apply(.put(key: [UInt8](copying: key), value: [UInt8](copying: value)))
    } else {
      try store(value, for: key)
    }
  }

  /// Removes a row, and the buckets on its way that became empty. Removing an absent key changes
  /// nothing and is no error.
  func remove(_ key: Span<UInt8>) throws(StorageError) {
    try prepareToRemove()
    if changes != nil {
      try apply(.remove(key: [UInt8](copying: key)))
    } else {
      try drop(key)
    }
  }

  /// Removes all rows of a range, one by one. The cost is linear in the rows removed, because LMDB
  /// has no operation on ranges.
  func remove(_ range: KeyRange) throws(StorageError) {
    try prepareToRemove()
    try apply(.removeRange(range))
  }

  /// Frees the reserve before the first removal on a full disk.
  ///
  /// The transaction is still without changes here, so aborting and beginning it again loses
  /// nothing. It has to end because the reserve is released by commits of its own, and LMDB has one
  /// writer.
  private func prepareToRemove() throws(StorageError) {
    mustRemoveFirst = false
    guard let makeRoom else { return }
    self.makeRoom = nil
    transaction.abort()
    try makeRoom()
    transaction = try environment.beginWrite()
  }

  /// Makes the changes durable; blocks on the sync of the file.
  ///
  /// A commit can fill the map itself, as it writes the list of freed pages. It is then repeated
  /// once after a replay in a larger map; a second failure is reported.
  ///
  /// - Throws: ``StorageError/diskFull`` and ``StorageError/syncFailed(code:)``. After the former
  ///   the old state stands; after the latter the store accepts no more work until it is reopened.
  func commit() throws(StorageError) {
    do throws(StorageError) {
      try transaction.commit()
    } catch {
      guard transaction.isMapFull, changes != nil else { throw error }
      try replayInLargerMap()
      try transaction.commit()
    }
  }

  /// Records and performs a change. When it fills the map, the replay performs it together with all
  /// earlier ones.
  private func apply(_ change: Change) throws(StorageError) {
    changes?.append(change)
    do throws(StorageError) {
      try perform(change)
    } catch {
      guard transaction.isMapFull, changes != nil else { throw error }
      try replayInLargerMap()
    }
  }

  /// Grows the map, which ends the transaction, and makes all changes again in a new one.
  private func replayInLargerMap() throws(StorageError) {
    while true {
      transaction.abort()
      try environment.resizeMap { $0 * 2 }
      transaction = try environment.beginWrite()
      do throws(StorageError) {
        for change in changes ?? [] { try perform(change) }
        return
      } catch {
        guard transaction.isMapFull else { throw error }
      }
    }
  }

  private func perform(_ change: Change) throws(StorageError) {
    switch change {
    case .put(let key, let value): try store(value.span, for: key.span)
    case .remove(let key): try drop(key.span)
    case .removeRange(let range): try drop(range)
    }
  }

  /// Bridges spans to the pointers that LMDB takes; see `put` for the walk through the buckets.
  private func store(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    // Safe: LMDB copies the key, and the value is copied into the room it made.
    unsafe try key.withUnsafeBytes { key throws(StorageError) in
      unsafe try value.withUnsafeBytes { value throws(StorageError) in
        unsafe try put(value, key)
      }
    }
  }

  private func drop(_ key: Span<UInt8>) throws(StorageError) {
    // Safe: LMDB keeps no pointer to the key.
    unsafe try key.withUnsafeBytes { key throws(StorageError) in
      _ = unsafe try remove(key, in: .root)
    }
  }

  private func drop(_ range: KeyRange) throws(StorageError) {
    var walk = LMDBWalk(transaction, LMDBRemover(transaction: transaction), prunes: true)
    try walk.run(range)
  }

  /// Finds the space of a key, creating missing buckets on the way, and stores the record there.
  ///
  /// A key within the root's capacity takes one step. Each further step consumes the capacity of a
  /// space, so a key of 4,096 bytes passes through nine spaces.
  private func put(
    _ value: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer
  ) throws(StorageError) {
    var space = LMDBSpace.root
    var rest = unsafe key
    while rest.count > space.capacity {
      let found = unsafe try bucket(in: space, rest)
      let bucket = if let found { found } else { unsafe try makeBucket(in: space, rest) }
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest[space.capacity...])
      space = bucket
    }
    unsafe try store(value, under: transaction.keys.key(space, rest), checkedAs: key)
  }

  /// Writes a record in place: a checksum of 4 bytes, the least significant one first, then the
  /// value.
  ///
  /// - Parameters:
  ///   - lmdbKey: The LMDB key, prefix of its space included.
  ///   - key: The key that the checksum covers: the whole key for a row, the LMDB key for a
  ///     pointer. A row under another key fails its check.
  private func store(
    _ value: UnsafeRawBufferPointer, under lmdbKey: UnsafeRawBufferPointer,
    checkedAs key: UnsafeRawBufferPointer
  ) throws(StorageError) {
    let count = RecordChecksum.bytes + value.count
    let sum = unsafe RecordChecksum.of(key: key, value: value)
    let target = unsafe try transaction.reserve(lmdbKey, count: count)
    unsafe target.storeBytes(of: sum.littleEndian, as: UInt32.self)
    guard let source = value.baseAddress else { return }
    unsafe (target + RecordChecksum.bytes).copyMemory(from: source, byteCount: value.count)
  }

  /// Makes a bucket and the pointer to it.
  ///
  /// The number comes from a counter in the store, so a number never names two buckets, even after
  /// the first one was removed.
  private func makeBucket(
    in space: LMDBSpace, _ rest: UnsafeRawBufferPointer
  ) throws(StorageError) -> LMDBSpace {
    let number = try LMDBFormat.takeBucketNumber(transaction)
    // Safe: the integer and the key buffer live through the call.
    unsafe try withUnsafeBytes(of: number.bigEndian) { value throws(StorageError) in
      let key = unsafe transaction.keys.key(space, rest)
      unsafe try store(value, under: key, checkedAs: key)
    }
    return .bucket(number)
  }

  /// Removes one row, and the pointers on its way whose buckets became empty.
  ///
  /// The recursion is as deep as the row has spaces. A pointer goes after the row inside its
  /// bucket, on the way back; a crash cannot separate the two because both are in one transaction.
  ///
  /// - Returns: `false` when there was no row.
  private func remove(
    _ rest: UnsafeRawBufferPointer, in space: LMDBSpace
  ) throws(StorageError) -> Bool {
    guard rest.count > space.capacity else {
      return unsafe try transaction.remove(transaction.keys.key(space, rest))
    }
    guard let bucket = unsafe try bucket(in: space, rest) else { return false }
    let inner = unsafe UnsafeRawBufferPointer(rebasing: rest[space.capacity...])
    guard unsafe try remove(inner, in: bucket) else { return false }
    if try transaction.isEmpty(bucket) {
      _ = unsafe try transaction.remove(transaction.keys.key(space, rest))
    }
    return true
  }
}

/// Removes the rows of a walk.
///
/// It never looks at values: corrupt rows can be removed like all others.
private struct LMDBRemover: LMDBVisitor {
  let transaction: LMDBTransaction
  var outer: [UInt8] = []

  mutating func visit(
    _ entry: LMDBEntry, _ rest: UnsafeRawBufferPointer
  ) throws(StorageError) -> Bool {
    try transaction.removeAtCursor()
    return true
  }
}
