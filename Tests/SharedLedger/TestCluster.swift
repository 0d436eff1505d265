import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSharedLedger

/// A log in memory, and nodes over it whose steps a test calls.
final class TestCluster: Sendable {
  let clock = JumpingClock()
  let memory: LogMemory
  private let names = Mutex(0)
  /// No two nodes of any cluster draw the same identifiers.
  private static let seeds = Mutex<UInt64>(0)

  init() {
    let clock = clock
    memory = LogMemory(clock: clock) { clock.milliseconds }
  }

  private static func nextSeed() -> UInt64 {
    seeds.withLock { seed in
      seed += 1
      return seed
    }
  }

  /// The number of the next node or transfer.
  func nextNumber() -> Int {
    names.withLock { number in
      number += 1
      return number
    }
  }

  /// A node, over a store that may be that of an earlier one.
  func node(
    over store: any OrderedStore = MemoryStore(), faults: FaultSwitch = FaultSwitch(),
    adjust: (inout SharedLedgerOptions) -> Void = { _ in }
  ) -> TestNode {
    let number = nextNumber()
    let name = "node\(number)"
    let log = HookedLog(memory.node(name) { faults.next($0) })
    var options = SharedLedgerOptions(node: name, address: "\(name):9000")
    adjust(&options)
    let clock = clock
    let bits = Mutex(SeededGenerator(seed: Self.nextSeed()))
    // Each machine's clock shows something else.
    let ledger = SharedLedger(
      log: log, store: store, options: options,
      environment: NodeEnvironment(
        clock: clock, uptime: { clock.milliseconds + Int64(number) * 1_000_000 },
        randomBits: { bits.withLock { $0.next() } }))
    return TestNode(ledger: ledger, log: log, faults: faults, store: store, cluster: self)
  }

  /// The batches of the log after a position.
  func batches(after position: UInt64 = 0) throws -> [LogBatch] {
    try memory.tables.batches(in: ShardID(0), after: LogPosition(position), limit: .max)
  }
}

/// Faults of one node's connection, in the order in which they happen.
final class FaultSwitch: Sendable {
  private struct State {
    var isCut = false
    var faults: [LogOperation.Kind: [LogFault]] = [:]
    var observer: (@Sendable (LogOperation) -> Void)?
  }

  private let state = Mutex(State())

  var isCut: Bool {
    get { state.withLock { $0.isCut } }
    set { state.withLock { $0.isCut = newValue } }
  }

  /// Hears of every operation before it is performed.
  func observe(_ observer: @escaping @Sendable (LogOperation) -> Void) {
    state.withLock { $0.observer = observer }
  }

  /// Lets the next operation of a kind meet a fault, behind those that were added before.
  func add(_ fault: LogFault, to kind: LogOperation.Kind) {
    state.withLock { $0.faults[kind, default: []].append(fault) }
  }

  func next(_ operation: LogOperation) -> LogFault? {
    state.withLock { $0.observer }?(operation)
    return state.withLock { state in
      if state.isCut { return .cut }
      guard let first = state.faults[operation.kind]?.first else { return nil }
      state.faults[operation.kind]?.removeFirst()
      return first
    }
  }
}

/// A node of a ``TestCluster``.
struct TestNode {
  let ledger: SharedLedger
  let log: HookedLog
  let faults: FaultSwitch
  let store: any OrderedStore
  let cluster: TestCluster

  /// Makes steps until the node is elected, and begins its term.
  func lead(within seconds: Int = 20) async throws {
    for _ in 0..<seconds * 4 {
      _ = await ledger.step()
      if ledger.isElected { return try await ledger.beginTerm() }
      cluster.clock.advance(by: .milliseconds(250))
    }
    Issue.record("the node was not elected: \(ledger.standing)")
  }

  /// Makes steps until the copy holds all that the log has.
  func follow() async {
    for _ in 0..<8 { _ = await ledger.step() }
  }

  /// Tells the other nodes of this one.
  func announce() async { await NodeDuties(ledger: ledger).announce() }

  /// Commits, and begins another term when one is over.
  @discardableResult
  func commit(_ commits: [Commit]) async throws(LedgerError) -> [CommitResult] {
    try await ledger.commit(commits)
  }

  func value(of key: String) async throws(LedgerError) -> [UInt8]? {
    try await ledger.read { snapshot throws(StorageError) in try snapshot.get(Array(key.utf8)) }
  }

  var version: Version {
    get async throws(LedgerError) { try await ledger.read { $0.version } }
  }
}

/// A commit that puts one row.
func put(_ key: String, _ value: UInt8, _ claim: IdempotencyKey? = nil) -> Commit {
  Commit(
    claim: claim, mutations: [.put(key: Array(key.utf8), value: [value])], record: [value],
    outcome: [value, value])
}

func claim(
  _ sequence: UInt64, of stream: UInt128 = 42, hash: UInt64 = 7, known: UInt64 = 0
) -> IdempotencyKey {
  IdempotencyKey(
    id: CommitID(stream: stream, sequence: sequence), payloadHash: hash, acknowledged: known)
}
