import Synchronization
import TernClient
import TernCore
import TernQuery
import TernSecurity
import TernStorageMemory
import TernSync
import TernTransactions
import TernTransportLoopback
import Testing

@Suite("Client and server", .timeLimit(.minutes(10)))
struct EndToEndTests {
  @Test("W06 what one client sets, another one's listener hears")
  func setAndHear() async throws {
    let home = try await Home()
    let ann = try home.client()
    let bob = try home.client()
    let heard = Task { try await bob.tree["rooms/42/title"].values().first { $0.exists } }
    let write = try await ann.tree["rooms/42"].set(["title": "Hi", "open": true])
    try await write.acknowledged()
    #expect(try await heard.value?.string == "Hi")
    #expect(try await bob.tree["rooms"].get().node == ["42": ["title": "Hi", "open": true]])
    await ann.close()
    await bob.close()
  }

  @Test("W19 W27 an update writes and removes several paths at once, and leaves the others")
  func update() async throws {
    let home = try await Home()
    let tern = try home.client()
    let root = tern.tree.root
    try await root.set(["a": 1, "b": ["c": 2, "d": 3]])
    try await root.update(["a": .empty, "b/c": 4, "/e/f/": 5]).acknowledged()
    let other = try home.client()
    #expect(try await other.tree.root.get().node == ["b": ["c": 4, "d": 3], "e": ["f": 5]])
  }

