import CLMDB
import TernStorage

/// The backend's side of the write transaction.
final class LMDBWriter: LMDBReader, StoreWriter {
  private let environment: LMDBEnvironment
  /// The changes so far, to make them again after the map grew; `nil` when the map is so large
  /// that no transaction fills it.
  private var changes: [Change]?

  /// Set when the disk was full: makes room for a transaction that begins with a removal.
  var makeRoom: (() throws(StorageError) -> Void)?
  /// True when puts fail until a row was removed.
  var mustRemoveFirst = false

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

  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    if mustRemoveFirst { throw .diskFull }
    makeRoom = nil
    if changes != nil {
      try apply(.put(key: [UInt8](copying: key), value: [UInt8](copying: value)))
    } else {
      try store(value, for: key)
    }
  }

  func remove(_ key: Span<UInt8>) throws(StorageError) {
    try prepareToRemove()
    if changes != nil {
      try apply(.remove(key: [UInt8](copying: key)))
    } else {
      try drop(key)
    }
  }

  func remove(_ range: KeyRange) throws(StorageError) {
    try prepareToRemove()
    try apply(.removeRange(range))
  }

  private func prepareToRemove() throws(StorageError) {
    mustRemoveFirst = false
    guard let makeRoom else { return }
    self.makeRoom = nil
    transaction.abort()
    try makeRoom()
    transaction = try environment.beginWrite()
  }

  func commit() throws(StorageError) {
    do throws(StorageError) {
      try transaction.commit()
    } catch {
      guard transaction.isMapFull, changes != nil else { throw error }
      try replayInLargerMap()
      try transaction.commit()
    }
  }

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
