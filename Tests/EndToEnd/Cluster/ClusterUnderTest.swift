import Foundation
import Synchronization
import TernPostgresTesting
import Testing

@testable import tern

/// Three servers over one log, in a PostgreSQL of their own, each with a proxy before the database;
/// and a balancer that sends clients to the node that leads.
final class ClusterUnderTest: Sendable {
  /// One machine: its process may be another one later.
  private struct Node {
    let port: Int
    let database: CuttingProxy
    var process: ChildProcess?
    /// The processes so far, so that the last words of an earlier one are not those of this one.
    var runs = 0
  }

  private struct State {
    var nodes: [Node] = []
    /// The node that said last that it leads, and was not heard or made to end since.
    var leader: Int?
  }

  static let count = 3
  let postgres: PostgresServer
  private let folder: String
  private let followers: String
  /// The value of `ledger.shards` of each node, which is the node of the shard of its number; empty
  /// for nodes of one shard.
  private let shards: [String]
  private let leaseSeconds: Int
  private let state = Mutex(State())
  /// A line for each change of the leader.
  private let changes = LineInbox()
  private let balancer = Mutex<CuttingProxy?>(nil)
  private let led = NSCondition()

  /// - Parameters:
  ///   - followers: The value of `ledger.followers`.
  ///   - leaseSeconds: The lease: short where leaders fail, and so long that a busy machine keeps
  ///     it where they must go on.
  init(
    folder: String, followers: String = "serve", shards: [String] = [], leaseSeconds: Int = 1
  ) throws {
    self.folder = folder
    self.shards = shards
    self.followers = followers
    self.leaseSeconds = leaseSeconds
    postgres = try PostgresServer()
    for _ in 0..<Self.count {
      let node = Node(port: try freePort(), database: try CuttingProxy(to: postgres.port))
      state.withLock { $0.nodes.append(node) }
    }
    let proxy = try CuttingProxy { [weak self] in self?.leaderPort }
    balancer.withLock { $0 = proxy }
  }

  /// The port at which clients reach the node that leads.
  var port: Int { balancer.withLock { Int($0?.port ?? 0) } }

  var leader: Int? { state.withLock { $0.leader } }

  private var leaderPort: UInt16? {
    state.withLock { state in state.leader.map { UInt16(state.nodes[$0].port) } }
  }

  func port(of node: Int) -> Int { state.withLock { $0.nodes[node].port } }

  /// Ends everything.
  func clean() {
    for index in 0..<Self.count {
      state.withLock { $0.nodes[index].process }?.killNow()
      state.withLock { $0.nodes[index].database }.end()
    }
    balancer.withLock { $0 }?.end()
    postgres.remove()
  }
}

// MARK: - Nodes

extension ClusterUnderTest {
  /// Starts the process of a node.
  func start(_ index: Int, arguments: [String] = []) throws {
    let node = state.withLock { $0.nodes[index] }
    let place = "\(folder)/node\(index)"
    let log =
      "postgres://tern@127.0.0.1:\(node.database.port)/postgres"
      + "?sslmode=disable&gssencmode=disable"
    let configuration = """
      {"storage": {"kind": "sqlite", "path": "\(place)"},
       "transport": {"kind": "tcp", "port": \(node.port)},
       "ledger": {"kind": "shared", "log": "\(log)", "address": "127.0.0.1:\(node.port)",
                  "leaseSeconds": \(leaseSeconds), "followers": "\(followers)"\(shard(of: index))}}
      """
    let secret = folder + "/secret"
    try String(repeating: "secret", count: 8).write(
      toFile: secret, atomically: true, encoding: .utf8)
    try configuration.write(toFile: place + ".json", atomically: true, encoding: .utf8)
    let process = try ChildProcess(
      ternBinary,
      ["serve", "--dev", "--config", place + ".json", "--cluster-secret", secret] + arguments)
    let run = state.withLock { state in
      state.nodes[index].process = process
      state.nodes[index].runs += 1
      return state.nodes[index].runs
    }
    Task { await self.follow(process, index, run) }
  }

  /// The configuration of a node.
  func configurationFile(of index: Int) -> String { "\(folder)/node\(index).json" }

  private func shard(of index: Int) -> String {
    shards.isEmpty ? "" : #", "shard": \#(index), "shards": \#(shards[index])"#
  }

