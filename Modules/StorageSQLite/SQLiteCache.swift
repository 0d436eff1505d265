import CSQLite
public import TernStorage

extension SQLiteStore: PageCacheCounting {
  /// The lookups of pages in the caches of all connections. The system's own cache of files, which
  /// serves most of the misses, is not seen.
  public var pageCache: CacheCounts? { pool.cacheCounts }
}

extension SQLiteConnection {
  /// Returns the lookups of pages since the last call.
  func takeCacheCounts() -> CacheCounts {
    CacheCounts(
      hits: take(SQLITE_DBSTATUS_CACHE_HIT), misses: take(SQLITE_DBSTATUS_CACHE_MISS))
  }

  private func take(_ counter: Int32) -> Int {
    var (count, highest) = (Int32(0), Int32(0))
    // Safe: the library writes both numbers during the call only.
    let code = unsafe sqlite3_db_status(handle, counter, &count, &highest, 1)
    return code == SQLITE_OK ? Int(count) : 0
  }
}
