import Dispatch
import Synchronization
import TernClient
import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernServer
import TernSync
import TernTestKit
import TernTransport
import TernTransportLoopback

@testable import TernFirebaseCompat

#if TCP
  import TernTransportTCP
#endif

/// A server and its clients, each with stores and a cable of its own.
final class House: Sendable {
  struct Room: Sendable {
    let database: Database
    let cable: Cable
    let storage: String
    let cacheBytes: Int?
  }

  struct State {
    var rooms: [String: Room] = [:]
    var desks: [String: Desk] = [:]
    var server: TernServer?
    var port = 0
    var serverTransport: (any Transport)?
    var clientTransports: [any Transport] = []
    var markers = 0
  }

  let setting: Setting
  let stores: Stores
  let state = Mutex(State())
  private let loopback = LoopbackTransport()
  private let serverClock = ManualClock()
  private let serverTime: (@Sendable () -> Int64)?
  private let clientTime: (@Sendable () -> Int64)?
  private let denied: String?
  private let authenticator: any Authenticator

  convenience init(
    _ setting: Setting, serverTime: Int64? = nil, clientTime: Int64? = nil,
    denying denied: String? = nil, authenticator: any Authenticator = NoAuthenticator()
  ) async throws {
    try await self.init(
      setting, serverClock: Self.stopped(at: serverTime),
      clientClock: Self.stopped(at: clientTime), denying: denied, authenticator: authenticator)
  }

  private static func stopped(at time: Int64?) -> (@Sendable () -> Int64)? {
    guard let time else { return nil }
    return { time }
  }

  /// - Parameters:
  ///   - serverClock: The server's time in milliseconds since 1970; `nil` for that of the machine.
  ///   - clientClock: The same of all clients.
  init(
    _ setting: Setting, serverClock: (@Sendable () -> Int64)?,
    clientClock: (@Sendable () -> Int64)?, denying denied: String? = nil,
    authenticator: any Authenticator = NoAuthenticator()
  ) async throws {
    self.setting = setting
    serverTime = serverClock
    clientTime = clientClock
    self.denied = denied
    self.authenticator = authenticator
    stores = try Stores()
    try await startServer()
  }

  func close() async throws {
    for room in state.withLock({ $0.rooms.values }) { await room.database.close() }
    for desk in state.withLock({ $0.desks.values }) { try await desk.firestore.terminate() }
    await killServer()
    for transport in state.withLock({ $0.clientTransports }) { await transport.shutdown() }
    await loopback.shutdown()
    stores.close()
  }
}

// MARK: - The server

extension House {
  func startServer() async throws {
    let transport = try await serverTransport()
    let ambient = ambient(at: serverTime, clock: serverClock)
    let ledger = try EmbeddedLedger(
      store: try stores.store("server", kind: setting.storage),
      uptime: ambient.stopwatch())
    let server = try await TernServer(
      ledger: ledger, on: transport, authorizer: AllowBut(denied: denied),
      documentAuthorizer: AllowLocal(),
      authenticator: authenticator, ambient: ambient)
    try await listen(server, on: transport)
    state.withLock { state in
      state.server = server
      state.serverTransport = transport
    }
  }

