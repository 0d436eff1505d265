import TernTestKit
import Testing

@testable import tern

/// A server and two clients that write all the time, and are killed again and again.
///
/// All choices come from a seed; when exactly a kill strikes the work under way does not.
final class KillWorld {
  private let storage: String
  private let folder: String
  private let port: String
  private var dice: SeededGenerator
  private var server: ChildProcess?
  let clients: [KillClient]
  private(set) var serverKills = 0
  private(set) var presence = KillPresence()

  init(storage: String, folder: String, seed: UInt64) throws {
    self.storage = storage
    self.folder = folder
    dice = SeededGenerator(seed: seed)
    let port = String(try freePort())
    self.port = port
    clients = ["ann", "bob"].map {
      KillClient($0, storage: storage, folder: folder, port: port)
    }
  }

  var clientKills: Int { clients.map(\.kills).reduce(0, +) }

  func begin() async throws {
    try await startServer()
    for client in clients { try await client.start(seed: dice.next()) }
  }

  /// Kills whatever still runs.
  func clean() {
    server?.killNow()
    for client in clients { client.clean() }
  }

  private func startServer() async throws {
    let process = try launchServer()
    let line = await process.output.line(within: patience) { $0.hasPrefix("listening on ") }
    try #require(line != nil, "\(process.errors.history)")
    for client in clients { client.send("online") }
  }

  /// Starts a server without waiting for it.
  @discardableResult
  private func launchServer() throws -> ChildProcess {
    let process = try ChildProcess(
      ternBinary,
      ["serve", "--dev", "--storage", storage, "--path", folder + "/data", "--port", port])
    server = process
    return process
  }

  private func killServer() async throws {
    guard let process = server else { return }
    process.killNow()
    #expect(await process.exitCode(within: patience) == 128 + 9, "\(process.errors.history)")
    server = nil
    serverKills += 1
    presence.serverWasKilled()
  }
}

// MARK: - Killing

extension KillWorld {
  /// Kills the server and the clients, in a random order, until each had its share.
  func torture(serverKills: Int, clientKills: Int) async throws {
    while self.serverKills < serverKills || self.clientKills < clientKills {
      if Int.random(in: 0..<3, using: &dice) == 0 { try await leaveSomething() }
      let isServersTurn =
        self.clientKills >= clientKills
        || (self.serverKills < serverKills && Bool.random(using: &dice))
      let client = clients[Int.random(in: 0..<clients.count, using: &dice)]
      try await work(watching: client, for: Bool.random(using: &dice) ? "stored " : "acked ")
      if isServersTurn { try await strikeServer(client) } else { try await strike(client) }
    }
  }

  /// Kills the server and starts it again; sometimes something else is killed on the way.
  private func strikeServer(_ client: KillClient) async throws {
    try await killServer()
    switch Int.random(in: 0..<4, using: &dice) {
    case 0:
      // In the dark there is nothing but what is stored.
      try await work(watching: client, for: "stored ")
      try await strike(client)
    case 1:
      // The next server dies at some point of its start.
      try launchServer()
      try await work(watching: client, for: "stored ")
      try await killServer()
    default: break
    }
    try await startServer()
  }

  /// Kills a client and starts it again; sometimes its next run dies at some point of its start.
  private func strike(_ client: KillClient) async throws {
    try await kill(client)
    try client.launch(seed: dice.next())
    if Int.random(in: 0..<4, using: &dice) == 0,
      let other = clients.first(where: { $0 !== client })
    {
      try await work(watching: other, for: "stored ")
      try await kill(client)
      try client.launch(seed: dice.next())
    }
    try await client.line("open")
  }

  private func kill(_ client: KillClient) async throws {
    try await client.kill()
    presence.clientWasKilled(client.name)
  }

  /// Lets every client register a write for the end of its session.
  private func leaveSomething() async throws {
    for client in clients {
      let name = presence.nextName
      client.send("leave \(name)")
      try await client.line("left \(name)")
      presence.registered(name, by: client.name)
    }
  }

  /// Lets all clients write, and comes back at some point in the middle of it.
  private func work(watching client: KillClient, for beginning: String) async throws {
    let isLarge = Int.random(in: 0..<8, using: &dice) == 0
    let count = Int.random(in: 1...(isLarge ? 100 : 24), using: &dice)
    for client in clients {
      client.send("\(Bool.random(using: &dice) ? "write" : "burst") \(count)")
    }
    for _ in 0..<Int.random(in: 1...count, using: &dice) { try await client.line(beginning) }
  }
}

// MARK: - Looking back

extension KillWorld {
  /// The final state of all processes.
  struct End {
    /// The clients' views while everything ran.
    var live: [KillSight]
    /// The server's state after one more kill, read by a new client.
    var server: KillSight
    /// The clients' state without a server, after one more kill.
    var cached: [KillSight]
  }

  /// Lets all clients finish, and reads their state.
  func end() async throws -> End {
    for client in clients { client.send("settle") }
    for client in clients { try await client.line("settled") }
    for client in clients { client.send("meet ann bob") }
    for client in clients { try await client.line("met") }
    var live: [KillSight] = []
    for client in clients { live.append(try await client.sight()) }
    for client in clients { try await kill(client) }
    try await killServer()

    try await startServer()
    let stranger = KillClient("stranger", storage: "memory", folder: folder, port: port)
    defer { stranger.clean() }
    try await stranger.start(seed: 0)
    let server = try await stranger.sight()
    try await killServer()

    var cached: [KillSight] = []
    for client in clients {
      try await client.start(seed: 0, offline: true)
      cached.append(try await client.sight())
    }
    return End(live: live, server: server, cached: cached)
  }
}
