import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernServer
import TernSharedLedger
import TernStorage
import TernTestKit

/// A process with a server in it; it may stand still.
class ServerProcess {
  /// While it stands still: what happens to it meanwhile.
  var stalled: [WorldEvent]?
}

/// One machine of a cluster; its process comes and goes.
final class ClusterNode {
  let index: Int
  /// The number of the shard that it belongs to.
  let shard: Int
  var disk = FaultyDisk()
  let wall: WallClock
  let bits: BitSource
  var process: NodeProcess?

  init(index: Int, shard: Int, clock: WorldClock, seed: UInt64) {
    self.index = index
    self.shard = shard
    wall = WallClock(clock)
    bits = BitSource(seed: seed)
  }
}

/// One run of the process of a node: its ledger, and its server during a term.
final class NodeProcess: ServerProcess {
  /// Something that a task of the process has ended with.
  enum Message {
    case stepped(Duration)
    case termBegan
    case termEnded(String)
    case failed(LedgerError)
    case decided(ServerRun, [ServerInput], Result<Told, LedgerError>)
    case closed
  }

  let node: ClusterNode
  let name: String
  let gate: NodeGate
  let log: PacedLog
  let faults: NodeFaults
  let ledger: SharedLedger
  let store: any OrderedStore
  let uptimeOffset: Int64
  /// The server of the present term, where only the node that leads serves.
  var server: ServerRun?
  /// The server of the process, where all nodes serve.
  var host: NodeServer?
  /// A term has begun while a batch of an earlier one was still being decided.
  var isTermWaiting = false
  /// Batches that are being decided.
  var decisions = 0
  var isDead = false
  /// It ends in order, and takes no client any more.
  var isEnding = false
  /// It asks the log for new batches seldom.
  var isSlow = false
  /// The log takes long to answer it.
  var isLogSlow = false
  var messages: [Message] = []
  /// The place and version of the copy when it was compared last.
  var compared: ReplicaMark?
  private var terms: Task<Void, Never>?

  init(
    node: ClusterNode, name: String, seeds: (gate: UInt64, faults: UInt64),
    of cluster: SimulatedCluster, clock: WorldClock, uptimeOffset: Int64
  ) {
    self.node = node
    self.name = name
    self.uptimeOffset = uptimeOffset
    gate = NodeGate(seed: seeds.gate, freezes: cluster.serves)
    let faults = NodeFaults(seed: seeds.faults)
    self.faults = faults
    log = PacedLog(cluster.memory.node(name) { faults.next($0) }, gate)
    var options = SharedLedgerOptions(
      shard: ShardID(UInt32(node.shard)), node: name, address: name)
    options.shards = cluster.table
    options.checkpointBatches = 12
    options.checkpointInterval = .seconds(20)
    options.retention = LogRetention(batches: 8, age: .zero)
    options.partBytes = 3_000
    options.rowsPerPage = 16
    options.ledger = ServerRun.ledgerOptions
    options.plantedFault = cluster.plantedFault
    let bits = node.bits
    store = node.disk.open()
    ledger = SharedLedger(
      log: log, store: store, options: options,
      environment: NodeEnvironment(
        clock: PacedClock(clock: clock, gate: gate), uptime: { clock.now + uptimeOffset },
        randomBits: { bits.next() }))
  }

  /// True while the process takes clients as a leader.
  var isLeading: Bool { server != nil || host?.service == .asLeader }

  /// Lets the server follow the terms of its node, as a server's own task does.
  func followTerms(on executor: WorldExecutor) {
    let process = WorldBound(self)
    terms = Task(executorPreference: executor) {
      let process = process.value
      while !Task.isCancelled {
        do throws(LedgerError) { try await process.ledger.beginTerm() } catch {
          if !Task.isCancelled { process.messages.append(.failed(error)) }
          return
        }
        process.messages.append(.termBegan)
        let reason = await process.ledger.endOfTerm()
        if Task.isCancelled { return }
        process.messages.append(.termEnded(reason))
      }
    }
  }

