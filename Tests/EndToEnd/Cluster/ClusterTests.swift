import Foundation
import TernClient
import TernCore
import TernPostgresTesting
import TernSync
import TernTestKit
import Testing

@testable import tern

/// Three real servers over PostgreSQL, clients that write all the time, and what has to be true
/// after nodes, the database and what is between them have failed in every way: nothing that was
/// acknowledged is lost, nothing is made twice, no client sees a version go back, and all agree.
///
/// `TERN_CLUSTER_SEED` repeats the choices of a run; `TERN_CLUSTER_ROUNDS` makes more of them. On a
/// slow machine the rounds end early, once every fault has been there.
@Suite(
  "a cluster over PostgreSQL", .serialized, .timeLimit(.minutes(10)),
  .enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct ClusterTests {
  @Test("faults lose nothing, repeat nothing, and turn nothing back")
  func rounds() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed =
      environment["TERN_CLUSTER_SEED"].flatMap { UInt64($0) }
      ?? (environment["CI"] == nil ? .random(in: 1...1_000_000) : 1)
    let wanted = environment["TERN_CLUSTER_ROUNDS"].flatMap { Int($0) }
    let count = wanted ?? 20
    print("a cluster: TERN_CLUSTER_SEED=\(seed), \(count) rounds")
    try await withFolder { folder in
      let cluster = try ClusterUnderTest(folder: folder)
      defer { cluster.clean() }
      for index in 0..<ClusterUnderTest.count { try cluster.start(index) }
      _ = try await cluster.awaitLeader()
      let world = try await ClusterRun(cluster)
      try await world.play(
        rounds: count, seed: seed, enough: wanted == nil ? .seconds(90) : nil)
      try await world.check("TERN_CLUSTER_SEED=\(seed)")
      await world.close()
    }
  }
}

/// The clients of one run.
private final class ClusterRun {
  private let cluster: ClusterUnderTest
  private let progress = ClusterProgress()
  private let writers = ["ann", "bob", "cid", "fay"].map { ClusterWriter($0) }
  private let posters: [ClusterRESTWriter]
  private let watchers = [ClusterWatcher(), ClusterWatcher(), ClusterWatcher()]
  private var clients: [TernDatabase] = []
  private var writing: [Task<Void, any Error>] = []
  private var watching: [Task<Void, any Error>] = []
  /// The onDisconnect operations of the rounds: `true` for one that was confirmed.
  private var deferred: [Bool] = []

  init(_ cluster: ClusterUnderTest) async throws {
    self.cluster = cluster
    let progress = progress
    // Some clients come over the balancer, to the node that leads. Some know one node each, and the
    // last ones know all nodes.
    let (balancer, nodes) = ([cluster.port], (0..<ClusterUnderTest.count).map(cluster.port(of:)))
    posters = [("dan", nil), ("eve", 2)].map { name, node in
      ClusterRESTWriter(name, cluster, at: node, progress)
    }
    for (watcher, ports) in zip(watchers, [balancer, [nodes[0]], nodes.reversed()]) {
      let client = try await clusterClient(ports: ports)
      clients.append(client)
      watching.append(Task { try await watcher.run(on: client) })
    }
    for (writer, ports) in zip(writers, [balancer, [nodes[0]], [nodes[1]], nodes]) {
      let client = try await clusterClient(ports: ports)
      clients.append(client)
      writing.append(Task { try await writer.run(on: client, progress) })
    }
    for poster in posters { poster.start() }
  }

