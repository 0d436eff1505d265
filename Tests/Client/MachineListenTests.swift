import TernCore
import TernQuery
import TernStorageMemory
import TernSync
import TernTreeReplica
import TernTreeWire
import Testing

@testable import TernClient

@Suite("Client machine: listens and reads")
struct MachineListenTests {
  private func world() throws -> World { try World(store: MemoryStore()) }

  @Test("a listen that cannot be served now is requested again after pauses, and goes on")
  func listenPostponed() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    _ = world.takeHeard()
    world.peer.listenRefusal = "the memory is in use"
    for path in ["b", "c"] as [TreePath] {
      try world.act { _ = $0.listen(at: path, query: .all, for: .value) }
    }
    #expect(world.takeHeard() == ["the server says: the memory is in use"])
    try world.remote(.set("a", 1))
    #expect(world.takeHeard() == ["value a 1"], "the connection goes on")
    var pauses: [Duration] = []
    for round in 1...3 {
      pauses.append(try #require(world.timers[.listens]))
      try world.fire(.listens)
      #expect(world.peer.log.filter { $0 == "q /b" }.count == 1 + round)
    }
    // Drawn at random, up to lengths that grow.
    #expect(pauses.allSatisfy { (.milliseconds(300)...(.seconds(2))).contains($0) }, "\(pauses)")
    world.peer.listenRefusal = nil
    try world.fire(.listens)
    #expect(world.takeHeard() == ["value b null", "value c null"])
    #expect(world.timers[.listens] == nil)
    try world.remote(.set("b", 2))
    #expect(world.takeHeard() == ["value b 2"])
  }

  @Test("a postponed listen that is left is not requested again; another connection takes it up")
  func postponedAndLeft() throws {
    let world = try world()
    world.peer.listenRefusal = "the memory is in use"
    let left = try world.act { $0.listen(at: "b", query: .all, for: .value) }
    try world.act { _ = $0.listen(at: "c", query: .all, for: .value) }
    try world.act { $0.unlisten(left) }
    world.peer.listenRefusal = nil
    try world.drop()
    try world.fire(.connection(.retry))
    #expect(world.takeHeard().contains("value c null"))
    try world.fire(.listens)
    #expect(world.peer.log.filter { $0 == "q /b" }.count == 1)
    #expect(world.peer.log.filter { $0 == "q /c" }.count == 2)
  }

  @Test("a listen that the server ends says why, by the id that its operator knows")
  func revokedListen() throws {
    let world = try world()
    for (notice, reason) in [
      (
        TreeServerMessage.listenRevoked("a", .all, detail: "Permission denied [0f]"),
        Rejection(status: "permission_denied", detail: "Permission denied [0f]")
      ),
      (
        .listenRevoked("a", .all, .failed, detail: "damaged"),
        Rejection(status: "failed", detail: "damaged")
      ),
      (
        .listenRevoked("a", .all),
        Rejection(status: "permission_denied", detail: "Permission denied")
      ),
    ] {
      try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
      _ = world.takeHeard()
      try world.say(notice)
      #expect(world.takeHeard() == ["cancelled 1 \(ListenError.rejected(reason))"])
    }
  }

  @Test("W16 a read asks the server, then the cache, then fails")
  func reads() throws {
    let world = try world()
    world.peer.tree = ["a": 1]
    try world.act { _ = $0.read(at: "a", query: .all) }
    #expect(world.takeHeard() == ["read 1"])
    world.isReachable = false
    try world.drop()
    try world.act { _ = $0.read(at: "a", query: .all) }
    let timer = try #require(world.timers.keys.first { if case .read = $0 { true } else { false } })
    #expect(world.timers[timer] == .seconds(3))
    try world.fire(timer)
    #expect(world.takeHeard() == ["read \(ReadError.offline)"])
    try world.act { _ = $0.write(.set("a", 2)) }
    try world.act { _ = $0.read(at: "a", query: .all) }
    #expect(world.takeHeard() == ["stored", "read 2 cached"])
  }

  @Test("a read waits for the server while a listener has only what was cached")
  func readBeforeListenIsAnswered() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    try world.remote(.set("a", 1))
    try world.drop()
    try world.remote(.set("a", 2))
    world.peer.ignoresListens = true
    try world.fire(.connection(.retry))
    _ = world.takeHeard()

    // Online, but the listen is not answered yet: what the listener has is old.
    #expect(world.machine.connectionState == .online)
    try world.act { _ = $0.read(at: "a", query: .all) }
    #expect(world.takeHeard() == ["read 2"])
  }

  @Test("R41 listens come back with hashes, and data missed meanwhile is heard")
  func reconnect() throws {
    let world = try world()
    try world.act { _ = $0.listen(at: "a", query: .all, for: .value) }
    try world.drop()
    try world.remote(.set("a", 7))
    _ = world.takeHeard()
    world.peer.forgetLog()
    try world.fire(.connection(.retry))
    #expect(world.takeHeard() == ["value a 7"])
    #expect(world.peer.log == ["q /a"])
  }

  @Test("data that a server without an index sends uncut is cut here")
  func uncutData() throws {
    let world = try world()
    world.peer.tree = ["n": ["a": 3, "b": 1, "c": 2]]
    world.peer.unindexed = ["n"]
    let query = try TreeQuery.all.ordered(by: .value).first(2)
    try world.act { _ = $0.listen(at: "n", query: query, for: .value) }
    let notice =
      #"the server looks at every child of /n: add ".indexOn": ".value" to its rules there"#
    #expect(world.takeHeard() == [#"value n {"b":1,"c":2}"#, notice])
    try world.remote(.set("n/d", 0))
    #expect(world.takeHeard() == [#"value n {"b":1,"d":0}"#])
  }

  @Test("what takes the place of a listen is asked for before that ends, when it has to wait too")
  func heldBack() throws {
    let world = try world()
    let first = try TreeQuery.all.first(2)
    try world.act { _ = $0.listen(at: "a", query: first, for: .value) }
    try world.act { machine in
      machine.setCredential("a token")
      _ = machine.listen(at: "a", query: .all, for: .value)
    }
    #expect(world.peer.log == ["q /a", "q /a", "n /a"])
  }

  @Test(
    "a listen that ends before sign-in is ended, and can begin again",
    arguments: [TreeQuery.all, TreeQuery(order: .key, limit: TreeLimit(.first, 2))])
  func endedAndWanted(query: TreeQuery) throws {
    let world = try world()
    let id = try world.act { $0.listen(at: "a", query: query, for: .value) }
    let log = world.peer.log
    try world.act { machine in
      machine.setCredential("a token")
      machine.unlisten(id)
      _ = machine.listen(at: "a", query: query, for: .value)
    }
    #expect(world.peer.log == log + ["n /a", "q /a"])
    try world.remote(.set("a/x", 1))
    #expect(world.takeHeard().last == #"value a {"x":1}"#)
  }
}
