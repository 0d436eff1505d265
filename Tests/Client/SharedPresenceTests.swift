import TernCore
import TernQuery
import TernSync
import TernTreeReplica
import TernTreeWire
import Testing

@testable import TernClient

@Suite("announcements and onDisconnect operations beside one another")
struct SharedPresenceTests {
  private func plan(
    _ path: TreePath, _ node: TreeNode = true, lastSeen: TreePath? = nil
  ) -> PresencePlan {
    PresencePlan(path: path, node: node, lastSeen: lastSeen)
  }

  private func signIn(_ user: String, _ machine: inout TreeMachine) {
    let queue = OpenedQueue(client: 7, origin: 7, nextSequence: 1, rows: [])
    _ = machine.switchUser(to: QueueUser(user), showing: user, .success(queue))
  }

  @Test(
    "of two announcements of one path the other stays when one ends, whichever", arguments: [0, 1])
  func samePath(ending: Int) throws {
    let world = try World()
    let ids = try (0..<2).map { _ in
      try world.act { $0.announce(plan("here", lastSeen: "seen")) }
    }
    try world.act { $0.leave(ids[ending]) }
    #expect(world.peer.tree == ["here": true])
    try world.drop()
    #expect(world.peer.tree == ["seen": 5_000_000], "the server still holds its operations")
    try world.fire(.connection(.retry))
    #expect(world.peer.tree.node(at: "here") == true)
    try world.act { $0.leave(ids[1 - ending]) }
    #expect(world.peer.tree == ["seen": 5_000_000])
  }

  @Test("the value of the announcement that stays comes back")
  func valueOfOther() throws {
    let world = try World()
    _ = try world.act { $0.announce(plan("here", "phone")) }
    let second = try world.act { $0.announce(plan("here", "laptop")) }
    #expect(world.peer.tree == ["here": "laptop"])
    try world.act { $0.leave(second) }
    #expect(world.peer.tree == ["here": "phone"])
    try world.drop()
    #expect(world.peer.tree.isEmpty)
  }

  @Test("an announcement that was not sent yet takes over what the server has of its path")
  func idleHeir() throws {
    let world = try World()
    let first = try world.act { $0.announce(plan("here")) }
    world.peer.holdsCredentials = true
    try world.act { $0.setCredential("token") }
    let second = try world.act { $0.announce(plan("here")) }
    try world.act { $0.leave(first) }
    try world.act { $0.leave(second) }
    try world.release()
    #expect(world.peer.tree.isEmpty)
  }

  @Test("a time that two announcements share is written when the second ends")
  func sharedLastSeen() throws {
    let world = try World()
    let first = try world.act { $0.announce(plan("rooms/1", lastSeen: "seen")) }
    let second = try world.act { $0.announce(plan("rooms/2", lastSeen: "seen")) }
    try world.act { $0.leave(first) }
    #expect(world.peer.tree == ["rooms": ["2": true]])
    try world.drop()
    #expect(world.peer.tree == ["seen": 5_000_000])
    try world.fire(.connection(.retry))
    world.peer.now = 6_000_000
    try world.act { $0.leave(second) }
    #expect(world.peer.tree == ["seen": 6_000_000])
  }

  @Test("an announcement below one that ends is there again, with its operations")
  func below() throws {
    let world = try World()
    let outer = try world.act { $0.announce(plan("ann", ["name": "Ann"])) }
    let inner = try world.act { $0.announce(plan("ann/typing")) }
    try world.act { $0.leave(outer) }
    #expect(world.peer.tree == ["ann": ["typing": true]])
    try world.act { $0.leave(inner) }
    #expect(world.peer.tree.isEmpty)
    _ = try world.act { $0.announce(plan("ann/typing")) }
    try world.drop()
    #expect(world.peer.tree.isEmpty)
  }

