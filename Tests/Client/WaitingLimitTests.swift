import Synchronization
import TernCore
import TernQuery
import TernSync
import TernTransactions
import TernTransport
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("What waits has a limit")
struct WaitingLimitTests {
  /// A client without a server in which two of everything may wait.
  private func world() throws -> World {
    var limits = TreeMachine.Limits()
    limits.waiting.reads = 2
    limits.waiting.deferredWrites = 2
    limits.waiting.transactions = 2
    let world = try World(limits: limits)
    world.isReachable = false
    return world
  }

  @Test("reads")
  func reads() throws {
    let world = try world()
    for _ in 1...3 { try world.act { _ = $0.read(at: "a", query: .all) } }
    #expect(world.takeHeard() == ["read \(ReadError.tooManyWaiting(limit: 2))"])
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.takeHeard() == ["read null", "read null"])
    try world.act { _ = $0.read(at: "a", query: .all) }
    #expect(world.takeHeard() == ["read null"])
  }

  @Test("deferred writes")
  func deferredWrites() throws {
    let world = try world()
    for _ in 1...3 { try world.act { _ = $0.onDisconnect(.set("a", 1)) } }
    #expect(world.takeHeard() == ["not registered \(DisconnectError.tooManyWaiting(limit: 2))"])
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.takeHeard() == ["registered", "registered"])
    try world.act { _ = $0.cancelOnDisconnect("a") }
    #expect(world.takeHeard() == ["registered"])
  }

  @Test("transactions")
  func transactions() throws {
    let world = try world()
    for _ in 1...3 { try world.act { _ = $0.transact(at: "n", appliesLocally: true) { _ in 1 } } }
    #expect(world.takeHeard() == ["failed \(TransactionError.tooManyWaiting(limit: 2))"])
    world.isReachable = true
    try world.fire(.connection(.retry))
    #expect(world.takeHeard() == ["committed 1", "committed 1"])
  }

  @Test("calls without a waiting caller")
  func calls() throws {
    var limits = WaitingLimits()
    limits.calls = 2
    let inbox = SessionInbox<TreeSession, TreeTimer>(limits: limits)
    #expect(try inbox.addCall { _ in })
    #expect(try !inbox.addCall { _ in })
    #expect(throws: SessionBusy(limit: 2)) { try inbox.addCall { _ in } }
    // What ends a listener is never refused.
    #expect(!inbox.add(.call { _ in }))
    #expect(inbox.takeAll().count == 3)
    #expect(try inbox.addCall { _ in })
  }

  @Test("bytes of the link, which is not read from meanwhile")
  func bytes() {
    var limits = WaitingLimits()
    limits.inboxBytes = 10
    let inbox = SessionInbox<TreeSession, TreeTimer>(limits: limits)
    let link = RecordingLink()
    _ = inbox.add([Array(repeating: 0, count: 10)], from: link, 1)
    #expect(link.changes.isEmpty)
    _ = inbox.add([[0]], from: link, 1)
    #expect(link.changes == [false])
    #expect(inbox.takeAll().count == 2)
    #expect(link.changes == [false, true])
    _ = inbox.add([[0]], from: link, 1)
    #expect(link.changes == [false, true])
  }
}

/// Notes when it is told to be read from, or not.
private final class RecordingLink: Link {
  private let state = Mutex<[Bool]>([])
  var changes: [Bool] { state.withLock { $0 } }
  var peer: String { "nobody" }
  var queuedBytes: Int { 0 }
  func send(_ frame: [UInt8]) {}
  func flush() {}
  func setReading(_ on: Bool) { state.withLock { $0.append(on) } }
  func close() {}
}
