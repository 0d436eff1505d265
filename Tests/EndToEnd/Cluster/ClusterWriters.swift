import Foundation
import Synchronization
import TernAssembly
import TernClient
import TernCore
import TernPostgresTesting
import TernStandard
import TernSync

@testable import tern

/// Counts what clients were promised, for rounds that wait until there is more of it.
final class ClusterProgress: Sendable {
  private let promises = LineInbox()
  private let state = Mutex((count: 0, isOver: false))

  var count: Int { state.withLock { $0.count } }
  /// True once the writers are to finish.
  var isOver: Bool { state.withLock { $0.isOver } }

  func end() { state.withLock { $0.isOver = true } }

  func note() {
    state.withLock { $0.count += 1 }
    promises.add(Array("promise\n".utf8))
  }

  /// Waits for so many promises more; `false` if they do not come.
  func wait(for more: Int) async -> Bool {
    let target = count + more
    while count < target {
      guard await promises.line(within: patience, where: { _ in true }) != nil else { return false }
    }
    return true
  }
}

/// A client of our own in this process, with everything in memory.
func clusterClient(port: Int) async throws -> TernDatabase {
  try await clusterClient(ports: [port])
}

/// The same, which goes to the next port when one fails.
func clusterClient(ports: [Int]) async throws -> TernDatabase {
  let host = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
  return try await Assembler(catalog: .standard).client(
    from: Configuration(
      storage: ["kind": "memory"], transport: ["kind": "tcp", "host": .string(host)]))
}

/// A client of our own that adds, and counts what was acknowledged.
final class ClusterWriter: Sendable {
  let name: String
  private let counts = Mutex(0)

  /// The writes that were made, each of them once.
  var made: Int { counts.withLock { $0 } }

  init(_ name: String) { self.name = name }

  /// Writes until the rounds are over; every write is acknowledged by then.
  func run(on client: TernDatabase, _ progress: ClusterProgress) async throws {
    let place = client.tree["own/\(name)"]
    while !progress.isOver {
      let number = made + 1
      // Both are under way together, so that some are in doubt when a node goes.
      let added = try await place["count"].increment(by: 1)
      let set = try await place["newest"].set(TreeNode(.integer(Int64(number))))
      counts.withLock { $0 = number }
      try await added.acknowledged()
      try await set.acknowledged()
      progress.note()
    }
  }
}

/// A client that knows nothing but HTTP: it hears of an outcome or does not, and never repeats.
final class ClusterRESTWriter: Sendable {
  private struct State {
    var tried = 0
    var acknowledged: [Int] = []
    /// The newest count that was read or acknowledged.
    var least = 0
    var problems: [String] = []
  }

  let name: String
  private let cluster: ClusterUnderTest
  /// The node that it knows; `nil` for the balancer.
  private let node: Int?
  private let progress: ClusterProgress
  private let state = Mutex(State())
  private let done = LineInbox()

  var tried: Int { state.withLock { $0.tried } }
  var acknowledged: [Int] { state.withLock { $0.acknowledged } }
  var problems: [String] { state.withLock { $0.problems } }

  init(_ name: String, _ cluster: ClusterUnderTest, at node: Int?, _ progress: ClusterProgress) {
    (self.name, self.cluster, self.node, self.progress) = (name, cluster, node, progress)
  }

  /// Works on a thread of its own until the rounds are over.
  func start() {
    Thread.detachNewThread {
      while !self.progress.isOver { self.work() }
      self.done.add(Array("done\n".utf8))
    }
  }

  func finish() async { _ = await done.line(within: patience) { _ in true } }

  private func work() {
    cluster.blockUntilLed(seconds: 1)
    let number = state.withLock { state in
      state.tried += 1
      return state.tried
    }
    // One request makes both, so each number that is there was counted once.
    let body = #"{"count":{".sv":{"increment":1}},"items/\#(number)":\#(number)}"#
    let answer = cluster.request("PATCH", "/rest/\(name).json", body, at: node)
    if answer?.status == 200 {
      state.withLock { state in
        state.acknowledged.append(number)
        state.least += 1
      }
      progress.note()
    }
    let least = state.withLock { $0.least }
    let reading = cluster.request("GET", "/rest/\(name)/count.json", at: node)
    guard let read = reading, read.status == 200 else { return }
    let count = Int(read.body) ?? 0
    state.withLock { state in
      if count < least { state.problems.append("\(name) read \(count) after \(least)") }
      state.least = max(state.least, count)
    }
  }
}

/// A client that listens to everything, and notices when something goes back.
final class ClusterWatcher: Sendable {
  private struct State {
    var newest: [String: Double] = [:]
    var problems: [String] = []
    var events = 0
  }

  private let state = Mutex(State())
  /// The views, one a line.
  let views = LineInbox()

  var problems: [String] { state.withLock { $0.problems } }
  var events: Int { state.withLock { $0.events } }

  /// Watches until the task is cancelled.
  func run(on client: TernDatabase) async throws {
    for try await snapshot in client.tree["own"].values() {
      state.withLock { state in
        state.events += 1
        for writer in snapshot.children {
          for (name, node) in [("count", writer["count"]), ("newest", writer["newest"])] {
            let (key, value) = ("\(writer.name)/\(name)", node.number ?? 0)
            if value < state.newest[key, default: 0] {
              state.problems.append("\(key) went back from \(state.newest[key] ?? 0) to \(value)")
            }
            state.newest[key] = value
          }
        }
      }
      views.add(Array("\(snapshot.json())\n".utf8))
    }
  }
}
