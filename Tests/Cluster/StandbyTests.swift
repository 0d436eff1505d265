import TernClient
import TernCore
import TernServer
import TernServerAssembly
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
    let first = try await ServerNode(place, "first", leaseSeconds: 3)
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second", leaseSeconds: 3)
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
    let first = try await ServerNode(place, "first", leaseSeconds: 3)
    await first.events.wait(for: .leading)
    let second = try await ServerNode(place, "second", leaseSeconds: 3)
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
