import Testing

@Suite("Replica against a naive server")
struct ReplicaModelTests {
  @Test("every event shows what the server has, with pending writes on top", arguments: 1...40)
  func schedules(seed: UInt64) throws {
    var world = try ReplicaWorld(seed: seed, isEager: seed % 2 == 0)
    for _ in 0..<300 where world.failures.isEmpty { try world.step() }
    if world.failures.isEmpty { try world.heal() }
    #expect(world.failures.isEmpty, "seed \(seed): \(world.failures.first ?? "")")
  }
}
