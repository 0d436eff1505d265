import CSQLite
import TernStorage

/// The backend's side of a snapshot, over a connection inside a transaction.
///
/// A record is either in its row or, if it is large, in the table `large`; the row then holds the
/// number of the large record instead. Callers never see the difference.
class SQLiteReader: StoreReader {
  let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Lends a checked value.
  ///
  /// Bodies may nest: each get takes a statement of its own, because the value lies in the
  /// statement's memory until it is reset.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` for a failed checksum, and for a row that
  ///   points at a large record which is missing.
  final func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let get = try connection.takeGet()
    defer { connection.giveBack(get) }
    var large: SQLiteStatement?
    defer { if let large { connection.giveBack(large: large) } }
    // Safe: the statement is reset, above, before `key` ends; the column is read before that.
    let value = unsafe try key.withUnsafeBytes {
      key throws(StorageError) -> UnsafeRawBufferPointer? in
      unsafe get.bind(key, at: 1)
      guard try get.step() else { return nil }
      guard get.isInteger(0) else { return unsafe try Self.checked(get.bytes(0), key: key) }
      let second = try connection.takeLarge()
      large = second
      return unsafe try Self.checked(find(get.integer(0), with: second, key: key), key: key)
    }
    guard let value = unsafe value else { return nil }
    return unsafe try body(Span(_unsafeBytes: value))
  }

  /// Returns the bytes under a key without checking them.
  ///
  /// - Returns: The bytes behind the checksum, unchecked; empty when the large record is missing;
  ///   `nil` without a row.
  final func damagedValue(for key: Span<UInt8>) throws(StorageError) -> [UInt8]? {
    let get = try connection.takeGet()
    defer { connection.giveBack(get) }
    // Safe: the statement is reset before `key` ends; the column is copied before that.
    return unsafe try key.withUnsafeBytes { key throws(StorageError) -> [UInt8]? in
      unsafe get.bind(key, at: 1)
      guard try get.step() else { return nil }
      guard get.isInteger(0) else {
        return unsafe [UInt8](get.bytes(0).dropFirst(RecordChecksum.bytes))
      }
      let large = try connection.takeLarge()
      defer { connection.giveBack(large: large) }
      large.bind(get.integer(0), at: 1)
      guard try large.step() else { return [] }
      return unsafe [UInt8](large.bytes(0).dropFirst(RecordChecksum.bytes))
    }
  }

  /// Appends checked rows until the page is full.
  ///
  /// The statement of a scan is shared by all scans of the connection, and is reset at the end of
  /// each page.
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
          if rows.isInteger(1) {
            unsafe try appendLarge(rows.integer(1), key: key, to: &page)
          } else {
            let value = unsafe try Self.checked(rows.bytes(1), key: key)
            unsafe page.append(key: Span(_unsafeBytes: key), value: Span(_unsafeBytes: value))
          }
        }
      }
    }
  }

  private func appendLarge(
    _ id: Int, key: UnsafeRawBufferPointer, to page: inout RowPage
  ) throws(StorageError) {
    let large = try connection.statement(.large)
    defer { large.reset() }
    let value = unsafe try Self.checked(find(id, with: large, key: key), key: key)
    unsafe page.append(key: Span(_unsafeBytes: key), value: Span(_unsafeBytes: value))
  }

  /// The large record `id` that the row under `key` points at; valid until `large` is reset.
  private func find(
    _ id: Int, with large: SQLiteStatement, key: UnsafeRawBufferPointer
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    large.bind(id, at: 1)
    guard try large.step() else { throw unsafe .corruptRecord(key: [UInt8](key)) }
    return unsafe large.bytes(0)
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
    if let value = unsafe RecordChecksum.checkedValue(of: record, key: key) { return unsafe value }
    throw unsafe .corruptRecord(key: [UInt8](key))
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
