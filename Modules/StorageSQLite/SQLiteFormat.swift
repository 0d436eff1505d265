import CSQLite
import TernStorage

/// The database's own format: what is set on it and written in it before rows are.
enum SQLiteFormat {
  /// The database's file in the directory of the store.
  static let file = "rows.sqlite"
  /// "Tern" as four ASCII bytes, in the header of the database.
  static let applicationID = 0x5465_726E
  /// The version this code writes and the newest it reads.
  static let version = 2
  /// The first version whose pages carry checksums, and whose large records have a table.
  static let firstChecked = 2
  /// The bytes at the end of each page that hold its checksum.
  static let reservedBytes = 8
  /// The size of the log, in bytes, past which it is cut off when it was moved.
  static let logBytes = 16 * 1024 * 1024

  /// Refuses a database without a byte, or none, beside files that only stand beside one with bytes
  /// in it. SQLite would take it for a new one, and remove its log.
  static func refuseCutFile(in directory: StoreDirectory) throws(StorageError) {
    if directory.bytes(of: file) ?? 0 > 0 { return }
    let log = directory.bytes(of: file + "-wal") ?? 0
    guard log > 0 || directory.holds("ballast") else { return }
    throw .corruptStore(
      reason: "\(file) has no byte beside \(log > 0 ? file + "-wal" : "ballast"): "
        + "it was cut off, or is gone")
  }

  /// The way the pages of the database are to be read.
  ///
  /// Databases of version 1, and those that are not ours, have no checksums. All others have, also
  /// a new one whose first rows are still in the log.
  static func pages(
    in directory: StoreDirectory, _ integrity: StoreIntegrity
  ) throws(StorageError) -> SQLitePages {
    guard integrity == .pages else { return .unchecked }
    let header = try directory.head(of: file, bytes: 100)
    guard header.count == 100 else { return .checked }
    let number = { (at: Int) in header[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
    // One wrong bit makes no version 1 of a 2.
    let isOurs = number(68) == applicationID && number(60) != 1
    return isOurs || header[20] == reservedBytes ? .checked : .unchecked
  }

  /// Checks an existing database or makes a new one, and sets `connection` up for writing.
  static func prepare(
    _ connection: SQLiteConnection, _ durability: Durability, limitBytes: Int?
  ) throws(StorageError) {
    let identity = try connection.integer("PRAGMA application_id")
    let version = try connection.integer("PRAGMA user_version")
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
    let isNew = tables == 0 && identity == 0
    if !isNew {
      guard identity == applicationID else {
        throw .corruptStore(reason: "the SQLite database is not a Tern store")
      }
      guard version > 0 else { throw .corruptStore(reason: "the store has no version") }
    }
    guard version <= Self.version else {
      throw .newerFormat(found: version, supported: Self.version)
    }
    if isNew { connection.reserveChecksums() }
    try connection.execute("PRAGMA journal_mode = WAL")
    let synchronous = durability == .durable ? "FULL" : "NORMAL"
    try connection.execute("PRAGMA synchronous = \(synchronous)")
    try connection.execute("PRAGMA journal_size_limit = \(logBytes)")
    if let limitBytes {
      let page = try connection.integer("PRAGMA page_size")
      try connection.execute("PRAGMA max_page_count = \(max(1, limitBytes / page))")
    }
    if isNew { try create(connection) }
    connection.hasLargeTable = isNew || version >= firstChecked
  }

  private static func create(_ connection: SQLiteConnection) throws(StorageError) {
    try connection.execute(
      """
      BEGIN IMMEDIATE;
      PRAGMA application_id = \(applicationID);
      PRAGMA user_version = \(version);
      CREATE TABLE rows (key BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;
      \(largeTable);
      COMMIT;
      """)
  }

  /// Gives a database of version 1 what one of version 2 has besides checksums.
  static func upgrade(_ connection: SQLiteConnection) throws(StorageError) {
    try connection.execute(
      "BEGIN IMMEDIATE; \(largeTable); PRAGMA user_version = \(version); COMMIT")
  }

  // Rows point at it with an integer in the place of a record.
  private static let largeTable =
    "CREATE TABLE large (id INTEGER PRIMARY KEY NOT NULL, record BLOB NOT NULL)"
}
