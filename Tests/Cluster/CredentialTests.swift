import TernCore
import TernSecurity
import TernServer
import TernServerAssembly
import TernTreeWire
import Testing

@Suite("credentials that nodes judge differently", .timeLimit(.minutes(2)))
struct CredentialTests {
  /// Accepts tokens by their names.
  private struct NamedTokens: Authenticator {
    let names: Set<String>

    func authenticate(
      _ credential: Credential, now: Int64
    ) throws(AuthenticationError) -> Authentication {
      guard names.contains(credential.token) else { throw .invalid(reason: "not known here") }
      return Authentication(.user(id: credential.token, claims: .object([])))
    }
  }

  private static let path = TreePath(unchecked: [TreeKey(unchecked: "a")])

  private static func auth(_ number: UInt64, _ token: String) -> TreeClientMessage {
    .request(number, .auth(TreeCredential(.user, token: token)))
  }

  private static func put(_ number: UInt64) -> TreeClientMessage {
    .request(number, .put(path, 1, expectedHash: nil, .none))
  }

  /// A leader, a node that follows, and a client of that one with a session.
  private func world(
    leader: Set<String>, follower: Set<String>
  ) async throws -> (nodes: [ServerNode], client: FrameClient) {
    let place = SharedPlace()
    let first = try await ServerNode(
      place, "first", follows: true, others: NamedTokens(names: leader))
    await first.events.wait(for: .leading)
    let second = try await ServerNode(
      place, "second", follows: true, others: NamedTokens(names: follower))
    await second.events.wait(for: .following)
    let client = try await FrameClient.connect(to: second.address)
    client.send(.open(TreeOpening()))
    #expect(await client.next(1) == ["handshake"])
    return ([second, first], client)
  }

  @Test("a client is told that the leader does not take its credential")
  func rejectedByLeader() async throws {
    let (nodes, client) = try await world(leader: [], follower: ["ann"])
    client.send(Self.auth(1, "ann"))
    #expect(await client.next(1).first?.hasPrefix("answer 1 ") == true)
    client.send(Self.put(2))
    let told = await client.next(3)
    #expect(told.first?.hasPrefix("authRevoked") == true, "\(told)")
    #expect(told.first?.contains("not known here") == true, "\(told)")
    #expect(told.last == "closed", "\(told)")
    for node in nodes { await node.stop() }
  }

  @Test("a credential that is rejected at a node that follows is not shown to the leader later")
  func rejectedByFollower() async throws {
    let (nodes, client) = try await world(leader: ["ann"], follower: ["ann"])
    client.send(Self.auth(1, "ann"))
    #expect(await client.next(1).first?.hasPrefix("answer 1 {") == true)
    client.send(Self.auth(2, "bob"))
    #expect(await client.next(1) == ["answer 2 \"not known here\""])
    client.send(Self.put(3))
    #expect(await client.next(1) == ["answer 3"])
    client.close()
    for node in nodes { await node.stop() }
  }

  /// Accepts every token, as one that was issued in half a minute.
  private struct EarlyTokens: Authenticator {
    func authenticate(
      _ credential: Credential, now: Int64
    ) throws(AuthenticationError) -> Authentication {
      let seconds = now / 1_000
      return Authentication(
        .user(id: credential.token, claims: .object([])), expires: seconds + 3_600,
        issued: seconds + 30)
    }
  }

  @Test("a revocation from now on ends tokens in use whose issuer's clock is ahead")
  func revocation() async throws {
    let place = SharedPlace()
    let first = try await ServerNode(place, "first", follows: true, others: EarlyTokens())
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second", follows: true, others: EarlyTokens())
    await second.events.wait(for: .following)
    var clients: [FrameClient] = []
    for node in [first, second] {
      let client = try await FrameClient.connect(to: node.address)
      client.send(.open(TreeOpening()))
      client.send(Self.auth(1, "ann"))
      #expect(await client.next(2).first == "handshake")
      clients.append(client)
    }
    let request = DirectRequest(
      namespace: "default", isLocal: true, address: "loopback",
      credential: Credential(.user, token: "owner", isLocal: true), .revoke([.init("ann", .now)]))
    let answer = await second.server.server.answer(request)
    #expect(answer == .done)
    for client in clients {
      #expect(await client.next(1).first?.hasPrefix("authRevoked") == true)
    }
    await second.stop()
    await first.stop()
  }
}

extension TernServer {
  fileprivate func answer(_ request: DirectRequest) async -> DirectAnswer {
    await withCheckedContinuation { continuation in
      ask(request) { continuation.resume(returning: $0) }
    }
  }
}
