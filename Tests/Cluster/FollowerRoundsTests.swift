import Synchronization
import TernAssembly
import TernClient
import TernCore
import TernServer
import TernServerAssembly
import TernSync
import TernTestKit
import Testing

@Suite("rounds of faults among nodes that serve", .timeLimit(.minutes(3)))
struct FollowerRoundsTests {
  /// The clients of a run, each with a counter that only it increments.
  private static let clients = 6

  @Test(
    "increments that were acknowledged are there once each, and no listener sees a step back",
    arguments: [1, 2])
  func rounds(shards: Int) async throws {
    let seed = UInt64.random(in: 1...UInt64.max)
    print("rounds of followers of \(shards) shards: seed \(seed)")
    let run = try await ClusterRun(nodes: shards == 1 ? 3 : 4, shards: shards)
    var clients: [TernDatabase] = []
    for number in 0..<Self.clients { clients.append(try await run.client(at: number)) }
    let watches = clients.enumerated().map { number, client in
      // The next client with the same database.
      Task { try await Self.watch(client, (number + shards) % Self.clients) }
    }
    let tally = Tally(Self.clients)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, client) in clients.enumerated() {
        group.addTask {
          let counter = client.tree["counters/\(number)"]
          while !tally.isOver {
            try await counter.increment(by: 1).acknowledged()
            tally.add(to: number)
          }
        }
      }
      group.addTask {
        await run.fault(seed: seed, rounds: 8, tally)
        tally.end()
      }
      try await group.waitForAll()
    }
    for (number, client) in clients.enumerated() {
      let counted = try await client.tree["counters/\(number)"].get().number
      #expect(counted == Double(tally[number]), "seed \(seed), client \(number)")
      try await client.tree["done"].set(true).acknowledged()
    }
    for watch in watches {
      let (isMonotone, last, number) = try await watch.value
      #expect(isMonotone, "seed \(seed), counter \(number)")
      #expect(last == Double(tally[number]), "seed \(seed), counter \(number)")
    }
    for client in clients { await client.close() }
    await run.stop()
  }

  /// Watches a counter until all is done.
  private static func watch(
    _ client: TernDatabase, _ number: Int
  ) async throws -> (isMonotone: Bool, last: Double, number: Int) {
    var last = 0.0
    for try await snapshot in client.tree.root.values() {
      let next = snapshot["counters/\(number)"].number ?? 0
      if next < last { return (false, next, number) }
      last = next
      // A client shows its own write before the node has told it of what came before.
      if snapshot["done"].exists, !snapshot.hasPendingWrites { break }
    }
    return (true, last, number)
  }
}

/// The acknowledged increments of clients.
private final class Tally: Sendable {
  private struct State {
    var counts: [Int]
    var isOver = false
    var waiting: [(count: Int, go: CheckedContinuation<Void, Never>)] = []

    var all: Int { counts.reduce(0, +) }
  }

  private let state: Mutex<State>

  init(_ clients: Int) { state = Mutex(State(counts: Array(repeating: 0, count: clients))) }

  subscript(client: Int) -> Int { state.withLock { $0.counts[client] } }

  var isOver: Bool { state.withLock { $0.isOver } }

  func end() { state.withLock { $0.isOver = true } }

  func add(to client: Int) {
    let ready = state.withLock { state in
      state.counts[client] += 1
      let all = state.all
      let ready = state.waiting.filter { $0.count <= all }
      state.waiting.removeAll { $0.count <= all }
      return ready
    }
    for (_, go) in ready { go.resume() }
  }

  /// Waits until so many more are acknowledged.
  func wait(for more: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiting.append(($0.all + more, continuation)) }
    }
  }
}

/// Nodes over one log, and faults between them.
private struct ClusterRun {
  private let place = SharedPlace()
  private let shards: Int
  private var nodes: [ServerNode] = []

  init(nodes count: Int, shards: Int) async throws {
    self.shards = shards
    for number in 0..<count {
      let node = try await ServerNode(
        place, "node\(number)", follows: true, leaseSeconds: 1, shard: Int64(number % shards),
        shards: shards == 1 ? nil : ["1": ["database1"]])
      await node.events.wait(for: number < shards ? .leading : .following)
      nodes.append(node)
    }
  }

  /// A client of one of the databases, by turns, at one of the nodes.
  func client(at number: Int) async throws -> TernDatabase {
    try await nodes[number / shards % nodes.count].client(of: "database\(number % shards)")
  }

  /// Cuts one node after the other from the log, or loses its next append, each for as long as the
  /// clients of the others take for some writes.
  func fault(seed: UInt64, rounds: Int, _ tally: Tally) async {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<rounds {
      let name = "node\(Int.random(in: 0..<nodes.count, using: &random))"
      if Bool.random(using: &random) {
        place.cut(name, true)
      } else {
        place.loseNextAppend(of: name)
      }
      await tally.wait(for: Int.random(in: 5...60, using: &random))
      place.mend(name)
      await tally.wait(for: 20)
    }
  }

  func stop() async {
    for node in nodes { await node.stop() }
  }
}
