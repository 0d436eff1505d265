import Synchronization
import TernAssembly
import TernClient
import TernCommitLog
import TernCore
import TernLedger
import TernLogMemory
import TernServer
import TernServerAssembly
import TernSharedLedger
import TernStorage
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import Testing

@Suite("servers over one shared log", .timeLimit(.minutes(2)))
struct StandbyTests {
  @Test("the standby serves once the leader has ended, with all that it acknowledged")
  func handOver() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first")
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second")
    let client = try await first.client()
    try await client.tree["rooms/1"].set("Hi").acknowledged()
    let readiness = await ServerOperations(of: second.server.server).readiness
    #expect(readiness.state == "standby")
    #expect(readiness.reasons.count == 1)
    #expect(await ServerOperations(of: first.server.server).readiness.reasons.isEmpty)
    await client.close()
    await first.stop()
    await second.events.wait(for: .leading)
    #expect(await ServerOperations(of: second.server.server).readiness.reasons.isEmpty)
    let other = try await second.client()
    #expect(try await other.tree["rooms/1"].get().string == "Hi")
    try await other.tree["rooms/2"].set("Ho").acknowledged()
    await other.close()
    await second.stop()
  }

  @Test("a client that comes to a standby is turned away, and served once it leads")
  func turnedAway() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first")
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second")
    let early = try await second.client()
    let write = try await early.tree["rooms/1"].set("early")
    await second.events.waitForDisconnection()
    let other = try await first.client()
    #expect(try await other.tree["rooms/1"].get().string == nil)
    await other.close()
    await first.stop()
    try await write.acknowledged()
    #expect(try await early.tree["rooms/1"].get().string == "early")
    await early.close()
    await second.stop()
  }

  @Test("a leader that loses the log stands by, follows, and leads again with what came meanwhile")
  func cut() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first")
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second")
    let client = try await first.client()
    try await client.tree["rooms/1"].set(1).acknowledged()
    place.cut("first", true)
    let pending = try await client.tree["rooms/2"].set(2)
    await second.events.wait(for: .leading)
    await first.events.waitForStandby()
    let other = try await second.client()
    #expect(try await other.tree["rooms/1"].get().number == 1)
    try await other.tree["rooms/3"].set(3).acknowledged()
    place.cut("first", false)
    await other.close()
    await second.stop()
    // The same process, its second term: nothing of the first is left in it.
    try await pending.acknowledged()
    let rooms = try await client.tree["rooms"].get()
    #expect(try rooms.node == TreeNode(json: #"{"1":1,"2":2,"3":3}"#))
    await client.close()
    await first.stop()
  }

  @Test("a write in doubt when its leader goes is made once")
  func doubt() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first")
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second")
    let client = try await first.client()
    let counter = client.tree["counter"]
    try await counter.set(1).acknowledged()
    // The append is made, its answer is lost, and the node does not reach the log again.
    place.loseNextAppend(of: "first")
    let pending = try await counter.increment(by: 1)
    await second.events.wait(for: .leading)
    let other = try await second.client()
    #expect(try await other.tree["counter"].get().number == 2)
    place.cut("first", false)
    await other.close()
    await second.stop()
    try await pending.acknowledged()
    #expect(try await counter.get().number == 2)
    await client.close()
    await first.stop()
  }
}

/// A log in memory by its address, and the connections of nodes to it.
final class SharedPlace: Sendable {
  private struct Connection {
    var isCut = false
    var losesAppend = false
  }

  private static let places = Mutex<[String: SharedPlace]>([:])
  private static let count = Mutex(0)

  let address: String
  private let clock = ContinuousClock()
  private let memory: LogMemory
  private let connections = Mutex<[String: Connection]>([:])

  init() {
    let start = clock.now
    memory = LogMemory(clock: clock) { [clock] in
      Int64(start.duration(to: clock.now).components.seconds) * 1_000
    }
    address = Self.count.withLock { count in
      count += 1
      return "memory:\(count)"
    }
    Self.places.withLock { $0[address] = self }
  }

  /// The log of a node: `memory:1/node`.
  static func log(at address: String) -> (any CommitLog)? {
    let parts = address.split(separator: "/").map(String.init)
    guard parts.count == 2, let place = places.withLock({ $0[parts[0]] }) else { return nil }
    let name = parts[1]
    return place.memory.node(name) { place.fault(of: name, $0) }
  }

  func cut(_ node: String, _ isCut: Bool) {
    connections.withLock { $0[node, default: Connection()].isCut = isCut }
  }

  /// Loses the answer to the node's next append, and its connection with it.
  func loseNextAppend(of node: String) {
    connections.withLock { $0[node, default: Connection()].losesAppend = true }
  }

  private func fault(of node: String, _ operation: LogOperation) -> LogFault? {
    connections.withLock { connections in
      guard var connection = connections[node] else { return nil }
      defer { connections[node] = connection }
      if connection.isCut { return .cut }
      guard connection.losesAppend, operation.kind == .append else { return nil }
      connection = Connection(isCut: true)
      return .lostAfter
    }
  }
}

enum MemoryLogPlugin: CommitLogPlugin {
  static func open(
    _ address: String, with resources: LedgerResources
  ) async throws(CommitLogError) -> any CommitLog {
    guard let log = SharedPlace.log(at: address) else {
      throw .denied(reason: "no log at \(address)")
    }
    return log
  }
}

/// A server of its own, with the loopback that its clients come over.
struct ServerNode {
  let server: AssembledServer
  let events = EventLog()
  private let assembler: Assembler

  private static let client = Configuration(
    storage: ["kind": "memory"], transport: ["kind": "loopback"])

  init(_ place: SharedPlace, _ name: String) async throws {
    var catalog = PluginCatalog()
    catalog.register(MemoryPlugin.self)
    catalog.register(LoopbackPlugin.self)
    catalog.register(SharedLedgerPlugin<MemoryLogPlugin>.self)
    assembler = Assembler(catalog: catalog)
    var configuration = Self.client
    configuration.ledger = .object([
      "kind": "shared", "log": .string("\(place.address)/\(name)"), "address": .string(name),
      "leaseSeconds": 1,
    ])
    server = try await assembler.server(from: configuration) { [events] in events.add($0) }
  }

  func client() async throws -> TernDatabase { try await assembler.client(from: Self.client) }

  func stop() async { await server.stop() }
}

/// The events of a server, for tests that wait for one.
final class EventLog: Sendable {
  private struct State {
    var events: [ServerEvent] = []
    var waiting: [(isMet: @Sendable (ServerEvent) -> Bool, go: CheckedContinuation<Void, Never>)] =
      []
  }

  private let state = Mutex(State())

  func add(_ event: ServerEvent) {
    let met = state.withLock { state in
      state.events.append(event)
      let met = state.waiting.filter { $0.isMet(event) }.map(\.go)
      state.waiting.removeAll { $0.isMet(event) }
      return met
    }
    for continuation in met { continuation.resume() }
  }

  func wait(for event: ServerEvent) async { await wait { $0 == event } }

  func waitForStandby() async {
    await wait { if case .standingBy = $0 { true } else { false } }
  }

  func waitForDisconnection() async {
    await wait { if case .disconnected = $0 { true } else { false } }
  }

  private func wait(_ isMet: @escaping @Sendable (ServerEvent) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.events.contains(where: isMet) { return true }
        state.waiting.append((isMet, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
