/// The statements every connection keeps prepared.
enum SQLiteText: Int, CaseIterable {
  case beginRead, touch, beginWrite, commit, rollback, pageCount
  case put, putSmall, point, removeKey, removeSmall, removeRange, removeTail
  case large, putLarge, replaceLarge, removeLarge, removeLargeRange, removeLargeTail
  case range, rangeReversed, tail, tailReversed

  static let getSQL = "SELECT record FROM rows WHERE key = ?1"
  static let largeSQL = "SELECT record FROM large WHERE id = ?1"
  private static let largeIDs =
    "DELETE FROM large WHERE id IN (SELECT record FROM rows WHERE typeof(record) = 'integer' AND "

  var sql: String {
    switch self {
    case .beginRead: "BEGIN"
    // A snapshot begins at the first read, so one is made at once.
    case .touch: "SELECT 1 FROM rows LIMIT 0"
    case .beginWrite: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    // With those that the open transaction adds.
    case .pageCount: "PRAGMA page_count"
    case .put: "INSERT OR REPLACE INTO rows (key, record) VALUES (?1, ?2)"
    // Changes nothing when the row points at a large record, which then has to go first.
    case .putSmall:
      """
      INSERT INTO rows (key, record) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE
      SET record = excluded.record WHERE typeof(record) <> 'integer'
      """
    case .point: "SELECT record FROM rows WHERE key = ?1 AND typeof(record) = 'integer'"
    case .removeKey: "DELETE FROM rows WHERE key = ?1"
    case .removeSmall: "DELETE FROM rows WHERE key = ?1 AND typeof(record) <> 'integer'"
    case .removeRange: "DELETE FROM rows WHERE key >= ?1 AND key < ?2"
    case .removeTail: "DELETE FROM rows WHERE key >= ?1"
    case .large: Self.largeSQL
    case .putLarge: "INSERT INTO large (record) VALUES (?1)"
    case .replaceLarge: "UPDATE large SET record = ?1 WHERE id = ?2"
    case .removeLarge: "DELETE FROM large WHERE id = ?1"
    case .removeLargeRange: Self.largeIDs + "key >= ?1 AND key < ?2)"
    case .removeLargeTail: Self.largeIDs + "key >= ?1)"
    case .range: "SELECT key, record FROM rows WHERE key >= ?1 AND key < ?2 ORDER BY key"
    case .rangeReversed:
      "SELECT key, record FROM rows WHERE key >= ?1 AND key < ?2 ORDER BY key DESC"
    case .tail: "SELECT key, record FROM rows WHERE key >= ?1 ORDER BY key"
    case .tailReversed: "SELECT key, record FROM rows WHERE key >= ?1 ORDER BY key DESC"
    }
  }
}
