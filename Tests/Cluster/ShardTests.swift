import TernAssembly
import TernClient
import TernCore
import TernQuery
import TernSecurity
import TernServer
import TernServerAssembly
import TernSync
import TernTransport
import TernTreeWire
import Testing

@Suite("several shards side by side", .timeLimit(.minutes(2)))
struct ShardTests {
  /// A node of shard 0 and one of shard 1, each leading.
  private struct Shards {
    static let table: ConfigurationValue = [
      "1": ["games", "tenant-*", "projects/tern/databases/games"]
    ]
    let place = SharedPlace()
    let first: ServerNode
    let second: ServerNode

    init() async throws {
      first = try await ServerNode(place, "first", follows: true, shards: Self.table)
      second = try await ServerNode(place, "second", follows: true, shard: 1, shards: Self.table)
      await first.events.wait(for: .leading)
      await second.events.wait(for: .leading)
    }

    func stop() async {
      await first.stop()
      await second.stop()
    }
  }

  private struct Game: Codable {
    var points: Int
  }

  @Test("a client at the node of another shard reads, writes and listens as at its own")
  func trees() async throws {
    let shards = try await Shards()
    let wrong = try await shards.first.client(of: "games")
    let right = try await shards.second.client(of: "games")
    let other = try await shards.first.client()
    async let told = value(at: wrong.tree["a"]) { $0.number == 2 }
    try await wrong.tree["a"].set(1).acknowledged()
    #expect(try await right.tree["a"].get().number == 1)
    try await right.tree["a"].increment(by: 1).acknowledged()
    #expect(try await told)
    try await wrong.tree["a"].transaction { node in
      node = TreeNode(.integer(5))
      return true
    }
    #expect(try await right.tree["a"].get().number == 5)
    // The databases are apart.
    #expect(try await !other.tree["a"].get().exists)
    try await other.tree["a"].set("other").acknowledged()
    #expect(try await right.tree["a"].get().number == 5)
    // What a client leaves for its end happens there.
    try await wrong.tree["here"].onDisconnect.set(false)
    try await wrong.tree["here"].set(true).acknowledged()
    async let gone = value(at: right.tree["here"]) { $0.bool == false }
    await wrong.close()
    #expect(try await gone)
    await right.close()
    await other.close()
    await shards.stop()
  }

  @Test("documents of another shard, with queries, listens and transactions")
  func documents() async throws {
    let shards = try await Shards()
    let database = try DocumentDatabase(projectID: "tern", databaseID: "games")
    let wrong = try await shards.first.client(documents: database)
    let right = try await shards.second.client(documents: database)
    let other = try await shards.first.client()
    let games = wrong.documents.collection("games").order(by: "points")
    async let both = found(by: games) { $0 == ["go", "chess"] }
    try await wrong.documents.document("games/chess").set(["points": 9]).acknowledged()
    try await right.documents.document("games/go").set(["points": 3]).acknowledged()
    #expect(try await both)
    try await wrong.documents.document("games/go").transaction(as: Game.self) { $0.points += 1 }
    #expect(try await right.documents.document("games/go").get()["points"] == 4)
    #expect(try await wrong.documents.collection("games").count() == 2)
    #expect(try await !other.documents.document("games/go").get().exists)
    for client in [wrong, right, other] { await client.close() }
    await shards.stop()
  }

  @Test("requests without a session go where their database is, and some to all shards")
  func requests() async throws {
    let shards = try await Shards()
    let (first, second) = (shards.first.server.server, shards.second.server.server)
    let (place, leaf) = (try TreePath("a/b"), try TreePath("x"))
    for server in [first, second] {
      let written = await server.answer(to: .write(.set(place, 5), expectedHash: nil), "games")
      #expect(written == .written(.set(place, 5)))
    }
    #expect(await first.answer(to: .read(place, .all), "games") == .node(5))
    #expect(await first.answer(to: .readOrExport(place), "games") == .node(5))
    #expect(await first.answer(to: .read(place, .all), "default") == .node(.empty))
    let names = await first.answer(to: .names(.root, after: nil, limit: 9), "games")
    #expect(names == .names([try TreeKey("a")]))
    _ = await second.answer(to: .write(.set(leaf, 1), expectedHash: nil), "plain")
    _ = await first.answer(to: .write(.set(leaf, 1), expectedHash: nil), "tenant-1")
    for server in [first, second] {
      let all = await server.answer(to: .databases, "default", asOwner: true)
      #expect(all == .databases(["games", "plain", "tenant-1"]))
    }
    // Rules hold where the database is, and are asked before a body is read.
    let rules = Array(#"{"rules": {".read": true}}"#.utf8)
    #expect(
      await first.answer(to: .setRules(rules, isTrial: false), "games", asOwner: true) == .done)
    #expect(await first.answer(to: .readRules, "games", asOwner: true) == .rules(rules))
    for server in [first, second] {
      guard case .refused(.permissionDenied) = await server.answer(to: .mayWrite([place]), "games")
      else {
        Issue.record("the rules do not hold")
        continue
      }
    }
    #expect(await first.answer(to: .mayWrite([place]), "default") == .done)
    // A revocation holds in all shards.
    let revoked = await first.answer(to: .revoke([.init("ada", .now)]), "default", asOwner: true)
    if case .refused = revoked { Issue.record("\(revoked)") }
    for server in [first, second] {
      let list = await server.answer(to: .readRevocations, "default", asOwner: true)
      guard case .revocations(let known) = list, known != Revocations() else {
        Issue.record("\(list)")
        continue
      }
    }
    await shards.stop()
  }

