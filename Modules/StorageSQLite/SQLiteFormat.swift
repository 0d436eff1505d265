import CSQLite
import TernStorage

/// The database's own format: what is set on it and written in it before rows are.
enum SQLiteFormat {
  /// "Tern" as four ASCII bytes, in the header of the database.
  static let applicationID = 0x5465_726E
  /// The version this code writes and the newest it reads.
  static let version = 1

  /// Refuses a database without a byte, or none, beside files that only stand beside one with bytes
  /// in it. SQLite would take it for a new one, and remove its log.
  static func refuseCutFile(in directory: StoreDirectory) throws(StorageError) {
    if directory.bytes(of: "rows.sqlite") ?? 0 > 0 { return }
    let log = directory.bytes(of: "rows.sqlite-wal") ?? 0
    guard log > 0 || directory.holds("ballast") else { return }
    throw .corruptStore(
      reason: "rows.sqlite has no byte beside \(log > 0 ? "rows.sqlite-wal" : "ballast"): "
        + "it was cut off, or is gone")
  }

  /// Checks an existing database or makes a new one, and sets `connection` up for writing.
  static func prepare(
    _ connection: SQLiteConnection, _ durability: Durability, limitBytes: Int?
  ) throws(StorageError) {
    let identity = try connection.integer("PRAGMA application_id")
    let version = try connection.integer("PRAGMA user_version")
    let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
    if tables > 0 || identity != 0 {
      guard identity == applicationID else {
        throw .corruptStore(reason: "the SQLite database is not a Tern store")
      }
    }
    guard version <= Self.version else {
      throw .newerFormat(found: version, supported: Self.version)
    }
    try connection.execute("PRAGMA journal_mode = WAL")
    let synchronous = durability == .durable ? "FULL" : "NORMAL"
    try connection.execute("PRAGMA synchronous = \(synchronous)")
    if let limitBytes {
      let page = try connection.integer("PRAGMA page_size")
      try connection.execute("PRAGMA max_page_count = \(max(1, limitBytes / page))")
    }
    if tables == 0 { try create(connection) }
  }

  private static func create(_ connection: SQLiteConnection) throws(StorageError) {
    try connection.execute(
      """
      BEGIN IMMEDIATE;
      PRAGMA application_id = \(applicationID);
      PRAGMA user_version = \(version);
      CREATE TABLE rows (key BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;
      COMMIT;
      """)
  }
}
