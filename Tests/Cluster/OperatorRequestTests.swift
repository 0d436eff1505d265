import TernAssembly
import TernClient
import TernCore
import TernLedger
import TernQuery
import TernSecurity
import TernServer
import TernServerAssembly
import TernSharedLedger
import TernSync
import Testing

/// Operators may ask any node; the one that leads judges their credential and does it.
@Suite("operators' requests at any node", .timeLimit(.minutes(2)))
struct OperatorRequestTests {
  private static let table: ConfigurationValue = ["1": ["games"]]

  /// The requests of an operator, or of a client whose token does not count.
  private static func requester(_ token: String = "owner") -> DirectRequest {
    DirectRequest(
      namespace: "default", isLocal: true, address: "loopback",
      credential: Credential(.service, token: token, isLocal: true), .administer)
  }

  @Test("a database is deleted at a node that follows, with its rules and settings")
  func follower() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first", follows: true)
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second", follows: true)
    await second.events.wait(for: .following)
    let (leader, follower) = (first.server.server, second.server.server)
    let leaf = try TreePath("a")
    let rules = Array(#"{"rules": {".read": true, ".write": true, "a": {}}}"#.utf8)
    #expect(await follower.answer(.setRules(rules, isTrial: false)) == .done)
    #expect(
      await follower.answer(.set(.defaultWriteSizeLimit, .string("small")))
        == .setting(.string("small")))
    #expect(
      await follower.answer(.write(.set(leaf, 1), expectedHash: nil)) == .written(.set(leaf, 1)))
    let client = try await second.client()
    let node = client.tree["a"]
    try await node.awaitValue(isThere: true)
    async let told: Void = node.awaitValue(isThere: false)
    let operations = ServerOperations(of: follower)
    guard
      case .refused(.unauthenticated) = await operations.removeDatabase(
        "default", for: Self.requester("forged"))
    else {
      Issue.record("a token that does not count deletes")
      return
    }
    #expect(await leader.answer(.read(leaf, .all)) == .node(1))
    #expect(await operations.removeDatabase("default", for: Self.requester()) == .done)
    try await told
    for server in [leader, follower] {
      #expect(await server.answer(.read(leaf, .all)) == .node(.empty))
      #expect(await server.answer(.readRules) != .rules(rules))
      #expect(
        await server.answer(.readSetting(.defaultWriteSizeLimit)) != .setting(.string("small")))
    }
    await client.close()
    await second.stop()
    await first.stop()
  }

  @Test("a revocation at a node that follows holds at the leader")
  func revocation() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first", follows: true)
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second", follows: true)
    await second.events.wait(for: .following)
    let revoked = await second.server.server.answer(.revoke([.init("ada", .before(7))]))
    #expect(revoked == .done)
    for node in [first, second] {
      guard case .revocations(let known) = await node.server.server.answer(.readRevocations) else {
        Issue.record("no revocations")
        continue
      }
      #expect(known.moments[ExactText("ada")] == 7)
    }
    await second.stop()
    await first.stop()
  }

  @Test("databases, and the rules of documents, are deleted at a node of another shard")
  func shards() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first", follows: true, shards: Self.table)
    let second = try await ServerNode(place, "second", follows: true, shard: 1, shards: Self.table)
    for node in [first, second] { await node.events.wait(for: .leading) }
    let right = second.server.server
    let leaf = try TreePath("a")
    _ = await right.answer(.write(.set(leaf, 1), expectedHash: nil), of: "games")
    let operations = ServerOperations(of: first.server.server)
    let name = "projects/p/databases/d"
    let text = Array("service cloud.firestore {}".utf8)
    #expect(await right.answer(.setDocumentRules(text, isTrial: false), of: name) == .done)
    #expect(await right.answer(.rules(.readDocuments), of: name) == .rules(text))
    #expect(await operations.removeDatabase("games", for: Self.requester()) == .done)
    #expect(await right.answer(.read(leaf, .all), of: "games") == .node(.empty))
    let wrong = ServerOperations(of: right)
    #expect(await wrong.removeDocumentRules(of: name, for: Self.requester()) == .done)
    #expect(await first.server.server.answer(.rules(.readDocuments), of: name) != .rules(text))
    await second.stop()
    await first.stop()
  }

  @Test("a node that only stands by refuses, and tells no client where the leader is")
  func standby() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first")
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second")
    var known = try second.ledger.standing
    while known.leader == nil {
      known = try #require(await second.ledger.changeOfLeader(after: known))
    }
    let operations = ServerOperations(of: second.server.server)
    // It judges no credential, so no token makes a difference.
    for token in ["owner", "forged"] {
      guard
        case .refused(.unavailable(let text)) = await operations.removeDatabase(
          "default", for: Self.requester(token))
      else {
        Issue.record("it decides")
        return
      }
      #expect(text.contains("cluster status") && !text.contains(first.address), "\(text)")
    }
    guard
      case .refused(.unavailable(let other)) = await second.server.server.answer(.read(.root, .all))
    else {
      Issue.record("it reads")
      return
    }
    #expect(!other.contains(first.address), "\(other)")
    let readiness = await operations.readiness
    #expect(readiness.reasons == ["the node stands by; another node leads"])
    #expect(readiness.details.count == 1 && readiness.details[0].contains(first.address))
    await second.stop()
    await first.stop()
  }
}

extension TernServer {
  /// Answers a request of an operator.
  fileprivate func answer(
    _ operation: DirectRequest.Operation, of namespace: String = "default"
  ) async -> DirectAnswer {
    await withCheckedContinuation { continuation in
      let request = DirectRequest(
        namespace: namespace, isLocal: true, address: "loopback",
        credential: Credential(.service, token: "owner", isLocal: true), operation)
      ask(request) { continuation.resume(returning: $0) }
    }
  }
}

extension TreeReference {
  /// Listens until there is something, or nothing.
  fileprivate func awaitValue(isThere: Bool) async throws {
    for try await snapshot in values() where snapshot.exists == isThere { return }
  }
}
