/// The write transaction of a store, lent by ``OrderedStore/write(_:)``. Reads see its writes.
public struct WriteTransaction: StoreView, ~Copyable, ~Escapable {
  /// The backend's side; for stores that wrap stores.
  public let writer: any StoreWriter

  public var reader: any StoreReader { writer }

  /// For backends: wraps their side of a transaction.
  @_lifetime(borrow writer)
  public init(_ writer: borrowing any StoreWriter) {
    self.writer = copy writer
  }

  /// Stores `value` under `key`, in place of what was there.
  ///
  /// - Throws: ``StorageError/keyTooLong(bytes:)``, ``StorageError/valueTooLong(bytes:)``,
  ///   ``StorageError/diskFull``.
  public mutating func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    try StorageLimits.check(key: key.count, value: value.count)
    try writer.put(value, for: key)
  }

  /// Stores `value` under `key`, in place of what was there.
  public mutating func put(_ value: [UInt8], for key: [UInt8]) throws(StorageError) {
    try put(value.span, for: key.span)
  }

  /// Removes the row under `key`, if any.
  public mutating func remove(_ key: Span<UInt8>) throws(StorageError) {
    guard key.count <= StorageLimits.keyBytes else { return }
    try writer.remove(key)
  }

  /// Removes the row under `key`, if any.
  public mutating func remove(_ key: [UInt8]) throws(StorageError) {
    try remove(key.span)
  }

  /// Removes every row of `range`.
  public mutating func remove(in range: KeyRange) throws(StorageError) {
    guard !range.isEmpty else { return }
    try writer.remove(range)
  }
}