  func play(rounds: Int, seed: UInt64, enough: Duration?) async throws {
    var dice = SeededGenerator(seed: seed)
    let faults = ClusterUnderTest.Fault.allCases
    var next: [ClusterUnderTest.Fault] = []
    let start = ContinuousClock.now
    for round in 0..<rounds {
      let isEnough = enough.map { start.duration(to: .now) > $0 } ?? false
      if isEnough, round >= faults.count { break }
      // Every fault comes as often as the others, in another order each time.
      if next.isEmpty { next = faults.shuffled(using: &dice) }
      let fault = next.removeLast()
      let begin = ContinuousClock.now
      try #require(await progress.wait(for: 20), "no progress: \(cluster.words)")
      let leaving = try await clusterClient(
        port: cluster.port(of: Int.random(in: 0..<ClusterUnderTest.count, using: &dice)))
      let place = leaving.tree["gone/\(round)"]
      let left = Task {
        do throws(DisconnectError) {
          try await place.onDisconnect.set(.increment(by: 1))
          return true
        } catch {
          return false
        }
      }
      let isConfirmed = await left.value
      deferred.append(isConfirmed)
      let leavesEarly = Bool.random(using: &dice)
      try await cluster.suffer(fault) {
        if leavesEarly { await leaving.close() }
        #expect(await progress.wait(for: 20), "\(fault) stops the writers: \(cluster.words)")
      }
      if !leavesEarly { await leaving.close() }
      print("  round \(round): \(fault), \(begin.duration(to: .now))")
    }
  }

  func check(_ seed: Comment) async throws {
    try #require(await progress.wait(for: 20), seed)
    progress.end()
    for task in writing { try await task.value }
    for poster in posters { await poster.finish() }

    let reader = try await clusterClient(port: cluster.port)
    clients.append(reader)
    try await awaitDeferred(reader, seed)
    // The next leader has the same.
    try await cluster.suffer(.stopLeader) {}
    let own = try await reader.tree["own"].get()
    for writer in writers {
      #expect(own[writer.name]["count"].number == Double(writer.made), seed)
      #expect(own[writer.name]["newest"].number == Double(writer.made), seed)
    }
    let rest = try await reader.tree["rest"].get()
    for poster in posters {
      #expect(poster.problems == [], seed)
      let items = Swift.Set(
        rest[poster.name]["items"].children.compactMap { $0.number.map { Int($0) } })
      #expect(items.isSuperset(of: poster.acknowledged), seed)
      #expect(rest[poster.name]["count"].number == Double(items.count), seed)
      #expect(poster.acknowledged.count > 0 && items.count <= poster.tried, seed)
    }
    for watcher in watchers {
      #expect(watcher.problems == [], seed)
      #expect(watcher.events > 20, seed)
      let expected = own.json()
      let view = await watcher.views.line(within: patience) { $0 == expected }
      #expect(view != nil, "a client's view is another one: \(seed)")
    }
    let gone = try await reader.tree["gone"].get()
    #expect(isSettled(gone), "\(gone.json()): \(seed)")
    #expect(deferred.contains(true), seed)
    let made = writers.map(\.made).reduce(0, +)
    let posted = posters.map(\.acknowledged.count).reduce(0, +)
    print("  \(made) writes of our clients, \(posted) over REST, \(deferred.count) deferred")
  }

  /// Waits until every onDisconnect operation has fired.
  private func awaitDeferred(_ reader: TernDatabase, _ seed: Comment) async throws {
    let lines = LineInbox()
    let all = deferred
    let place = reader.tree["gone"]
    let watch = Task.detached {
      for try await gone in place.values() {
        if ClusterRun.isSettled(gone, all) { lines.add(Array("settled\n".utf8)) }
      }
    }
    defer { watch.cancel() }
    #expect(await lines.line(within: patience) { _ in true } != nil, seed)
  }

  private func isSettled(_ gone: TreeSnapshot) -> Bool { Self.isSettled(gone, deferred) }

  /// Each that was confirmed fired once; one whose confirmation was not heard, once or never.
  private static func isSettled(_ gone: TreeSnapshot, _ confirmed: [Bool]) -> Bool {
    confirmed.enumerated().allSatisfy { round, isConfirmed in
      let count = gone["\(round)"].number
      return count == 1 || (count == nil && !isConfirmed)
    }
  }

  func close() async {
    for task in watching { task.cancel() }
    for client in clients { await client.close() }
  }
}
