import TernClient
import TernCore
package import TernServer
package import TernSharedLedger
import TernStorage
import TernSync
import TernTreeReplica

/// A whole world in one thread: clients, a server or several over a shared log, links and disks,
/// under one seed.
///
/// ```swift
/// let world = World(seed: 7, clients: 3, faults: [.droppedLink, .crash])
/// world.run(steps: 2_000)
/// world.heal()
/// assert(world.disagreements.isEmpty)
/// ```
///
/// It drives the machines that the actors of Client and Server drive. After every step what must
/// always hold is checked against a slow and obvious model; the first breach ends the run.
package final class SimulatedWorld {
  package let seed: UInt64
  let faults: Set<Fault>
  let clock = WorldClock()
  var chance: RandomSource
  var agenda = EventQueue()
  package internal(set) var trace = Trace()
  var model = ServerModel()

  var documents = DocumentModel()
  let results = QueryResults()

  /// The rules of the server's file.
  var rulesFile = RulesInForce.fixed
  /// The rule books that were written; none in a world whose rules never change.
  var books: [DocumentRuleBook] = []
  /// `true` if the database has rules of its own, which count more than those of the file.
  var hasStoredRules = false
  var lastTicket: UInt64 = 0
  /// The users whose tokens were revoked at some time.
  var revokedUsers: Set<QueueUser> = []

  var clients: [SimulatedClient] = []
  var documentClients: [SimulatedDocumentClient] = []
  let serverDisk: DisksOfServer
  let serverWall: WallClock
  let serverBits: BitSource
  var server: ServerRun?
  /// The servers that share a log; `nil` for one server by itself.
  let cluster: SimulatedCluster?
  let bug: PlantedBug?
  /// The time of day at the server's last start, for a planted bug.
  var lastServerTime = Int64.max
  var lastLink = 0
  var lastPush = 0
  var lastToken = 0
  /// The number of further users of each device since all faults ended.
  var visits = 0
  /// `true` once faults have ended and clients start no new operations.
  var isHealed = false

  /// `true` to keep every line of the trace, and not the last ones alone.
  package var keepsTrace: Bool {
    get { trace.limit == .max }
    set { trace.limit = newValue ? .max : Trace.usualLimit }
  }

  /// `true` to show every frame in the trace.
  package var showsFrames = false

  /// The violated expectations, in words.
  package internal(set) var disagreements: [String] = []
  /// Steps made so far.
  package private(set) var steps = 0

  /// Makes a world in which nothing has happened yet.
  ///
  /// - Parameters:
  ///   - clients: How many clients use the tree.
  ///   - documentClients: How many clients use documents.
  ///   - changesRules: `true` for a world in which documents have rule books that change, and
  ///     tokens are revoked.
  ///   - nodes: How many servers share a log; 1 for one server by itself.
  ///   - clusterFaults: What may go wrong between those servers and their log.
  ///   - serves: `true` for nodes that serve clients whichever of them leads.
  ///   - shards: The logs of the cluster, 1 or 2; with two, documents belong to the second one.
  ///   - bug: A mistake that the server makes on purpose.
  ///   - plantedFault: A mistake that the nodes make on purpose.
  ///   - serverFault: A mistake that the servers of nodes make on purpose.
  package init(
    seed: UInt64, clients count: Int, documentClients documentCount: Int = 0, faults: Set<Fault>,
    changesRules: Bool = false, nodes: Int = 1,
    clusterFaults: Set<ClusterFault> = Set(ClusterFault.allCases), serves: Bool = false,
    shards: Int = 1, bug: PlantedBug? = nil, plantedFault: PlantedFault? = nil,
    serverFault: PlantedServerFault? = nil
  ) {
    self.seed = seed
    self.bug = bug
    self.faults = faults
    chance = RandomSource(seed: seed)
    serverWall = WallClock(clock)
    serverBits = BitSource(seed: chance.next())
    serverDisk = DisksOfServer()
    for index in 0..<count {
      clients.append(SimulatedClient(index: index, clock: clock, seed: chance.next()))
    }
    for index in 0..<documentCount {
      documentClients.append(
        SimulatedDocumentClient(index: index, clock: clock, seed: chance.next()))
    }
    cluster =
      nodes > 1
      ? SimulatedCluster(
        nodes, clock: clock, chance: &chance, faults: clusterFaults, plantedFault: plantedFault,
        serverFault: serverFault, serves: serves, shards: shards)
      : nil
    if changesRules { beginRules() }
    perform {
      startServers()
      for index in clients.indices {
        startClient(index)
        plan(.clientActs(index), after: 0...500)
      }
      for index in documentClients.indices {
        startDocumentClient(index)
        plan(.documentClientActs(index), after: 0...500)
      }
      plan(.mishap, after: 500...2_000)
      if cluster != nil { plan(.clusterMishap, after: 2_000...6_000) }
      settle()
    }
  }

  deinit { cluster?.end() }

  /// The counts of the cluster's run; `nil` for one server by itself.
  package var clusterSummary: ClusterSummary? { cluster?.summary }

  /// Lets that many things happen, or fewer if something is wrong.
  package func run(steps count: Int) {
    let end = steps + count
    while steps < end, disagreements.isEmpty, step() {}
  }

  /// Ends all faults and all asking, and waits until nothing is left to do.
  ///
  /// All users of each device are there once, so that what they have written can be sent. What has
  /// not come to rest after that many steps is a disagreement.
  package func heal(within limit: Int = 20_000) {
    guard disagreements.isEmpty else { return }
    // Nodes at rest look at their log.
    let limit = cluster == nil ? limit : limit * 2
    isHealed = true
    trace.note("\(clock.now) heal")
    perform {
      repairEverything()
      settle()
    }
    let end = steps + limit
    // Long enough for every timer, so that half-open links are found out.
    var calm = clock.now + 300_000
    while steps < end, disagreements.isEmpty {
      if clock.now > calm, isAtRest {
        if !perform({ visitNextUsers() }) { break }
        // Long enough for the slowest link.
        calm = clock.now + 10_000
      }
      if !step() { break }
    }
    if disagreements.isEmpty, visits < WorkloadUsers.all.count {
      disagree("not everybody has come back after \(limit) steps: \(unrest)")
    }
    if disagreements.isEmpty, !isAtRest { disagree("no rest after \(limit) steps: \(unrest)") }
    if disagreements.isEmpty { compareEverything() }
  }

  @discardableResult
  private func step() -> Bool {
    guard let (time, event) = agenda.next() else { return false }
    steps += 1
    clock.move(to: max(time, clock.now))
    trace.note("\(time) \(event.words)")
    perform {
      if !isPutOff(event) { take(event) }
      settle()
    }
    return true
  }

  /// Does something, all tasks of which run in the world.
  private func perform<R>(_ body: () -> R) -> R { cluster?.executor.perform(body) ?? body() }

  func take(_ event: WorldEvent) {
    switch event {
    case .connect(let run, let number): connect(run, number)
    case .linkFailed(let run, let number):
      guard !run.isDead else { return }
      run.connectionEvent(.linkClosed(number))
      carryOut(run)
    case .linkOpened(let link): opened(link)
    case .arrivesAtServer(let link, let frames): arrivedAtServer(frames, over: link)
    case .arrivesAtClient(let link, let chunk): arrivedAtClient(chunk, over: link)
    case .serverSeesEnd(let link): serverLost(link)
    case .clientSeesEnd(let link): clientLost(link)
    case .serverDecides(let run): decide(run)
    case .serverTells(let run, let told): tell(told, run)
    case .serverTicks(let run): tick(run)
    case .serverStarts: startServer()
    case .queueWrites(let run): storeQueue(run)
    case .queueAnswers(let run, let answers): queueStored(answers, run)
    case .timer(let run, let timer, let generation): fired(timer, generation, run)
    case .documentTimer(let run, let timer, let generation): fired(timer, generation, run)
    case .clientActs(let index): act(index)
    case .documentClientActs(let index): actOnDocuments(index)
    case .clientStarts(let device): start(device)
    case .partitionEnds(let device): device.isPartitioned = false
    case .tokenArrives(let device, let token): tokenArrives(on: device, inPlaceOf: token)
    case .wakes(let device): wake(device)
    case .serverWakes(let process): wake(process)
    case .mishap: mishap()
    case .operatorActs: actAsOperator()
    case .nodeStarts(let node): startNode(node)
    case .nodeSteps(let process): step(process)
    case .nodeGate(let process, _, let id): pass(id, of: process)
    case .logHeals(let process): logHeals(process)
    case .clusterMishap: clusterMishap()
    case .nodeConnects(let process, let request, let start): connect(process, request, since: start)
    case .nodeConnected(let link, let request): connected(link, request)
    case .nodeRefused(let process, let request):
      if !process.isDead { request.finish(nil) }
    case .arrivesAtNode(let link, let toDialer, let message):
      arrived(message, over: link, atDialer: toDialer)
    case .nodeSeesEnd(let link, let atDialer, let end): sawEnd(of: link, atDialer: atDialer, end)
    case .readerGoesOn(let link): readerGoesOn(link)
    }
  }
}

