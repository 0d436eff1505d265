/// The part of a backend that serves reads.
public protocol StoreReader: AnyObject {
  /// Calls `body` with the value stored under `key`, or returns `nil`.
  ///
  /// - Throws: ``StorageError/corruptRecord(key:)`` when the record's checksum is wrong.
  func withValue<R>(
    for key: Span<UInt8>,
    _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R?

  /// Returns the bytes under `key` as they are when their checksum is wrong, for recovery tools
  /// that quarantine a corrupt row. Nothing may be concluded from them.
  ///
  /// - Returns: `nil` without a row; no bytes when the backend cannot tell.
  func damagedValue(for key: Span<UInt8>) throws(StorageError) -> [UInt8]?

  /// Appends the rows of `scan`, in order, until `page` is full or the range ends.
  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError)
}

extension StoreReader {
  /// Tells the bytes of a row that is well, and of a damaged one only that it is there.
  public func damagedValue(for key: Span<UInt8>) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) {
      return try withValue(for: key) { value throws(StorageError) in [UInt8](copying: value) }
    } catch {
      guard case .corruptRecord = error else { throw error }
      return []
    }
  }
}

/// The part of a backend that serves writes; its reads see its own writes.
public protocol StoreWriter: StoreReader {
  /// Stores `value` under `key`, in place of what was there. Sizes are already checked.
  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError)

  /// Removes every row of `range`.
  func remove(_ range: KeyRange) throws(StorageError)

  /// Removes the row under `key`, if any.
  func remove(_ key: Span<UInt8>) throws(StorageError)
}

extension StoreWriter {
  /// Removes the range that holds only `key`.
  public func remove(_ key: Span<UInt8>) throws(StorageError) {
    try remove(KeyRange(only: [UInt8](copying: key)))
  }
}
