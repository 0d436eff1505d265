/// The statements every connection keeps prepared.
enum SQLiteText: Int, CaseIterable {
  case beginRead, touch, beginWrite, commit, rollback
  case put, removeKey, removeRange, removeTail
  case range, rangeReversed, tail, tailReversed

  static let getSQL = "SELECT record FROM rows WHERE key = ?1"

  var sql: String {
    switch self {
    case .beginRead: "BEGIN"
    // A snapshot begins at the first read, so one is made at once.
    case .touch: "SELECT 1 FROM rows LIMIT 0"
    case .beginWrite: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    case .put: "INSERT OR REPLACE INTO rows (key, record) VALUES (?1, ?2)"
    case .removeKey: "DELETE FROM rows WHERE key = ?1"
    case .removeRange: "DELETE FROM rows WHERE key >= ?1 AND key < ?2"
    case .removeTail: "DELETE FROM rows WHERE key >= ?1"
    case .range: "SELECT key, record FROM rows WHERE key >= ?1 AND key < ?2 ORDER BY key"
    case .rangeReversed:
      "SELECT key, record FROM rows WHERE key >= ?1 AND key < ?2 ORDER BY key DESC"
    case .tail: "SELECT key, record FROM rows WHERE key >= ?1 ORDER BY key"
    case .tailReversed: "SELECT key, record FROM rows WHERE key >= ?1 ORDER BY key DESC"
    }
  }
}
