import Synchronization
import TernClient
import TernCore
import TernLinkTesting
import TernQuery
import TernServer
import TernServerAssembly
import TernSync
import TernTransport
import TernTreeWire
import Testing

@Suite("what a node that follows says, and when", .timeLimit(.minutes(2)))
struct FollowerOrderTests {
  private static let place = TreePath(unchecked: [TreeKey(unchecked: "a")])

  private let place = SharedPlace()

  private func nodes() async throws -> (leader: ServerNode, follower: ServerNode) {
    let leader = try await ServerNode(place, "first", follows: true)
    await leader.events.wait(for: .leading)
    let follower = try await ServerNode(place, "second", follows: true)
    await follower.events.wait(for: .following)
    return (leader, follower)
  }

  @Test("a write is answered when the copy has it, behind what listeners are told of it")
  func answers() async throws {
    let (leader, follower) = try await nodes()
    let near = try await leader.client()
    try await near.tree["a"].set(1).acknowledged()
    let far = try await FrameClient.connect(to: "\(place.address)/second")
    far.send(.open(TreeOpening()))
    far.send(.request(1, .listen(TreeListen(path: Self.place))))
    let begun = await far.next(3)
    #expect(begun == ["handshake", "put a 1", "answer 1 {}"])
    place.cut("second", true)
    far.send(.request(2, .put(Self.place, 7, expectedHash: nil, .none)))
    far.send(.request(3, .get(Self.place, .all)))
    // It is stored, and the leader has answered.
    for try await snapshot in near.tree["a"].values() where snapshot.number == 7 { break }
    try await near.tree["b"].set(1).acknowledged()
    place.cut("second", false)
    let rest = await far.next(3)
    #expect(rest == ["put a 7", "answer 2", "answer 3 7"])
    await near.close()
    far.close()
    await follower.stop()
    await leader.stop()
  }

  @Test("a session begins with all that was committed before, at whichever node")
  func openings() async throws {
    let (leader, follower) = try await nodes()
    let near = try await leader.client()
    place.cut("second", true)
    try await near.tree["a"].set(1).acknowledged()
    let far = try await FrameClient.connect(to: "\(place.address)/second")
    far.send(.open(TreeOpening()))
    far.send(.request(1, .get(Self.place, .all)))
    async let said = far.next(2)
    try await near.tree["a"].set(2).acknowledged()
    place.cut("second", false)
    #expect(await said == ["handshake", "answer 1 2"])
    await near.close()
    far.close()
    await follower.stop()
    await leader.stop()
  }

  @Test("what a session leaves happens before its client's next one, at whichever node that is")
  func successors() async throws {
    let (leader, follower) = try await nodes()
    let near = try await leader.client()
    for node in ["second", "first"] {
      // Its connection breaks, and neither node hears of that.
      let old = try await FrameClient.connect(to: "\(place.address)/second")
      old.send(.open(TreeOpening()))
      old.send(.request(1, .onDisconnectSet(Self.place, "gone")))
      old.send(.request(2, .put(Self.place, "here", expectedHash: nil, .none)))
      #expect(await old.next(3) == ["handshake", "answer 1", "answer 2"])
      let new = try await FrameClient.connect(to: "\(place.address)/\(node)")
      new.send(.open(TreeOpening(lastSession: old.session)))
      new.send(.request(1, .put(Self.place, "again", expectedHash: nil, .none)))
      #expect(await new.next(2) == ["handshake", "answer 1"])
      // Nothing is left to happen when the old one ends.
      old.close()
      try await near.tree["b"].set(1).acknowledged()
      new.send(.request(2, .get(Self.place, .all)))
      #expect(await new.next(1) == [#"answer 2 "again""#])
      new.close()
    }
    await near.close()
    await follower.stop()
    await leader.stop()
  }

  @Test("a client with a name takes the place of its older session at the leader, and writes")
  func namedClients() async throws {
    let (leader, follower) = try await nodes()
    let mark = WriteHeader(WriteIdempotencyKey(sequence: 1))
    let next = WriteHeader(WriteIdempotencyKey(sequence: 2))
    let old = try await FrameClient.connect(to: "\(place.address)/first")
    old.send(.open(TreeOpening(stream: 7)))
    old.send(.request(1, .put(Self.place, 1, expectedHash: nil, mark)))
    #expect(await old.next(2) == ["handshake", "answer 1"])
    let new = try await FrameClient.connect(to: "\(place.address)/second")
    // It does not know its session: the leader asks whether the client is there.
    new.send(.open(TreeOpening(stream: 7)))
    new.send(.request(1, .put(Self.place, 2, expectedHash: nil, next)))
    #expect(await new.next(2) == ["handshake", "answer 1"])
    new.send(.request(2, .get(Self.place, .all)))
    #expect(await new.next(1) == ["answer 2 2"])
    old.close()
    new.close()
    await follower.stop()
    await leader.stop()
  }

  @Test("a node without the log answers sessions from its copy, and keeps writes waiting")
  func withoutLog() async throws {
    let (leader, follower) = try await nodes()
    let near = try await leader.client()
    try await near.tree["a"].set(1).acknowledged()
    let far = try await FrameClient.connect(to: "\(place.address)/second")
    far.send(.open(TreeOpening()))
    far.send(.request(1, .get(Self.place, .all)))
    #expect(await far.next(2) == ["handshake", "answer 1 1"])
    place.cut("second", true)
    far.send(.request(2, .get(Self.place, .all)))
    #expect(await far.next(1) == ["answer 2 1"])
    far.send(.request(3, .put(Self.place, 2, expectedHash: nil, .none)))
    for try await snapshot in near.tree["a"].values() where snapshot.number == 2 { break }
    place.cut("second", false)
    #expect(await far.next(1) == ["answer 3"])
    await near.close()
    far.close()
    await follower.stop()
    await leader.stop()
  }
}