extension SimulatedWorld {
  /// The devices of all clients.
  var devices: [SimulatedDevice] { clients + documentClients }

  func plan(_ event: WorldEvent, after delay: ClosedRange<Int64>) {
    agenda.add(event, at: clock.now + chance.within(delay))
  }

  func note(_ frames: [[UInt8]], _ direction: String) {
    for frame in frames {
      if showsFrames {
        trace.note("  \(direction) " + SimulatedWorld.frameWords(frame))
      } else {
        trace.add(frame)
      }
    }
  }

  func disagree(_ words: String) {
    disagreements.append("seed \(seed), step \(steps), \(clock.now) ms: \(words)")
    trace.note("DISAGREE \(words)")
  }

  /// `true` if every write is answered, every link is up and every listen is live.
  var isAtRest: Bool { unrest.isEmpty }

  /// The operations that are not at rest yet.
  var unrest: [String] {
    var unrest: [String] = server == nil ? ["no server"] : []
    if let cluster { unrest = self.unrest(of: cluster) }
    for client in clients {
      guard let run = client.run else {
        unrest.append("c\(client.index) is down")
        continue
      }
      if run.machine.connectionState != .online { unrest.append("c\(client.index) is offline") }
      let pending = run.machine.queueStatus.pending.count
      if pending > 0 { unrest.append("c\(client.index) has \(pending) pending writes") }
      if !run.transactions.isEmpty { unrest.append("c\(client.index) has transactions") }
      if !run.reads.isEmpty { unrest.append("c\(client.index) reads") }
      if !run.markers.isEmpty { unrest.append("c\(client.index) has deferred writes") }
      for view in Set(run.listeners.values.map(\.view) + run.kept)
      where run.machine.viewState(at: view.path, query: view.query)?.isLive != true {
        unrest.append("c\(client.index) waits for \(view.path)")
      }
    }
    for client in documentClients { unrest += self.unrest(of: client) }
    return unrest
  }
}
