import CSQLite
import TernStorage

/// The backend's side of a snapshot, over a connection inside a transaction.
class SQLiteReader: StoreReader {
  let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  final func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let get = try connection.takeGet()
    defer { connection.giveBack(get) }
    // Safe: the statement is reset, above, before `key` ends; the column is read before that.
    let value = unsafe try key.withUnsafeBytes {
      key throws(StorageError) -> UnsafeRawBufferPointer? in
      unsafe get.bind(key, at: 1)
      guard try get.step() else { return nil }
      return unsafe try Self.checked(get.bytes(0), key: key)
    }
    guard let value = unsafe value else { return nil }
    return unsafe try body(Span(_unsafeBytes: value))
  }

  final func damagedValue(for key: Span<UInt8>) throws(StorageError) -> [UInt8]? {
    let get = try connection.takeGet()
    defer { connection.giveBack(get) }
    // Safe: the statement is reset before `key` ends; the column is copied before that.
    return unsafe try key.withUnsafeBytes { key throws(StorageError) -> [UInt8]? in
      unsafe get.bind(key, at: 1)
      guard try get.step() else { return nil }
      return unsafe [UInt8](get.bytes(0).dropFirst(RecordChecksum.bytes))
    }
  }

  final func fill(
    _ page: inout RowPage, from scan: borrowing Scan
  ) throws(StorageError) {
    let range = scan.range
    let upperBytes = range.upper ?? []
    let rows = try select(range, isReversed: scan.isReversed)
    defer { rows.reset() }
    // Safe: the bounds outlive the statement's use; columns are copied before the next step.
    unsafe try range.lower.span.withUnsafeBytes { lower throws(StorageError) in
      unsafe rows.bind(lower, at: 1)
      unsafe try upperBytes.span.withUnsafeBytes { upper throws(StorageError) in
        if range.upper != nil { unsafe rows.bind(upper, at: 2) }
        while !page.isFull, try rows.step() {
          let key = unsafe rows.bytes(0)
          let value = unsafe try Self.checked(rows.bytes(1), key: key)
          unsafe page.append(key: Span(_unsafeBytes: key), value: Span(_unsafeBytes: value))
        }
      }
    }
  }

  private func select(
    _ range: KeyRange, isReversed: Bool
  ) throws(StorageError) -> SQLiteStatement {
    if range.upper == nil {
      return try connection.statement(isReversed ? .tailReversed : .tail)
    }
    return try connection.statement(isReversed ? .rangeReversed : .range)
  }

  @inline(__always)
  private static func checked(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    if let value = unsafe checkedValue(of: record, key: key) { return unsafe value }
    throw unsafe .corruptRecord(key: [UInt8](key))
  }
}

/// The backend's side of the write transaction.
final class SQLiteWriter: SQLiteReader, StoreWriter {
  /// Set when the disk was full: makes room for a transaction that begins with a removal.
  var makeRoom: (() -> Void)?
  /// Whether puts are refused until a row was removed.
  var mustRemoveFirst = false

  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    if mustRemoveFirst { throw .diskFull }
    makeRoom = nil
    let put = try connection.statement(.put)
    defer { put.reset() }
    // Safe: the statement is reset before the key and the record end.
    unsafe try connection.record.withRecord(value, for: key) { record throws(StorageError) in
      unsafe try key.withUnsafeBytes { key throws(StorageError) in
        unsafe put.bind(key, at: 1)
        unsafe put.bind(record, at: 2)
        _ = try put.step()
        put.reset()
      }
    }
  }

  func remove(_ key: Span<UInt8>) throws(StorageError) {
    prepareToRemove()
    let remove = try connection.statement(.removeKey)
    // Safe: `run` resets the statement before the key ends.
    unsafe try key.withUnsafeBytes { key throws(StorageError) in
      unsafe remove.bind(key, at: 1)
      try remove.run()
    }
  }

  func remove(_ range: KeyRange) throws(StorageError) {
    prepareToRemove()
    let upperBytes = range.upper ?? []
    let remove = try connection.statement(range.upper == nil ? .removeTail : .removeRange)
    // Safe: `run` resets the statement before the bounds end.
    unsafe try range.lower.span.withUnsafeBytes { lower throws(StorageError) in
      unsafe remove.bind(lower, at: 1)
      unsafe try upperBytes.span.withUnsafeBytes { upper throws(StorageError) in
        if range.upper != nil { unsafe remove.bind(upper, at: 2) }
        try remove.run()
      }
    }
  }

  private func prepareToRemove() {
    mustRemoveFirst = false
    makeRoom?()
    makeRoom = nil
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