  /// Does what is due at the node.
  func step(on executor: WorldExecutor) {
    let process = WorldBound(self)
    Task(executorPreference: executor) {
      let pause = await process.value.ledger.step()
      process.value.messages.append(.stepped(pause))
    }
  }

  /// Decides inputs and makes the decision durable in the log.
  func decide(
    _ inputs: [ServerInput], of run: ServerRun, now: Int64, uptime: Int64,
    on executor: WorldExecutor
  ) {
    decisions += 1
    let (process, run, inputs) = (WorldBound(self), WorldBound(run), WorldBound(inputs))
    Task(executorPreference: executor) {
      let (process, run, inputs) = (process.value, run.value, inputs.value)
      let result: Result<Told, LedgerError>
      do throws(LedgerError) {
        result = .success(
          try await run.decide(inputs, now: now, uptime: uptime, by: process.ledger))
      } catch {
        result = .failure(error)
      }
      process.messages.append(.decided(run, inputs, result))
    }
  }

  /// Ends the process in order.
  func close(on executor: WorldExecutor) {
    isEnding = true
    if let host {
      return host.stop(ledger, on: executor) { self.messages.append(.closed) }
    }
    let process = WorldBound(self)
    Task(executorPreference: executor) {
      await process.value.ledger.close()
      process.value.messages.append(.closed)
    }
  }

  func takeMessages() -> [Message] {
    defer { messages = [] }
    return messages
  }

  /// The process is no more. What it has sent to the log may still arrive there.
  func kill() {
    isDead = true
    stalled = nil
    server?.isOver = true
    server = nil
    terms?.cancel()
    gate.kill()
  }
}

/// The faults of one process's connection to the log.
final class NodeFaults: Sendable {
  private struct State {
    var chance: RandomSource
    var isCut = false
    /// Faults that come, one an operation, when their kind does.
    var next: [LogOperation.Kind: LogFault] = [:]
    var hidden: UInt64 = 0
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(chance: RandomSource(seed: seed))) }

  /// True while the node does not reach the log.
  var isCut: Bool {
    get { state.withLock { $0.isCut } }
    set { state.withLock { $0.isCut = newValue } }
  }

  /// The newest batches that reads do not see.
  var hidden: UInt64 {
    get { state.withLock { $0.hidden } }
    set { state.withLock { $0.hidden = newValue } }
  }

  /// Lets the next operation of a kind meet a fault.
  func add(_ fault: LogFault, to kind: LogOperation.Kind) {
    state.withLock { $0.next[kind] = fault }
  }

  func heal() {
    state.withLock { ($0.isCut, $0.next, $0.hidden) = (false, [:], 0) }
  }

  func next(_ operation: LogOperation) -> LogFault? {
    state.withLock { state in
      if state.isCut { return .cut }
      if let fault = state.next.removeValue(forKey: operation.kind) { return fault }
      return state.hidden > 0 && operation.kind == .read ? .delayed(batches: state.hidden) : nil
    }
  }
}

/// Something that may go wrong between the servers of a cluster and their log.
package enum ClusterFault: String, CaseIterable, Sendable {
  /// A node does not reach the log for a while.
  case cutLog
  /// The connection breaks around one operation: before it, after it, or while it is under way.
  case lostOutcome
  /// The log takes long to answer one node.
  case slowLog
  /// A node sees new batches late, or asks for them seldom.
  case slowTail
  /// A node stands still, often for longer than its lease lasts.
  case pausedNode
  /// A node's process is killed. Its copy is kept, kept without the newest batch, or lost.
  case killedNode
  /// A node ends in order, and another one leads.
  case handOver
  /// A leader is told to step down, and goes on as a node that follows.
  case stepDown
  /// Links between nodes break, now or behind some more frames.
  case cutNodes
  /// Links between nodes take long.
  case slowNodes
  /// A client takes nothing of what its node says for a while.
  case stalledReader

  /// True for faults of nodes that all serve clients.
  var isOfServingNodes: Bool {
    switch self {
    case .cutLog, .lostOutcome, .slowLog, .slowTail, .pausedNode, .killedNode, .handOver: false
    case .stepDown, .cutNodes, .slowNodes, .stalledReader: true
    }
  }
}
