import TernClient
import TernCore
import TernLedger
import TernQuery
import TernServer
import TernStorage
import TernStorageMemory
import TernStorageSQLite
import TernSync
import TernTransportLoopback

/// The delays that an application feels: its own client's time, and the speed of its queue.
enum ClientSection {
  static func run() async throws {
    print("client: measured, limit")
    for kind in ["memory", "sqlite"] {
      try await events(kind)
      try await bigNode(kind)
      try await queue(kind)
    }
  }

  private static func report(_ kind: String, _ name: String, _ value: Double, _ limit: Double) {
    let verdict = value <= limit ? "ok" : "miss"
    print("  \(kind) \(name): \((value * 1_000).rounded() / 1_000), \(limit)  \(verdict)")
  }

  private static func report(_ kind: String, _ name: String, rate: Double, atLeast limit: Double) {
    print("  \(kind) \(name): \(Int(rate)), \(Int(limit))  \(rate >= limit ? "ok" : "miss")")
  }

  /// A child is set; how long until a listener has the event.
  private static func events(_ kind: String) async throws {
    let parts = try BenchParts(kind)
    let tern = try parts.open()
    await tern.tree.goOffline()
    let clock = ContinuousClock()
    var iterator = tern.tree["list"].children().makeAsyncIterator()
    try await tern.tree["list/start"].set(1)
    _ = try await iterator.next()
    let count = 2_000
    let listener = Task { [iterator] in
      var iterator = iterator
      var heard: [ContinuousClock.Instant] = []
      while heard.count < count, try await iterator.next() != nil { heard.append(clock.now) }
      return heard
    }
    var starts: [ContinuousClock.Instant] = []
    for number in 0..<count {
      let node = TreeNode(.integer(Int64(number)))
      starts.append(clock.now)
      try await tern.tree["list/\(number % 100)"].set(node)
    }
    let heard = try await listener.value
    var times = zip(starts, heard).map { ($1 - $0) / .microseconds(1) }
    times.sort()
    report(kind, "child set to event p50, µs", times[times.count / 2], 30)
    await tern.close()
    parts.remove()
  }

  /// A node of 100,000 children.
  private static func bigNode(_ kind: String) async throws {
    let parts = try BenchParts(kind)
    let tern = try parts.open()
    await tern.tree.goOffline()
    let node = TreeNode(
      children: ChildMap(
        unsorted: (0..<100_000).map { number in
          (
            key: TreeKey(unchecked: "child\(number)"),
            node: ["score": TreeNode(.integer(Int64(number * 7919 % 100_003))), "name": "x"]
          )
        }))
    let clock = ContinuousClock()
    let set = try await clock.measure { _ = try await tern.tree["big"].set(node) }
    report(kind, "set of 100,000 children, ms", set / .milliseconds(1), 100)
    let first = try await clock.measure { _ = try await tern.tree["big"].once() }
    report(kind, "first value of 100,000 children, ms", first / .milliseconds(1), 30)
    let query = tern.tree["big"].order(byChild: "score").last(100)
    let ordered = try await clock.measure { _ = try await query.once() }
    report(kind, "last(100) ordered by a child, ms", ordered / .milliseconds(1), 40)
    await tern.close()
    parts.remove()
  }

  /// A queue of 10,000 writes: opened again, then sent.
  private static func queue(_ kind: String) async throws {
    let parts = try BenchParts(kind)
    let count = 10_000
    let tern = try parts.open()
    await tern.tree.goOffline()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        let reference = tern.tree["queue/\(number)"]
        group.addTask { try await reference.set(TreeNode(.integer(Int64(number)))) }
      }
      try await group.waitForAll()
    }
    await tern.close()
    try parts.reopen()
    let server = try await parts.serve()
    let clock = ContinuousClock()
    let start = clock.now
    let again = try parts.open()
    await again.tree.goOffline()
    let pending = await again.tree.pendingWrites.count
    let opening = clock.now - start
    report(kind, "opening \(pending) queued writes, ms", opening / .milliseconds(1), 200)
    let drain = await clock.measure {
      await again.tree.goOnline()
      for await status in again.tree.queue where status.pending.isEmpty { break }
    }
    report(
      kind, "queued writes sent, 1/s", rate: Double(count) / (drain / .seconds(1)), atLeast: 5_000)
    await again.close()
    await server.stop()
    parts.remove()
  }
}
