import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

@Suite("watching documents, at random")
struct WatchModelTests {
  @Test(
    "every listener holds its query's result, whenever it came back",
    arguments: 1...15 as ClosedRange<UInt64>)
  func model(seed: UInt64) throws {
    try check(seed: seed, on: .memory, steps: 150)
  }

  @Test("and on every store", arguments: AuthorityBackend.all)
  func stores(backend: AuthorityBackend) throws {
    for seed in 200...201 as ClosedRange<UInt64> { try check(seed: seed, on: backend, steps: 60) }
  }

  @Test(
    "and with first snapshots that were read ahead of what was committed since",
    arguments: 300...330 as ClosedRange<UInt64>)
  func readAhead(seed: UInt64) throws {
    try check(seed: seed, on: .memory, steps: 150, readsAhead: true)
  }

  private func check(
    seed: UInt64, on backend: AuthorityBackend, steps: Int, readsAhead: Bool = false
  ) throws {
    var random = RandomDocuments(seed)
    let world = try WatchWorld(backend.open())
    if readsAhead { world.ahead = RandomDocuments(seed + 1_000) }
    let database = world.store.authority.rows.database
    let keys = (0..<20).map { _ in random.key() }
    let subjects = (0..<8).map { _ in
      random.chance(15)
        ? WatchTarget.Subject.documents([random.key(), random.key()])
        : .query(random.query(over: keys, in: database).target)
    }
    let clients = (0..<4).map { stream in
      let client = WatchClient(stream: stream)
      for id in 1...4 as ClosedRange<Int32> {
        client.held[id] = .init(subject: random.pick(subjects))
      }
      return client
    }
    for step in 0..<steps {
      try act(&random, world, clients)
      for client in clients where world.clients[client.stream] != nil {
        for (id, held) in client.held where held.isCurrent {
          let expected = try world.expected(held.subject)
          #expect(
            held.documents.keys.sorted() == expected.keys.sorted(),
            "seed \(seed), step \(step), client \(client.stream), target \(id): \(held.subject)")
          #expect(held.documents == expected)
        }
      }
    }
  }

  private func act(
    _ random: inout RandomDocuments, _ world: WatchWorld, _ clients: [WatchClient]
  ) throws {
    switch Int.random(in: 0..<20, using: &random.random) {
    case 0, 1, 2:
      let client = random.pick(clients)
      if world.clients[client.stream] == nil {
        for id in client.held.keys.sorted() { try world.listen(client, id) }
      } else {
        world.disconnect(client)
        for id in client.held.keys { client.held[id]?.isCurrent = false }
      }
    case 3:
      world.store.now += Int64.random(in: 0...3_000_000_000, using: &random.random)
      _ = try world.store.sweep(from: 0, limit: 100)
    default:
      let count = Int.random(in: 1...4, using: &random.random)
      try world.write((0..<count).map { _ in random.mutation() })
    }
  }
}