  @Test("clients of another shard go on when another node leads it, and lose nothing")
  func takeover() async throws {
    let shards = try await Shards()
    let third = try await ServerNode(
      shards.place, "third", follows: true, shard: 1, shards: Shards.table)
    await third.events.wait(for: .following)
    let wrong = try await shards.first.client(of: "games")
    let other = try await shards.first.client()
    try await wrong.tree["n"].set(1).acknowledged()
    await shards.second.stop()
    let write = try await wrong.tree["n"].increment(by: 1)
    // The node's own shard is not touched.
    try await other.tree["n"].set("here").acknowledged()
    await third.events.wait(for: .leading)
    try await write.acknowledged()
    let right = try await third.client(of: "games")
    #expect(try await right.tree["n"].get().number == 2)
    for client in [wrong, other, right] { await client.close() }
    await third.stop()
    await shards.first.stop()
  }

  @Test("a node that follows passes on what is about another shard, too")
  func follower() async throws {
    let shards = try await Shards()
    let third = try await ServerNode(shards.place, "third", follows: true, shards: Shards.table)
    await third.events.wait(for: .following)
    let wrong = try await third.client(of: "tenant-7")
    try await wrong.tree["n"].set(1).acknowledged()
    let right = try await shards.second.client(of: "tenant-7")
    #expect(try await right.tree["n"].get().number == 1)
    let leaf = try TreePath("n")
    let written = await third.server.server.answer(
      to: .write(.set(leaf, 2), expectedHash: nil), "tenant-7")
    #expect(written == .written(.set(leaf, 2)))
    #expect(try await value(at: wrong.tree["n"]) { $0.number == 2 })
    await wrong.close()
    await right.close()
    await third.stop()
    await shards.stop()
  }

  @Test("a frame before the opening takes no client to the wrong shard")
  func earlyFrames() async throws {
    let shards = try await Shards()
    let client = ServedClient()
    let link = try await NodeLoopbacks().connect(to: shards.first.address, for: "") { _ in client }
    let put = TreeClientMessage.request(
      1, .put(try TreePath("a"), 7, expectedHash: nil, .none))
    for message in [.keepAlive, .open(TreeOpening(namespace: "games")), put] as [TreeClientMessage]
    {
      link.send(message.encode())
    }
    link.flush()
    let right = try await shards.second.client(of: "games")
    #expect(try await value(at: right.tree["a"]) { $0.number == 7 })
    link.close()
    await right.close()
    await shards.stop()
  }

  @Test("without a node of its shard, a database is out of reach, and the others are not")
  func unreachable() async throws {
    let shards = try await Shards()
    await shards.second.stop()
    let first = shards.first.server.server
    let leaf = try TreePath("a")
    let answer = await first.answer(to: .read(leaf, .all), "games")
    guard case .refused(.unavailable(let text)) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(text.contains("shard 1"))
    // The log still tells its address for a moment, which is not for clients.
    #expect(!text.contains(shards.second.address), "\(text)")
    #expect(await first.answer(to: .read(leaf, .all), "default") == .node(.empty))
    await shards.first.stop()
  }

  private func value(
    at place: some TreeQuerying & Sendable, _ isWanted: @Sendable (TreeSnapshot) -> Bool
  ) async throws -> Bool {
    for try await snapshot in place.values() where isWanted(snapshot) { return true }
    return false
  }

  private func found(
    by query: DocumentQueryReference, _ isWanted: @Sendable ([String]) -> Bool
  ) async throws -> Bool {
    for try await snapshot in query.snapshots() where isWanted(snapshot.documents.map(\.id)) {
      return true
    }
    return false
  }
}

/// A client that takes what it is sent, and no notice of it.
private final class ServedClient: LinkHandler {
  func linkDidReceive(_ frames: [[UInt8]]) {}
  func linkDidClose(_ reason: LinkClosure) {}
}

extension TernServer {
  /// Answers a request about a database, of an administrator's program or of an anonymous one.
  fileprivate func answer(
    to operation: DirectRequest.Operation, _ namespace: String, asOwner isOwner: Bool = false
  ) async -> DirectAnswer {
    await withCheckedContinuation { continuation in
      let request = DirectRequest(
        namespace: namespace, isLocal: true, address: "loopback",
        credential: isOwner ? Credential(.user, token: "owner", isLocal: true) : nil, operation)
      ask(request) { continuation.resume(returning: $0) }
    }
  }
}
