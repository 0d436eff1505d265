import TernCommitLog
import TernCore
import TernLedger
import TernLogMemory
import TernServer
import TernSharedLedger
import TernTreeWire

/// Several servers over one shared log, as a world sees them.
final class SimulatedCluster {
  let executor = WorldExecutor()
  let memory: LogMemory
  let nodes: [ClusterNode]
  let faults: Set<ClusterFault>
  let plantedFault: PlantedFault?
  let serverFault: PlantedServerFault?
  /// True when every node serves clients, and not the one alone that leads.
  let serves: Bool
  /// The shards of the databases: with two, that of documents belongs to the second one.
  let table: ShardTable
  /// Processes that were killed, with requests on their way to the log.
  var dying: [NodeProcess] = []
  /// Processes that are no more, whose tasks are left.
  var dead: [NodeProcess] = []
  /// By shard.
  var logs: [SharedLogModel]
  /// All links of clients that a node has accepted, by their numbers.
  var clientLinks: [Int: SimulatedLink] = [:]
  /// The processes between which links break until some time.
  private var partition: (nodes: Set<Int>, end: Int64) = ([], 0)
  private let clock: WorldClock
  /// The link over which each numbered write came last.
  var senders: [CommitID: SimulatedLink] = [:]
  /// The newest write of each client that a link between nodes has carried, for a planted bug.
  var lastWrites: [String: (link: Int, write: TreeClientMessage)] = [:]
  var runs = 0
  var comparisons = 0
  var summary = ClusterSummary()

  init(
    _ count: Int, clock: WorldClock, chance: inout RandomSource, faults: Set<ClusterFault>,
    plantedFault: PlantedFault?, serverFault: PlantedServerFault?, serves: Bool, shards: Int
  ) {
    self.serverFault = serverFault
    self.faults = serves ? faults : faults.filter { !$0.isOfServingNodes }
    self.plantedFault = plantedFault
    self.serves = serves
    self.clock = clock
    table = Self.table(of: shards)
    logs = Array(repeating: SharedLogModel(), count: shards)
    let gate = NodeGate(seed: chance.next())
    memory = LogMemory(clock: PacedClock(clock: clock, gate: gate)) { clock.now }
    var nodes: [ClusterNode] = []
    for index in 0..<count {
      nodes.append(
        ClusterNode(index: index, shard: index % shards, clock: clock, seed: chance.next()))
    }
    self.nodes = nodes
  }

  private static func table(of shards: Int) -> ShardTable {
    if shards == 1 { return ShardTable() }
    do throws(ShardTableError) {
      return try ShardTable([1: [DocumentWorkloadSpace.database.resourceName]])
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The number of the shard of a client's database.
  func shard(of client: any ClientProcess) -> Int { client is ClientRun ? 0 : logs.count - 1 }

  /// Keeps some of the nodes apart from all others until a time.
  func keepApart(_ nodes: Set<Int>, until end: Int64) { partition = (nodes, end) }

  /// True while links between two nodes cannot be opened.
  func areApart(_ first: NodeProcess, _ second: NodeProcess) -> Bool {
    guard clock.now < partition.end else { return false }
    return partition.nodes.contains(first.node.index)
      != partition.nodes.contains(second.node.index)
  }

  /// The processes that run, in the order of their nodes.
  var running: [NodeProcess] { nodes.compactMap(\.process) }

  /// The processes that take clients as leaders. A leader that does not know yet that another one
  /// leads is among them.
  var serving: [NodeProcess] { running.filter(\.isLeading) }

  /// The name of the process that has the lease, as the log says.
  var leader: String? {
    var tables = memory.tables
    return tables.open(ShardID(0)).leader?.node
  }

  /// Ends all tasks, so that nothing of the world outlives it.
  func end() {
    let all = running + dying + dead
    executor.perform {
      for process in all {
        process.kill()
        process.host?.stop(process.ledger, on: executor)
      }
      executor.runUntilIdle()
      for process in all {
        process.gate.endAll()
        process.host?.end()
      }
      executor.runUntilIdle()
    }
  }
}

/// The counts of a cluster's run: a world in which nothing happens proves nothing.
package struct ClusterSummary: Hashable, Sendable {
  /// The terms in which a server took clients.
  package var terms = 0
  /// The processes that were killed.
  package var kills = 0
  /// The copies that were compared with the log.
  package var comparisons = 0
  /// The batches of the log.
  package var batches = 0
  /// The batches that failed, whose clients have to ask again.
  package var failures = 0
  /// The times that a node began to serve clients while another one led.
  package var followings = 0
  /// The links that nodes opened to each other for their clients.
  package var relays = 0
  /// The frames that came over those.
  package var relayedFrames = 0
  /// The readers that stalled until much waited for them.
  package var drains = 0
  /// The messages of other nodes that waited because a node did not read.
  package var heldMessages = 0
  /// The position from which the log can still be read.
  package var oldest: UInt64 = 0
}

/// The expected state of a shared log: every batch that was ever in it, and who appended it.
struct SharedLogModel {
  private(set) var position: UInt64 = 0
  private(set) var version: Version = 0
  private var epoch = LogEpoch.none
  private var assembler = BatchAssembler()
  /// The identifier of each batch and the version behind it, by position.
  private var batches: [(id: UInt128, version: Version)] = [(0, 0)]
  private var leaders: [LogEpoch: String] = [:]

  /// The identifier of the batch at a position, and the version of the state there.
  func batch(at position: UInt64) -> (id: UInt128, version: Version)? {
    position < UInt64(batches.count) ? batches[Int(position)] : nil
  }

  /// Takes in the next batch.
  ///
  /// - Returns: The commits that it completes, and what is wrong with it.
  mutating func add(_ batch: LogBatch) -> (entries: [LogEntry], wrong: [String]) {
    var (entries, wrong): ([LogEntry], [String]) = ([], [])
    if batch.position.number != position + 1 {
      wrong.append("the log goes from \(position) to \(batch.position)")
    }
    if batch.epoch < epoch { wrong.append("epoch \(batch.epoch) appends after \(epoch)") }
    (position, epoch) = (batch.position.number, batch.epoch)
    do throws(LedgerError) {
      if let whole = try assembler.add(batch) {
        if whole.versionBefore != version {
          wrong.append("batch \(position) follows on v\(whole.versionBefore), not on v\(version)")
        }
        for commit in whole.commits where !commit.isOutcomeOnly {
          version += 1
          entries.append(LogEntry(version: version, id: commit.claim?.id, record: commit.record))
        }
      }
    } catch {
      wrong.append("batch \(position) cannot be read: \(error)")
    }
    batches.append((batch.id, version))
    return (entries, wrong)
  }

  /// Takes in what the log has told a node of its append.
  mutating func confirm(_ append: PacedLog.Confirmation, to node: String) -> [String] {
    var wrong: [String] = []
    if let other = leaders[append.epoch], other != node {
      wrong.append("\(other) and \(node) both append in epoch \(append.epoch)")
    }
    leaders[append.epoch] = node
    if batch(at: append.position.number)?.id != append.id {
      wrong.append("\(node) was told that it has position \(append.position), which it has not")
    }
    return wrong
  }
}