  @Test("a path longer than the limit is refused before it is queued, asked for or listened to")
  func pathTooLong() async throws {
    let home = try await Home()
    let tern = try home.client()
    let place = tern.tree["a"][String(repeating: "k", count: 765)]
    try await place.set(1).acknowledged()
    #expect(try await place.get().number == 1)
    let below = place.path.appending("x" as TreeKey)
    let problem = TreeError.pathTooLong(below, limitBytes: 768)
    await #expect(throws: WriteError.invalid(problem)) { try await place["x"].set(1) }
    await #expect(throws: ReadError.invalid(problem)) { try await place["x"].get() }
    await #expect(throws: ListenError.invalid(problem)) { try await place["x"].once() }
    await #expect(throws: ListenError.invalid(problem)) {
      try await place["x"].keepSynced(true)
    }
    // What counts is where the value lies, not where the write begins.
    let above = TreeError.pathTooLong("a", limitBytes: 768)
    let long = try TreeKey(String(repeating: "k", count: 766))
    await #expect(throws: WriteError.invalid(above)) {
      try await tern.tree["a"].set(TreeNode.empty.setting(1, at: TreePath([long])))
    }
    #expect(await tern.tree.pendingWrites.isEmpty)
    await tern.close()
  }

  @Test("a query without an index is served, and its developer informed once")
  func missingIndex() async throws {
    let rules = try TreeRules(
      #"{"rules": {".read": true, ".write": true, "good": {".indexOn": "n"}}}"#)
    let home = try await Home(authorizer: RulesAuthorizer(rules))
    let notices = Mutex<[ClientNotice]>([])
    let tern = try home.client { options in
      options.report = { notice in notices.withLock { $0.append(notice) } }
    }
    for place in ["good", "bad", "bad"] {
      try await tern.tree[place].set(["a": ["n": 2], "b": ["n": 1]]).acknowledged()
      let first = try await tern.tree[place].order(byChild: "n").first(1).snapshots()
        .first { $0.isComplete && !$0.isFromCache }
      #expect(first?.node == ["b": ["n": 1]])
    }
    #expect(notices.withLock { $0 } == [.missingIndex(at: "bad", for: .child("n"))])
    let text = #"the server looks at every child of /bad: add ".indexOn": "n" to its rules there"#
    #expect(notices.withLock { $0.first?.description } == text)
    await tern.close()
  }

  @Test("W38 stars given by twenty clients at once are all counted")
  func transactions() async throws {
    let home = try await Home()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...20 {
        let tern = try home.client()
        group.addTask {
          for _ in 1...10 {
            let result = try await tern.tree["stars"].transaction { node in
              node = TreeNode(.integer(Int64(node.scalar?.number ?? 0) + 1))
              return true
            }
            guard case .committed = result else { throw TransactionError.cancelled }
          }
        }
      }
      try await group.waitForAll()
    }
    let tern = try home.client()
    #expect(try await tern.tree["stars"].get().number == 200)
  }

  @Test("W40 increments of several clients are all counted")
  func increments() async throws {
    let home = try await Home()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...4 {
        let tern = try home.client()
        group.addTask {
          var last: TreeWriteHandle?
          for _ in 1...100 { last = try await tern.tree["n"].increment() }
          try await last?.acknowledged()
        }
      }
      try await group.waitForAll()
    }
    let tern = try home.client()
    #expect(try await tern.tree["n"].get().number == 400)
  }

  @Test("R01 R08 writes made while the network is away arrive when it is back")
  func offline() async throws {
    let home = try await Home()
    let ann = try home.client()
    let bob = try home.client()
    try await ann.tree["a"].set(1).acknowledged()
    await ann.tree.goOffline()
    var writes: [TreeWriteHandle] = []
    for number in 1...10 {
      writes.append(try await ann.tree["list/\(number)"].set(TreeNode(.integer(Int64(number)))))
    }
    #expect(await ann.tree.pendingWrites.count == 10)
    #expect(try await ann.tree["list/10"].get().number == 10)
    #expect(try await !bob.tree["list"].get().exists)
    await ann.tree.goOnline()
    for write in writes { try await write.acknowledged() }
    #expect(await ann.tree.pendingWrites.isEmpty)
    #expect(try await bob.tree["list"].get().children.count == 10)
  }

  @Test("R01 a network that breaks again and again loses and repeats nothing")
  func flapping() async throws {
    let home = try await Home()
    let tern = try home.client()
    try await tern.tree["n"].set(0).acknowledged()
    var last: TreeWriteHandle?
    for round in 1...50 {
      last = try await tern.tree["n"].increment()
      if round % 10 == 0 {
        home.transport.cut()
        await tern.tree.goOffline()
        await tern.tree.goOnline()
      }
    }
    try await last?.acknowledged()
    #expect(try await home.client().tree["n"].get().number == 50)
  }

  @Test("R02 R07 a client that ends offline finds its tree and its queue again")
  func restart() async throws {
    let home = try await Home()
    let queue = MemoryStore()
    let cache = MemoryStore()
    let first = try home.client(queue: queue, cache: cache)
    try await home.client().tree["a"].set(["x": 1]).acknowledged()
    #expect(try await first.tree["a"].once().exists)
    await first.tree.goOffline()
    try await first.tree["a/y"].set(2)
    await first.close()

    let second = try home.client(queue: queue, cache: cache)
    await second.tree.goOffline()
    #expect(try await second.tree["a"].once().node == ["x": 1, "y": 2])
    await second.tree.goOnline()
    let other = try home.client()
    _ = try await other.tree["a/y"].values().first { $0.exists }
    #expect(try await other.tree["a"].get().node == ["x": 1, "y": 2])
  }

  @Test("R19 child events come for the window of a query, in its order")
  func childEvents() async throws {
    let home = try await Home()
    let tern = try home.client()
    try await tern.tree["scores"].set(["a": 3, "b": 1, "c": 2])
    var events: [String] = []
    let top = tern.tree["scores"].orderByValue().last(2)
    for try await change in top.children() {
      events.append("\(change.kind) \(change.key?.text ?? "")")
      if events == ["added c", "added a"] { try await tern.tree["scores/b"].set(9) }
      if events.count == 4 { break }
    }
    #expect(events == ["added c", "added a", "removed c", "added b"])
  }

  @Test("R25 R28 deferred writes happen when the client goes")
  func onDisconnect() async throws {
    let home = try await Home()
    let ann = try home.client()
    let bob = try home.client()
    try await ann.tree["users/ann"].onDisconnect.set(["online": false, "seen": .timestamp])
    try await ann.tree["users/ann/online"].set(true).acknowledged()
    await ann.tree.goOffline()
    let snapshot = try await bob.tree["users/ann"].values().first { $0["online"].bool == false }
    #expect((snapshot?["seen"].number ?? 0) > 1_600_000_000_000)
  }

  @Test("snapshots say what is known, from where, and what is pending")
  func metadata() async throws {
    let home = try await Home()
    let tern = try home.client()
    try await home.client().tree["a"].set(1).acknowledged()
    let fresh = try await tern.tree["a"].snapshots().first { !$0.isFromCache }
    #expect(fresh?.isComplete == true && fresh?.node == 1 && fresh?.hasPendingWrites == false)
    await tern.tree.goOffline()
    try await tern.tree["a"].set(2)
    let pending = try await tern.tree["a"].snapshots().first { $0.hasPendingWrites }
    #expect(pending?.node == 2)
  }

  @Test("what is wrong with a path or a query is thrown when it is used")
  func mistakes() async throws {
    let home = try await Home()
    let tern = try home.client()
    await #expect(throws: WriteError.invalid(.invalidKey("a#b"))) {
      try await tern.tree["a#b"].set(1)
    }
    await #expect(throws: ReadError.invalidQuery(.limitOutOfRange(0))) {
      try await tern.tree["a"].first(0).get()
    }
    await #expect(throws: WriteError.self) { try await tern.tree[".info/connected"].set(true) }
    await tern.close()
    await #expect(throws: WriteError.closed) { try await tern.tree["a"].set(1) }
  }

  @Test("the connection's state can be watched")
  func connection() async throws {
    let home = try await Home()
    let tern = try home.client()
    var states: [ConnectionState] = []
    try await tern.tree["a"].set(1)
    for await state in tern.tree.connection {
      states.append(state)
      if state == .online { await tern.tree.goOffline() }
      if state == .offline { break }
    }
    #expect(states.suffix(2) == [.online, .offline])
  }

  @Test("D01 a declared transaction runs with its arguments")
  func declared() async throws {
    let home = try await Home()
    let tern = try home.client()
    await tern.tree.declareTransaction("add") { arguments, node in
      TreeNode(.integer(Int64((arguments.scalar?.number ?? 0) + (node.scalar?.number ?? 0))))
    }
    _ = try await tern.tree["n"].transaction("add", arguments: 5)
    let result = try await tern.tree["n"].transaction("add", arguments: 6)
    guard case .committed(let snapshot) = result else { return #expect(Bool(false)) }
    #expect(snapshot.number == 11)
    await #expect(throws: TransactionError.undeclared(name: "sub")) {
      try await tern.tree["n"].transaction("sub")
    }
  }
}
