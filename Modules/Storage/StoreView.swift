/// Something that can be read: a ``Snapshot``, or a ``WriteTransaction`` with its own writes.
///
/// Write helpers that only read over `borrowing some StoreView & ~Copyable & ~Escapable`, and both
/// can be passed.
public protocol StoreView: ~Copyable, ~Escapable {
  /// The backend's side; for stores that wrap stores.
  var reader: any StoreReader { get }
}

extension StoreView where Self: ~Copyable & ~Escapable {
  /// Calls `body` with the value stored under `key`, or returns `nil`. Copies nothing.
  public func withValue<R>(
    for key: Span<UInt8>,
    _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    guard key.count <= StorageLimits.keyBytes else { return nil }
    return try reader.withValue(for: key, body)
  }

  /// A cursor before the first row of `range`.
  ///
  /// - Parameters:
  ///   - range: The keys to visit.
  ///   - isReversed: Whether to go from the greatest key down.
  ///   - limit: The most rows to visit; a small limit also keeps the reads small.
  @_lifetime(borrow self)
  public func cursor(
    over range: KeyRange = .all, isReversed: Bool = false, limit: Int = .max
  ) -> Cursor {
    let reader = reader
    let cursor = Cursor(reader, Scan(range, isReversed: isReversed, limit: limit))
    // Safe: the cursor keeps `reader` alive by itself; it may be used as long as this view.
    return unsafe _overrideLifetime(cursor, borrowing: self)
  }

  /// A copy of the value stored under `key`, or `nil`.
  public func get(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    try withValue(for: key.span) { value throws(StorageError) in [UInt8](copying: value) }
  }

  /// Returns the value under `key`, even a corrupt one; see ``StoreReader/damagedValue(for:)``.
  public func damagedValue(for key: [UInt8]) throws(StorageError) -> [UInt8]? {
    try reader.damagedValue(for: key.span)
  }

  /// Returns true when a row is stored under `key`.
  public func contains(_ key: [UInt8]) throws(StorageError) -> Bool {
    try withValue(for: key.span) { _ throws(StorageError) in true } ?? false
  }

  /// Copies of the rows of `range`; convenient where the range is known to be small.
  public func scan(
    _ range: KeyRange = .all, isReversed: Bool = false, limit: Int = .max
  ) throws(StorageError) -> [Row] {
    var rows: [Row] = []
    var cursor = cursor(over: range, isReversed: isReversed, limit: limit)
    while try cursor.next() {
      rows.append(Row(key: [UInt8](copying: cursor.key), value: [UInt8](copying: cursor.value)))
    }
    return rows
  }
}

/// A copied row.
public struct Row: Hashable, Sendable {
  /// The key, 0 to ``StorageLimits/keyBytes`` bytes.
  public var key: [UInt8]
  /// The value, 0 to ``StorageLimits/valueBytes`` bytes.
  public var value: [UInt8]

  /// The row `key` -> `value`.
  public init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }
}
