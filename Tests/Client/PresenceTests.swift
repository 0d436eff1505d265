import TernCore
import TernSync
import Testing

@testable import TernClient

@Suite("Presence", .timeLimit(.minutes(10)))
struct PresenceTests {
  @Test("a device is there while it is connected, again after each reconnect, and leaves a time")
  func announce() async throws {
    let home = try await Home()
    let (device, watcher) = (try home.client(), try home.client())
    let place = device.tree["users/ann/devices/laptop"]
    let task = Task { try await place.announce(lastSeen: device.tree["users/ann/seen"]) }
    var heard = watcher.tree["users/ann"].values().makeAsyncIterator()
    for _ in 1...2 {
      var seen = try await heard.next()
      while seen?["devices/laptop"].bool != true { seen = try await heard.next() }
      await device.goOffline()
      while seen?["devices"].exists == true { seen = try await heard.next() }
      #expect(seen?["seen"].number != nil)
      await device.goOnline()
    }
    var seen = try await heard.next()
    while seen?["devices/laptop"].bool != true { seen = try await heard.next() }
    task.cancel()
    try await task.value
    while seen?["devices"].exists == true { seen = try await heard.next() }
    await device.close()
    #expect(try await watcher.tree["users/ann/devices"].get().exists == false)
    await watcher.close()
  }

  @Test("a denied announcement says so, and nothing is left with the server")
  func denied() async throws {
    let home = try await Home(authorizer: try denyingWrites())
    let tern = try home.client()
    await #expect(throws: DisconnectError.self) { try await tern.tree["here"].announce() }
    await tern.close()
  }

  @Test("R41 wherever the connection drops, an announcement leaves no ghost", arguments: 0...12)
  func noGhost(frames: Int) throws {
    #expect(try !leavesGhost(cutAfter: frames) { _ = $0.announce(Self.plan) })
  }

  @Test("R41 the wrong order leaves a ghost somewhere, which the same check finds")
  func wrongOrder() throws {
    let ghosts = try (0...12).filter { frames in
      try leavesGhost(cutAfter: frames) {
        _ = $0.write(.set(Self.plan.path, Self.plan.node))
        _ = $0.onDisconnect(.set(Self.plan.path, .empty))
      }
    }
    #expect(!ghosts.isEmpty)
  }

  private static let plan = PresencePlan(path: "here", node: true, lastSeen: "seen")

  /// Plays a client whose first connection ends behind some frames and whose second one ends at
  /// once when it is there, as when the program is killed; then the program runs again without
  /// saying that it is here.
  ///
  /// - Returns: Whether the server shows the client at any moment at which no connection of it is
  ///   open.
  private func leavesGhost(
    cutAfter frames: Int, _ appear: (inout TreeMachine) -> Void
  ) throws -> Bool {
    let world = try World()
    world.framesUntilCut = frames
    try world.act(appear)
    try world.drop()
    var isGhost = world.peer.tree.node(at: Self.plan.path) != .empty
    world.isReachable = true
    world.framesUntilCut = frames
    try world.fire(.connection(.retry))
    try world.drop()
    isGhost = isGhost || world.peer.tree.node(at: Self.plan.path) != .empty
    let again = try World(store: world.store, peer: world.peer)
    try again.act { $0.goOnline() }
    try again.drop()
    return isGhost || again.peer.tree.node(at: Self.plan.path) != .empty
  }
}
