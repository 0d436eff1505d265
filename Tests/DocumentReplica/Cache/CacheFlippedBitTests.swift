import TernQuery
import Testing

@testable import TernDocumentReplica

@Suite("a device with a flipped bit in its cache shows nothing false, and ends up right")
struct CacheFlippedBitTests {
  static let seeds = UInt64(1)...2

  private func run(
    _ kind: CacheStore, _ tag: DocumentCacheKeys.Tag, _ seed: UInt64, looksOffline: Bool
  ) throws -> Bool {
    var world = try DamageWorld(kind, seed: seed)
    try world.live()
    guard try world.damage(tag) else { return false }
    try world.restart()
    if looksOffline { try world.lookOffline() }
    try world.converge()
    try world.checkBundle()
    // What was fetched again is kept, once nothing is left of what was damaged.
    for _ in 0..<3 {
      try world.restart()
      try world.converge()
      if world.requestsFromNothing == 0 { break }
    }
    let about = "\(kind) \(tag) seed \(seed)"
    #expect(world.failures.isEmpty, "\(about): \(world.failures.prefix(3))")
    #expect(world.requestsFromNothing == 0, "\(about)")
    return true
  }

  @Test(arguments: CacheStore.allCases, DocumentCacheKeys.Tag.allCases)
  func row(_ kind: CacheStore, tag: DocumentCacheKeys.Tag) throws {
    var count = 0
    for seed in Self.seeds where try run(kind, tag, seed, looksOffline: seed % 2 == 0) {
      count += 1
    }
    #expect(count > 0)
  }
}