  /// Hears from a node when it leads and when it does not.
  private func follow(_ process: ChildProcess, _ index: Int, _ run: Int) async {
    while let line = await process.errors.next() {
      let leads = line.contains("this node leads and serves clients")
      guard leads || line.contains("no client is served here") else { continue }
      change { state in
        guard state.nodes[index].runs == run else { return }
        if leads { state.leader = index } else if state.leader == index { state.leader = nil }
      }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    led.lock()
    state.withLock { body(&$0) }
    led.broadcast()
    led.unlock()
    changes.add(Array("change\n".utf8))
  }

  /// The node does not lead any more, whatever it says.
  private func forget(_ index: Int) {
    change { state in
      state.nodes[index].runs += 1
      if state.leader == index { state.leader = nil }
    }
    balancer.withLock { $0 }?.cutAll()
  }

  func process(_ index: Int) throws -> ChildProcess {
    try #require(state.withLock { $0.nodes[index].process })
  }

  /// Returns the node that leads, once there is one.
  func awaitLeader() async throws -> Int {
    try await #require(awaitChange("no node leads") { $0 != nil })
  }

  /// Waits until the node that leads passes a test, for so long as any step may take.
  @discardableResult
  private func awaitChange(
    _ problem: String, _ isEnough: @Sendable (Int?) -> Bool
  ) async throws -> Int? {
    let deadline = ContinuousClock.now.advanced(by: patience)
    while true {
      let leader = leader
      if isEnough(leader) { return leader }
      let left = ContinuousClock.now.duration(to: deadline)
      try #require(left > .zero && !Task.isCancelled, "\(problem): \(words)")
      _ = await changes.line(within: left) { _ in true }
    }
  }

  /// Returns once a node that does not lead serves clients, or relays them to the one that leads.
  func awaitService(at index: Int) async throws {
    let deadline = ContinuousClock.now.advanced(by: patience)
    let process = try process(index)
    _ = await process.output.line(within: patience) { $0.hasPrefix("listening on ") }
    // It looks at the lease a few times a second; each request asks whether it has. A leader with
    // rules denies, which is an answer as well.
    while true {
      let status = await ask("GET", "/.json?shallow=true", at: index)?.status
      if status == 200 || status == 401 { return }
      try #require(ContinuousClock.now < deadline, "no relay: \(words)")
    }
  }

  /// Returns once a node follows and serves clients from its copy.
  func awaitFollowing(at index: Int) async throws {
    let deadline = ContinuousClock.now.advanced(by: patience)
    while await ask("GET", "/-/readyz", at: index)?.status != 200 {
      try #require(ContinuousClock.now < deadline, "the node does not follow: \(words)")
    }
  }

  /// Asks as ``request(_:_:_:at:)`` does, on a thread of its own.
  func ask(
    _ method: String, _ target: String, _ body: String = "", at index: Int
  ) async -> (status: Int, body: String)? {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: self.request(method, target, body, at: index))
      }
    }
  }

  /// Asks a node, or the one that leads, over HTTP; `nil` without an answer. Blocks.
  func request(
    _ method: String, _ target: String, _ body: String = "", at index: Int? = nil
  ) -> (status: Int, body: String)? {
    let number = UInt16(index.map { self.port(of: $0) } ?? self.port)
    guard let socket = try? LocalSocket(connectingTo: number) else { return nil }
    defer { socket.close() }
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    unsafe setsockopt(
      socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let head =
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\r\n"
    socket.write(Array((head + body).utf8)[...])
    var bytes: [UInt8] = []
    while case let more = socket.read(), !more.isEmpty { bytes += more }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n"), let status = Int(text.dropFirst(9).prefix(3)) else {
      return nil
    }
    return (status, String(text[end.upperBound...]))
  }

  /// Blocks the thread until a node leads, for so long at most.
  func blockUntilLed(seconds: Double) {
    let deadline = Date(timeIntervalSinceNow: seconds)
    led.lock()
    while leader == nil, led.wait(until: deadline) {}
    led.unlock()
  }

  /// The latest words of all nodes.
  var words: [[String]] {
    state.withLock { $0.nodes.map { Array($0.process?.errors.history.suffix(6) ?? []) } }
  }
}

// MARK: - Faults

extension ClusterUnderTest {
  enum Fault: CaseIterable {
    case killLeader, pauseLeader, stopLeader, killStandby, cutLeader, cutSessions, restartDatabase
  }

  /// Makes a fault happen, and returns when it is mended and a node leads.
  ///
  /// - Parameter meanwhile: Runs while a node is dead, paused or cut off, and another one leads.
  func suffer(_ fault: Fault, meanwhile: () async throws -> Void) async throws {
    let leader = try await awaitLeader()
    switch fault {
    case .killLeader, .killStandby:
      let victim = fault == .killLeader ? leader : (leader + 1) % Self.count
      let process = try process(victim)
      process.killNow()
      forget(victim)
      _ = await process.exitCode(within: patience)
      _ = try await awaitLeader()
      try await meanwhile()
      try start(victim)
    case .stopLeader:
      let process = try process(leader)
      process.stop()
      let code = await process.exitCode(within: patience)
      #expect(code == 0, "\(process.errors.history)")
      // One that hangs would hold its store and its address from the next.
      if code == nil { process.killNow() }
      forget(leader)
      _ = try await awaitLeader()
      try await meanwhile()
      try start(leader)
    case .pauseLeader:
      let process = try process(leader)
      kill(process.processID, SIGSTOP)
      change { if $0.leader == leader { $0.leader = nil } }
      balancer.withLock { $0 }?.cutAll()
      _ = try await awaitLeader()
      try await meanwhile()
      kill(process.processID, SIGCONT)
    case .cutLeader:
      let proxy = state.withLock { $0.nodes[leader].database }
      proxy.refuse(true)
      // It says so itself, after a lifetime of its lease.
      try await awaitChange("node \(leader) goes on") { $0 != leader }
      _ = try await awaitLeader()
      try await meanwhile()
      proxy.refuse(false)
    case .cutSessions:
      try postgres.run(
        """
        select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tern'
        """)
      try await meanwhile()
    case .restartDatabase:
      postgres.crash()
      postgres.start()
      try await meanwhile()
    }
    _ = try await awaitLeader()
  }
}

/// Two nodes, and the number of the one that does not lead.
func withCluster(
  followers: String, _ arguments: [String] = [], leaseSeconds: Int = 10,
  _ body: (ClusterUnderTest, _ follower: Int) async throws -> Void
) async throws {
  try await withFolder { folder in
    let cluster = try ClusterUnderTest(
      folder: folder, followers: followers, leaseSeconds: leaseSeconds)
    defer { cluster.clean() }
    for index in 0..<2 { try cluster.start(index, arguments: arguments) }
    let follower = 1 - (try await cluster.awaitLeader())
    if followers == "serve" { try await cluster.awaitFollowing(at: follower) }
    try await cluster.awaitService(at: follower)
    try await body(cluster, follower)
  }
}
