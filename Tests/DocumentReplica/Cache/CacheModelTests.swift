import TernQuery
import Testing

@testable import TernDocumentReplica

@Suite("a cache of documents shows what lists and loops show")
struct CacheModelTests {
  static let seeds = UInt64(1)...12

  @Test(arguments: CacheStore.allCases, seeds)
  func whatever(_ kind: CacheStore, seed: UInt64) throws {
    var world = try CacheWorld(kind, seed: seed, settings: DocumentCache.Settings())
    for _ in 0..<150 { try world.step() }
  }

  @Test("with hardly any memory for packed documents", arguments: seeds)
  func cold(seed: UInt64) throws {
    let settings = DocumentCache.Settings(hotBytes: 4_000)
    var world = try CacheWorld(.memory, seed: 100 + seed, settings: settings)
    for _ in 0..<150 { try world.step() }
  }

  @Test("that forgets at once what no listener needs", arguments: seeds)
  func eager(seed: UInt64) throws {
    let settings = DocumentCache.Settings(isEager: true)
    var world = try CacheWorld(.memory, seed: 200 + seed, settings: settings)
    for _ in 0..<150 { try world.step() }
  }
}
