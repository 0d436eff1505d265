import TernStorage
import Testing

@testable import TernStorageSQLite

@Suite("Lookups of pages") struct CacheCountTests {
  @Test("a page that is read again is found in memory, by readers and by the writer")
  func pages() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteStore(path: directory.path)
    defer { store.close() }
    try store.write { transaction throws(StorageError) in
      for number in UInt8(0)..<200 {
        try transaction.put([UInt8](repeating: number, count: 500), for: [number])
      }
    }
    let written = try #require(store.pageCache)
    #expect(written.hits > 0)
    let first = try read(store)
    let second = try read(store)
    #expect(first.misses > 0, "the reader's connection has read nothing before")
    #expect(second.misses == 0 && second.hits > 0)
  }

  @Test("a connection that is used stays, and one that is not used is closed")
  func idle() throws {
    let directory = try TemporaryDirectory()
    let store = try SQLiteStore(path: directory.path)
    defer { store.close() }
    try store.write { transaction throws(StorageError) in
      for number in UInt8(0)..<200 {
        try transaction.put([UInt8](repeating: number, count: 500), for: [number])
      }
    }
    _ = try read(store)
    for _ in 0..<3 {
      store.releaseIdle()
      #expect(try read(store).misses == 0)
    }
    store.releaseIdle()
    store.releaseIdle()
    #expect(try read(store).misses > 0, "the connection was kept")
    #expect(store.pool.idleCount == 1)
  }

  /// Reads all rows in a snapshot, and returns what was looked up for it.
  private func read(_ store: SQLiteStore) throws -> CacheCounts {
    let before = try #require(store.pageCache)
    let rows = try store.read { snapshot throws(StorageError) in try snapshot.scan() }
    #expect(rows.count == 200)
    let after = try #require(store.pageCache)
    return CacheCounts(hits: after.hits - before.hits, misses: after.misses - before.misses)
  }
}
