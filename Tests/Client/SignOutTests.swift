import TernCore
import TernQuery
import TernSync
import TernTreeReplica
import TernTreeWire
import Testing

@testable import TernClient

@Suite("Sign-outs that a server refuses")
struct SignOutTests {
  @Test("nothing is sent over the link before the server has confirmed a sign-out")
  func unconfirmed() throws {
    let world = try World()
    try world.act { $0.setCredential("ann") }
    try world.act { $0.goOnline() }
    world.peer.holdsCredentials = true
    try world.act { $0.setCredential(nil) }
    try world.act { _ = $0.write(.set("a", 1)) }
    try world.act { _ = $0.listen(at: "b", query: .all, for: .value) }
    try world.act { _ = $0.read(at: "c", query: .all) }
    #expect(world.peer.log == ["unauth"])
    try world.release()
    #expect(world.peer.log == ["unauth", "q /b", "p /a", "g /c"])
    #expect(world.closedLinks == 0)
  }

  @Test(
    "a refused sign-out ends the link; the next one shows no user",
    arguments: [
      TreeStatus.unavailable, .failed,
    ])
  func refused(status: TreeStatus) throws {
    let world = try World()
    try world.act { $0.setCredential("ann") }
    try world.act { $0.goOnline() }
    world.peer.signOutStatus = status
    world.isReachable = false
    try world.act { machine in
      machine.setCredential(nil)
      _ = machine.write(.set("a", 1))
    }
    #expect(world.peer.log == ["unauth"] && world.closedLinks == 1)
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.log == ["unauth", "p /a"] && world.peer.tree == ["a": 1])
  }

  @Test("of two sign-outs the second counts, too")
  func twice() throws {
    let world = try World()
    try world.act { $0.setCredential("ann") }
    try world.act { $0.goOnline() }
    world.peer.holdsCredentials = true
    try world.act { machine in
      machine.setCredential(nil)
      machine.setCredential("ben")
      machine.setCredential(nil)
    }
    try world.act { _ = $0.write(.set("a", 1)) }
    #expect(world.peer.log == ["unauth", "unauth"])
    try world.release()
    #expect(world.peer.tree == ["a": 1] && world.closedLinks == 0)
  }

  @Test(
    "a listen that the server could not end is ended after a pause, unless it is wanted again",
    arguments: [TreeQuery.all, TreeQuery(order: .key, limit: TreeLimit(.first, 2))])
  func unlisten(query: TreeQuery) throws {
    let world = try World()
    let first = try world.act { $0.listen(at: "a", query: query, for: .value) }
    let second = try world.act { $0.listen(at: "b", query: query, for: .value) }
    world.peer.listenRefusal = "too many requests"
    try world.act { $0.unlisten(first) }
    try world.act { $0.unlisten(second) }
    #expect(world.peer.log == ["q /a", "q /b", "n /a", "n /b"])
    world.peer.listenRefusal = nil
    try world.act { _ = $0.listen(at: "b", query: query, for: .value) }
    try world.fire(.listens)
    #expect(world.peer.log == ["q /a", "q /b", "n /a", "n /b", "q /b", "n /a"])
    _ = world.takeHeard()
    try world.remote(.set("b/x", 1))
    #expect(world.takeHeard() == [#"value b {"x":1}"#])
  }

  @Test("an announcement that the server could not take back is taken back after a pause")
  func departure() throws {
    let world = try World()
    let plan = PresencePlan(path: "here", node: true, lastSeen: nil)
    let id = try world.act { $0.announce(plan) }
    #expect(world.peer.tree == ["here": true])
    world.peer.refusal = "too many requests"
    try world.act { $0.leave(id) }
    #expect(world.peer.tree == ["here": true])
    world.peer.refusal = nil
    try world.fire(.outbox)
    #expect(world.peer.tree.isEmpty)
    try world.drop()
    try world.fire(.connection(.retry))
    world.peer.tree = ["here": 7]
    try world.drop()
    #expect(world.peer.tree == ["here": 7], "nothing is left with the server")
  }

  @Test("what is announced again stays, whatever could not be taken back before")
  func announcedAgain() throws {
    let world = try World()
    let plan = PresencePlan(path: "here", node: true, lastSeen: nil)
    let id = try world.act { $0.announce(plan) }
    world.peer.refusal = "too many requests"
    try world.act { $0.leave(id) }
    world.peer.refusal = nil
    try world.act { _ = $0.announce(plan) }
    try world.fire(.outbox)
    #expect(world.peer.tree == ["here": true])
    try world.drop()
    #expect(world.peer.tree.isEmpty)
  }
}
