import CSQLite
import TernStorage

/// The backend's side of the write transaction.
///
/// Large records are kept out of the rows' tree, since SQLite reads a whole row to compare its key
/// once the row spills to other pages. In a database of version 1, which has no such table, all
/// records are in their rows.
final class SQLiteWriter: SQLiteReader, StoreWriter {
  /// The most bytes of key and record that fit into a page of rows. Comparisons of keys would read
  /// all of a longer row, so its record has a table of its own.
  static let localBytes = 990
  /// A record this short stays in its row: the length of the row is its key's.
  static let smallBytes = 64

  /// Set when the disk was full: makes room for a transaction that begins with a removal.
  var makeRoom: (() -> Void)?
  /// True when puts fail until a row was removed.
  var mustRemoveFirst = false

  /// Stores a row, in the form that its size asks for.
  ///
  /// The small form updates a row only if it does not point at a large record. If it changed
  /// nothing, the large record is removed first; that is one more statement in a rare case.
  ///
  /// - Throws: ``StorageError/diskFull`` also when the limit on the database's pages is reached.
  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    if mustRemoveFirst { throw .diskFull }
    makeRoom = nil
    let connection = connection
    // Safe: statements are reset before the key and the record end.
    unsafe try connection.record.withRecord(value, for: key) { record throws(StorageError) in
      unsafe try key.withUnsafeBytes { key throws(StorageError) in
        guard connection.hasLargeTable else {
          return unsafe try run(.put, key, record)
        }
        if record.count > Self.smallBytes, key.count + record.count > Self.localBytes {
          return unsafe try putLarge(record, for: key)
        }
        unsafe try run(.putSmall, key, record)
        if sqliteChanges == 0, let id = unsafe try largeID(of: key) {
          try run(.removeLarge, id)
          unsafe try run(.put, key, record)
        }
      }
    }
  }

  /// Stores a record in the table of large ones.
  ///
  /// A large record that replaces another one keeps its number, so that the row need not change.
  private func putLarge(
    _ record: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer
  ) throws(StorageError) {
    if let id = unsafe try largeID(of: key) {
      let replace = try connection.statement(.replaceLarge)
      defer { replace.reset() }
      unsafe replace.bind(record, at: 1)
      replace.bind(id, at: 2)
      _ = try replace.step()
      if sqliteChanges > 0 { return }
    }
    let insert = try connection.statement(.putLarge)
    defer { insert.reset() }
    unsafe insert.bind(record, at: 1)
    _ = try insert.step()
    insert.reset()
    let id = unsafe Int(sqlite3_last_insert_rowid(connection.handle))
    let put = try connection.statement(.put)
    defer { put.reset() }
    unsafe put.bind(key, at: 1)
    put.bind(id, at: 2)
    _ = try put.step()
  }

  func remove(_ key: Span<UInt8>) throws(StorageError) {
    prepareToRemove()
    // Safe: statements are reset before the key ends.
    unsafe try key.withUnsafeBytes { key throws(StorageError) in
      guard connection.hasLargeTable else { return unsafe try run(.removeKey, key) }
      unsafe try run(.removeSmall, key)
      if sqliteChanges == 0, let id = unsafe try largeID(of: key) {
        try run(.removeLarge, id)
        unsafe try run(.removeKey, key)
      }
    }
  }

  /// Removes the rows of a range, with their large records.
  ///
  /// Large records go first: the rows that name them are needed to find them.
  func remove(_ range: KeyRange) throws(StorageError) {
    prepareToRemove()
    let isTail = range.upper == nil
    if connection.hasLargeTable {
      try run(isTail ? .removeLargeTail : .removeLargeRange, range)
    }
    try run(isTail ? .removeTail : .removeRange, range)
  }

  /// The rows that the last statement changed.
  private var sqliteChanges: Int32 { unsafe sqlite3_changes(connection.handle) }

  /// The number of the large record that the row under `key` points at, if it does.
  private func largeID(of key: UnsafeRawBufferPointer) throws(StorageError) -> Int? {
    let point = try connection.statement(.point)
    defer { point.reset() }
    unsafe point.bind(key, at: 1)
    return try point.step() ? point.integer(0) : nil
  }

  private func run(
    _ text: SQLiteText, _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer? = nil
  ) throws(StorageError) {
    let statement = try connection.statement(text)
    defer { statement.reset() }
    unsafe statement.bind(key, at: 1)
    if let record = unsafe record { unsafe statement.bind(record, at: 2) }
    _ = try statement.step()
  }

  private func run(_ text: SQLiteText, _ id: Int) throws(StorageError) {
    let statement = try connection.statement(text)
    defer { statement.reset() }
    statement.bind(id, at: 1)
    _ = try statement.step()
  }

  private func run(_ text: SQLiteText, _ range: KeyRange) throws(StorageError) {
    let upperBytes = range.upper ?? []
    let remove = try connection.statement(text)
    defer { remove.reset() }
    // Safe: the statement is reset before the bounds end: a step without rows ends it.
    unsafe try range.lower.span.withUnsafeBytes { lower throws(StorageError) in
      unsafe remove.bind(lower, at: 1)
      unsafe try upperBytes.span.withUnsafeBytes { upper throws(StorageError) in
        if range.upper != nil { unsafe remove.bind(upper, at: 2) }
        try remove.run()
      }
    }
  }

  /// Releases the reserved space, once, before the first removal on a full disk: a removal makes
  /// the log longer before it frees anything.
  private func prepareToRemove() {
    mustRemoveFirst = false
    makeRoom?()
    makeRoom = nil
  }
}
