import TernCore
import TernQuery
import TernStorageMemory
import TernSync
import TernTransactions
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("Client transactions")
struct TransactionTests {
  private let addOne: TransactionUpdate = { node in
    TreeNode(.integer(Int64(node.scalar?.number ?? 0) + 1))
  }

  @Test("W35 W36 begins with what is known, and runs again with what the server has")
  func cold() throws {
    let world = try World()
    world.peer.tree = ["n": 41]
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    #expect(world.peer.tree == ["n": 42])
    #expect(world.takeHeard() == ["committed 42"])
    #expect(world.peer.log == ["q /n", "p /n", "p /n", "n /n"])
  }

  @Test("W37 gives up after 25 attempts")
  func tooMany() throws {
    let world = try World()
    world.peer.staleAnswers = 100
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    for _ in 1...25 {
      for timer in world.timers.keys {
        if case .rest = timer { try world.fire(timer) }
      }
    }
    #expect(world.takeHeard() == ["failed \(TransactionError.tooManyAttempts(limit: 25))"])
    #expect(world.peer.log.filter { $0 == "p /n" }.count == 25)
  }

  @Test("R24 waiting transactions are sent together, and each hears its own result")
  func batch() throws {
    let world = try World()
    world.isReachable = false
    for _ in 1...4 { try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) } }
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.tree == ["n": 4])
    #expect(
      world.takeHeard() == ["committed 1", "committed 2", "committed 3", "committed 4"])
    #expect(world.peer.log.filter { $0 == "p /n" }.count == 2)
  }

  @Test("those on their way are not looked at whenever another one is answered")
  func manyWaiting() throws {
    let world = try World()
    world.isReachable = false
    for number in 1...200 {
      let path = TreePath(unchecked: [TreeKey(unchecked: "n\(number)")])
      try world.act { _ = $0.transact(at: path, appliesLocally: true, addOne) }
    }
    #expect(world.machine.transactions.table.list.count == 200)
    #expect(world.machine.transactions.table.waitingRoots.isEmpty)
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.takeHeard().count { $0 == "committed 1" } == 200)
  }

  @Test("D04 attempts that a purge dropped leave no gap behind")
  func purgedAttempts() throws {
    let world = try World()
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    world.isReachable = false
    try world.drop()
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    try world.act { _ = $0.purge() }
    world.isReachable = true
    try world.fire(.connection(.retry))
    _ = world.takeHeard()
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    #expect(world.takeHeard() == ["committed 2"])
    #expect(world.peer.tree == ["n": 2])
  }

  @Test("A8 transactions below one another go out in one write")
  func nested() throws {
    let world = try World()
    world.peer.tree = ["n": ["a": 1, "b": 1]]
    try world.act { _ = $0.listen(at: "n", query: .all, for: []) }
    world.holdsDisk = false
    world.isReachable = false
    try world.drop()
    for path: TreePath in ["n/a", "n/a", "n/a", "n/b"] {
      try world.act { _ = $0.transact(at: path, appliesLocally: true, addOne) }
    }
    try world.act {
      _ = $0.transact(at: "n", appliesLocally: true) { $0.setting(1, at: "p") }
    }
    world.peer.forgetLog()
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.tree == ["n": ["a": 4, "b": 2, "p": 1]])
    #expect(world.peer.log.filter { $0.hasPrefix("p") } == ["p /n/a", "p /n/b", "p /n"])
  }

  @Test("an update function that gives up ends the transaction with what it saw")
  func abandoned() throws {
    let world = try World()
    try world.act { _ = $0.transact(at: "n", appliesLocally: true) { _ in nil } }
    #expect(world.takeHeard() == ["abandoned null"])
  }

  @Test("a local write ends the transactions it replaces")
  func overridden() throws {
    let world = try World()
    world.isReachable = false
    try world.act { _ = $0.transact(at: "n/a", appliesLocally: true, addOne) }
    try world.act { _ = $0.transact(at: "n/a", appliesLocally: true, addOne) }
    try world.act { _ = $0.write(.set("n", 1)) }
    // The first was on its way and waits for its answer, the second had not been sent.
    #expect(world.takeHeard() == ["failed \(TransactionError.overridden)", "stored"])
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.peer.tree == ["n": 1])
    #expect(world.takeHeard().first == "committed 1")
  }

  @Test("a transaction whose answer was lost is not applied twice")
  func lostAnswer() throws {
    let world = try World()
    try world.act { $0.goOnline() }
    world.losesAnswers = true
    try world.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    #expect(world.peer.tree == ["n": 1])
    world.losesAnswers = false
    try world.drop()
    try world.fire(.connection(.retry))
    #expect(world.peer.tree == ["n": 1] && world.peer.applied == 1)
    #expect(world.takeHeard() == ["committed 1"])
  }

  @Test("a hidden transaction is seen only when the server has it")
  func hidden() throws {
    let world = try World()
    try world.act { _ = $0.listen(at: "n", query: .all, for: .value) }
    _ = world.takeHeard()
    try world.act { _ = $0.transact(at: "n", appliesLocally: false, addOne) }
    #expect(world.takeHeard() == ["value n 1", "committed 1"])
  }

  @Test("D01 a declared transaction survives a restart, and is applied once")
  func declared() throws {
    let store = MemoryStore()
    let before = try World(store: store)
    before.isReachable = false
    let add: DeclaredUpdate = { arguments, node in
      let sum = (arguments.scalar?.number ?? 0) + (node.scalar?.number ?? 0)
      return TreeNode(.integer(Int64(sum)))
    }
    try before.act {
      _ = $0.transact("add", at: "n", arguments: 5, appliesLocally: true) { add(5, $0) }
    }
    let after = try World(store: store)
    after.peer.tree = ["n": 2]
    try after.act { _ = $0.declare("add", add) }
    #expect(after.peer.tree == ["n": 7])
    #expect(after.takeHeard() == ["committed 7"])
    let later = try World(store: store)
    try later.act { _ = $0.declare("add", add) }
    #expect(later.peer.tree.isEmpty)
  }

  @Test("D01 a declared transaction goes on when the server knows that its user is back")
  func declaredOfReturningUser() throws {
    let world = try World()
    try world.act { $0.goOnline() }
    let waiting = DeclaredTransaction(
      stream: 9, path: "n", name: "add", arguments: 5, appliesLocally: true)
    let row = QueuedWrite(
      id: 1, state: .kept, payload: WriteRecord.transaction(waiting).encode())
    let queue = OpenedQueue(client: 7, origin: 7, nextSequence: 1, rows: [row])
    try world.act {
      _ = $0.switchUser(to: QueueUser("ann"), showing: "a token", .success(queue))
      // Said at once, before the server has answered what is shown.
      _ = $0.declare("add") { arguments, node in
        TreeNode(.integer(arguments.integer + node.integer))
      }
    }
    #expect(world.peer.tree == ["n": 5])
    #expect(world.takeHeard().contains("committed 5"))
  }

  @Test("D01 a closure does not survive a restart, and that is reported")
  func closureLost() throws {
    let store = MemoryStore()
    let before = try World(store: store)
    before.isReachable = false
    try before.act { _ = $0.transact(at: "n", appliesLocally: true, addOne) }
    let after = try World(store: store)
    try after.settle()
    #expect(after.lost.map(\.path) == ["n"])
    #expect(try World(store: store).lost.isEmpty)
  }
}

extension TreeNode {
  /// The whole number here, or 0.
  fileprivate var integer: Int64 { Int64(scalar?.number ?? 0) }
}
