import Synchronization
import TernAssembly
import TernClient
import TernCommitLog
import TernCore
import TernLedger
import TernLogMemory
import TernSecurity
import TernServer
import TernServerAssembly
import TernStorage
import TernStorageMemory
import TernTransport
import TernTransportLoopback
import Testing

@testable import TernSharedLedger

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

  /// Lets all of the node's operations reach the log from now on.
  func mend(_ node: String) { connections.withLock { $0[node] = nil } }

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
  /// The address by which other nodes find it.
  let address: String
  private let assembler: Assembler
  private let own: Configuration

  /// - Parameters:
  ///   - follows: True to serve clients while another node leads, too.
  ///   - links: The links to the leader then.
  ///   - leaseSeconds: The lease; a short one for tests of nodes that lose it, for others one that
  ///     a busy machine does not lose.
  ///   - shard: The node's shard.
  ///   - shards: The databases of the shards; none for a cluster of one.
  ///   - others: Judges credentials other than the owner's.
  init(
    _ place: SharedPlace, _ name: String, follows: Bool = false,
    links: any LeaderLinks = NodeLoopbacks(), leaseSeconds: Int64 = 10, shard: Int64 = 0,
    shards: ConfigurationValue? = nil, others: any Authenticator = NoAuthenticator()
  ) async throws {
    var catalog = PluginCatalog()
    catalog.register(MemoryPlugin.self)
    catalog.register(NodeLoopbackPlugin.self)
    catalog.register(SharedLedgerPlugin<MemoryLogPlugin>.self)
    assembler = Assembler(catalog: catalog)
    address = "\(place.address)/\(name)"
    own = Configuration(
      storage: ["kind": "memory"],
      transport: .object(["kind": "node-loopback", "address": .string(address)]))
    var configuration = own
    var ledger: [String: ConfigurationValue] = [
      "kind": "shared", "log": .string(address), "address": .string(address),
      "leaseSeconds": .integer(leaseSeconds),
    ]
    if let shards {
      // The file of the secret is the program's to read.
      ledger.merge(["shard": .integer(shard), "shards": shards, "secretFile": "-"]) { $1 }
    }
    configuration.ledger = .object(ledger)
    server = try await assembler.server(
      from: configuration, authenticator: OwnerAuthenticator(others: others),
      report: { [events] in events.add($0) },
      prepare: { server, _ in
        guard let ledger = server.leasedLedger as? SharedLedger,
          let directory = LogDirectory(of: ledger)
        else { return }
        await server.serveShards(by: directory, over: NodeLoopbacks())
      })
    if follows { await server.server.serveWhileFollowing(over: links) }
  }

  func client(
    of namespace: String = ClientOptions.defaultNamespace, documents: DocumentDatabase? = nil
  ) async throws -> TernDatabase {
    var options = ClientOptions()
    options.namespace = namespace
    if let documents { options.documents = documents }
    return try await assembler.client(from: own, options: options)
  }

  func stop() async { await server.stop() }

  /// The node's ledger.
  var ledger: SharedLedger {
    get throws { try #require(server.server.leasedLedger as? SharedLedger) }
  }

  /// Ends the term of the node, which leads, for another node.
  func handOver() throws {
    try ledger.handOver("a test")
  }
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

  /// True when the server has begun to follow, and stood by after that.
  var hasStoodByAgain: Bool {
    state.withLock { state in
      let later = state.events.drop { $0 != .following }
      return later.contains { if case .standingBy = $0 { true } else { false } }
    }
  }

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

/// A loopback that other nodes find by the address of its node.
enum NodeLoopbackPlugin: TransportPlugin {
  struct Options: Decodable, Sendable {
    let address: String
  }

  static let known = Mutex<[String: LoopbackTransport]>([:])

  static var kind: String { "node-loopback" }

  static func open(_ options: Options) throws(TransportError) -> any Transport {
    let transport = LoopbackTransport()
    known.withLock { $0[options.address] = transport }
    return transport
  }
}

/// Links between nodes in one process.
struct NodeLoopbacks: LeaderLinks {
  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    guard let transport = NodeLoopbackPlugin.known.withLock({ $0[address] }) else {
      throw .shutDown
    }
    return try await transport.connect(open)
  }
}
