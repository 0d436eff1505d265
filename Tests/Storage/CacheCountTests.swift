import TernStorage
import TernStorageSQLite
import Testing

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
    func read() throws -> CacheCounts {
      let before = try #require(store.pageCache)
      let rows = try store.read { snapshot throws(StorageError) in try snapshot.scan() }
      #expect(rows.count == 200)
      let after = try #require(store.pageCache)
      return CacheCounts(hits: after.hits - before.hits, misses: after.misses - before.misses)
    }
    let first = try read()
    let second = try read()
    #expect(first.misses > 0, "the reader's connection has read nothing before")
    #expect(second.misses == 0 && second.hits > 0)
  }
}