  @Test("an announcement below ends within one above: that one's operations stay")
  func above() throws {
    let world = try World()
    _ = try world.act { $0.announce(plan("ann", ["name": "Ann"])) }
    let inner = try world.act { $0.announce(plan("ann/typing", lastSeen: "ann/seen")) }
    world.peer.forgetLog()
    try world.act { $0.leave(inner) }
    #expect(!world.peer.log.contains { $0.hasPrefix("oc") }, "\(world.peer.log)")
    try world.drop()
    #expect(world.peer.tree.isEmpty)
  }

  @Test(
    "what the application has registered below stays, also while it is on its way",
    arguments: [false, true])
  func application(isOnItsWay: Bool) throws {
    let world = try World()
    let id = try world.act { $0.announce(plan("users/ann")) }
    world.holdsAnswers = isOnItsWay
    try world.act { _ = $0.onDisconnect(.set("users/ann/typing", false)) }
    try world.act { $0.leave(id) }
    world.holdsAnswers = false
    try world.settle()
    try world.drop()
    #expect(world.peer.tree == ["users": ["ann": ["typing": false]]])
  }

  @Test("an announcement that ends while a credential is judged is taken back afterwards")
  func endsUnderJudgement() throws {
    let world = try World()
    let id = try world.act { $0.announce(plan("here", lastSeen: "seen")) }
    world.peer.holdsCredentials = true
    try world.act { $0.setCredential("next") }
    try world.act { $0.leave(id) }
    #expect(world.peer.tree == ["here": true])
    try world.release()
    #expect(world.peer.tree == ["seen": 5_000_000])
    world.peer.tree = ["here": 7]
    try world.drop()
    #expect(world.peer.tree == ["here": 7], "nothing is left with the server")
  }

  @Test("at a change of users under judgement the link goes, and the former user with it")
  func userChanges() throws {
    let world = try World()
    _ = try world.act { $0.announce(plan("here")) }
    world.peer.holdsCredentials = true
    try world.act { $0.setCredential("next") }
    world.peer.holdsCredentials = false
    try world.act { signIn("ben", &$0) }
    #expect(world.closedLinks == 1 && world.openedLinks == 2)
    #expect(world.peer.tree.isEmpty)
    try world.act { _ = $0.write(.set("a", 1)) }
    #expect(world.peer.tree == ["a": 1])
  }

  @Test("a refused user does not go on over the link of the former one")
  func refusedUser() throws {
    let world = try World()
    try world.act { signIn("ann", &$0) }
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    world.peer.refusedTokens = ["ben"]
    try world.act { signIn("ben", &$0) }
    #expect(world.closedLinks == 1 && world.openedLinks == 2)
    _ = world.takeHeard()
    try world.remote(.set("a", "for Ann"))
    #expect(world.takeHeard() == [])
    #expect(world.peer.log == ["q /a"])
    try world.act { $0.setCredential("ben again") }
    #expect(world.takeHeard() == [#"value a "for Ann""#])
  }

  @Test("a link is left whose former user was accepted late, when the next user is refused")
  func refusedBehindUnanswered() throws {
    let world = try World()
    world.peer.holdsCredentials = true
    try world.act { signIn("ann", &$0) }
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    #expect(world.openedLinks == 1)
    world.peer.refusedTokens = ["ben"]
    try world.act { signIn("ben", &$0) }
    try world.release()
    #expect(world.closedLinks == 1)
    #expect(world.openedLinks == 2)
  }

  @Test("a token of the same user that is refused leaves the link as it is")
  func refusedRefresh() throws {
    let world = try World()
    try world.act { signIn("ann", &$0) }
    world.peer.refusedTokens = ["late"]
    try world.act { $0.setCredential("late") }
    #expect(world.closedLinks == 0)
  }

  @Test("after a server has closed a client's connections, the application can go online again")
  func serverShutdown() throws {
    let world = try World()
    try world.act { $0.goOnline() }
    try world.say(.shutdown(reason: "moved to another project"))
    #expect(world.takeHeard() == ["the server says: moved to another project"])
    try world.act { _ = $0.write(.set("a", 1)) }
    #expect(world.openedLinks == 1 && world.peer.tree.isEmpty)
    try world.act { $0.goOnline() }
    #expect(world.openedLinks == 2 && world.peer.tree == ["a": 1])
  }
}