  /// Takes the address. A program started meanwhile can hold a closed socket until it is the other
  /// program: the address is asked for again, for a while.
  private func listen(_ server: TernServer, on transport: any Transport) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      do {
        try await server.listen(on: transport)
        return
      } catch ServerError.transport(.addressInUse) where ContinuousClock.now < deadline {
        await Task.yield()
      }
    }
  }

  /// Stops the server as it stands; what it had promised is in its store.
  func killServer() async {
    let (server, transport) = state.withLock { state in
      defer {
        state.server = nil
        state.serverTransport = nil
      }
      return (state.server, state.serverTransport)
    }
    await server?.stop()
    if setting.transport == "tcp" { await transport?.shutdown() }
  }

  /// Puts rules in force, on a server that runs.
  func judge(by rules: String) async throws {
    let rules = RulesAuthorizer(try TreeRules(rules))
    await state.withLock { $0.server }?.adopt(rules)
  }

  /// Lets the time pass that sessions of an earlier run have to come back.
  func passGrace() { serverClock.advance(by: .seconds(31)) }

  /// Lets the time pass after which a silent client is taken for dead.
  func passSilenceBound() {
    for _ in 1...13 { serverClock.advance(by: .seconds(5)) }
  }

  /// Lets seconds pass on the server's clock, a moment at a time.
  func pass(seconds: Int) {
    for _ in stride(from: 0, to: seconds, by: 5) { serverClock.advance(by: .seconds(5)) }
  }

  private func serverTransport() async throws -> any Transport {
    #if TCP
      if setting.transport == "tcp" {
        let known = state.withLock { $0.port }
        let port = known == 0 ? try await freePort() : known
        state.withLock { $0.port = port }
        return try TCPTransport(TCPOptions(port: port))
      }
    #endif
    return loopback
  }

  #if TCP
    /// A port without a listener, below those the system gives to clients: a server that starts
    /// again must not find that a client was given its port meanwhile.
    private func freePort() async throws -> Int {
      for _ in 1...1_000 {
        let port = Self.nextPort.withLock { port in
          port += 1
          return port
        }
        let probe = try TCPTransport(TCPOptions(port: port))
        let listener = try? await probe.listen { _ in Deaf() }
        await listener?.close()
        await probe.shutdown()
        if listener != nil { return port }
      }
      throw DatabaseError.closed("no free port")
    }

    /// Ports in a row, so that no two houses try the same one at the same time.
    private static let nextPort = Mutex(10_000)

    private final class Deaf: LinkHandler {
      func linkDidReceive(_ frames: [[UInt8]]) {}
      func linkDidClose(_ reason: LinkClosure) {}
    }
  #endif

  var documentAmbient: RuntimeEnvironment { ambient(at: clientTime, clock: ScaledClock()) }

  func ambient(
    at time: (@Sendable () -> Int64)?, clock: any Clock<Duration> = ContinuousClock()
  ) -> RuntimeEnvironment {
    RuntimeEnvironment(
      millisecondsSinceEpoch: time ?? RuntimeEnvironment.system.millisecondsSinceEpoch,
      clock: clock,
      randomBits: RuntimeEnvironment.system.randomBits)
  }
}

// MARK: - Clients

extension House {
  /// A client that starts, or starts again, with the stores of its name.
  func open(
    _ name: String, online: Bool = true, cacheBytes: Int? = nil, storage: String? = nil,
    patience: Duration = .seconds(20), tapped tap: (@Sendable (Cable.Event) -> Void)? = nil
  ) async throws -> Database {
    let cable = Cable(try clientTransport(), isPlugged: online, tapped: tap)
    return try await open(
      name, cable: cable, storage: storage ?? setting.storage, cacheBytes: cacheBytes,
      patience: patience)
  }

  /// A database whose settings can still be changed.
  func unopened(_ name: String) -> Database {
    Database(address: "test://\(name)") { _ in throw DatabaseError.closed("never opened") }
  }

  /// Ends a client without a word to the server, and starts it again on the same cable.
  func restart(_ name: String) async throws -> Database {
    let room = try room(name)
    room.cable.flap()
    await room.database.close()
    return try await open(
      name, cable: room.cable, storage: room.storage, cacheBytes: room.cacheBytes)
  }

  /// Ends a client without a word to the server.
  func crash(_ name: String) async throws {
    let room = try room(name)
    room.cable.unplug()
    await room.database.close()
  }

  func room(_ name: String) throws -> Room {
    guard let room = state.withLock({ $0.rooms[name] }) else {
      throw DatabaseError.closed("nobody is called \(name)")
    }
    return room
  }

  private func open(
    _ name: String, cable: Cable, storage: String, cacheBytes: Int?,
    patience: Duration = .seconds(20)
  ) async throws -> Database {
    let parts = ClientParts(
      queue: try stores.store(name + "-queue", kind: storage),
      cache: try stores.store(name + "-cache", kind: storage, relaxed: true), transport: cable)
    var options = ClientOptions()
    options.readPatience = patience
    if let cacheBytes { options.cacheLimitBytes = cacheBytes }
    let ambient = ambient(at: clientTime)
    let database = Database(address: "test://\(name)", ambient: ambient) { [options] _ in
      try TernDatabase.open(parts, options: options, ambient: ambient)
    }
    let queue = DispatchQueue(label: "callbacks of \(name)")
    try database.configure { $0.callbackQueue = queue }
    _ = try await database.native()
    state.withLock {
      $0.rooms[name] = Room(
        database: database, cable: cable, storage: storage, cacheBytes: cacheBytes)
    }
    return database
  }

  func clientTransport() throws -> any Transport {
    #if TCP
      if setting.transport == "tcp" {
        let transport = try TCPTransport(TCPOptions(port: state.withLock { $0.port }))
        state.withLock { $0.clientTransports.append(transport) }
        return transport
      }
    #endif
    return loopback
  }
}

/// Allows everything except writes below one place.
private struct AllowBut: Authorizer {
  let denied: String?

  func mayRead(_ request: TreeReadRequest, in state: TreeState) -> TreeVerdict { .allowed }

  func mayWrite(_ request: TreeWriteRequest, in state: TreeState) -> TreeVerdict {
    TreeVerdict(isAllowed: !request.paths.contains { $0.first?.text == denied })
  }
}
