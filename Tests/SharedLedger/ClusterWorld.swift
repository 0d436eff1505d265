import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorage
import TernStorageMemory
import TernTestKit

@testable import TernSharedLedger

/// Several nodes over one log, writers, and faults, in one task: the same seed gives the same run.
///
/// Nodes are killed and begin again with their copy or without, are cut off from the log, and stand
/// still in the middle of what they do while others go on, often for longer than a lease lasts.
/// Appends have unknown outcomes, and reach the log at once, late or never. The log answers late.
/// An operator asks leaders to step down.
actor ClusterWorld {
  private let clock = JumpingClock()
  private let memory: LogMemory
  private let defect: HookedLog.Defect?
  private let plantedFault: PlantedFault?
  private var chance: SeededGenerator
  private var nodes: [WorldNode] = []
  private var held: [HookedLog.HeldAppend] = []
  private var run = 0
  private var model = WorldModel()
  private var depth = 0
  private var rest = 0
  private var isHealed = false

  private static let writers = 4
  private static let shard = ShardID(0)

  init(seed: UInt64, defect: HookedLog.Defect? = nil, plantedFault: PlantedFault? = nil) {
    chance = SeededGenerator(seed: seed)
    self.defect = defect
    self.plantedFault = plantedFault
    let clock = clock
    memory = LogMemory(clock: clock) { clock.milliseconds }
  }

  /// Lets so many things happen, then heals everything.
  ///
  /// - Returns: The promises that were broken; none if all is well. And what was done, for tests
  ///   that want to see that something was.
  func play(steps: Int) async -> (violations: [String], summary: WorldSummary) {
    rest = steps
    clock.whileSleeping = { [weak self] in await self?.interfere(with: "", odds: 3) }
    for _ in 0..<3 { nodes.append(start(on: FaultyDisk())) }
    while rest > 0, model.violations.isEmpty { await act() }
    if model.violations.isEmpty { await heal() }
    if model.violations.isEmpty { compareCopies() }
    if model.violations.isEmpty { await handOver() }
    clock.whileSleeping = nil
    return (model.violations, model.summary)
  }

  private func start(on disk: FaultyDisk) -> WorldNode {
    run += 1
    let name = "run\(run)"
    let faults = WorldFaults(seed: chance.next())
    let log = HookedLog(memory.node(name) { faults.next($0) }, defect: defect)
    var options = SharedLedgerOptions(node: name, address: name)
    options.checkpointBatches = 4
    options.checkpointInterval = .seconds(5)
    options.retention = LogRetention(batches: 6, age: .zero)
    options.partBytes = 300
    options.rowsPerPage = 3
    options.plantedFault = plantedFault
    let bits = Mutex(SeededGenerator(seed: chance.next()))
    let offset = Int64(chance.roll(1_000_000))
    let clock = clock
    let ledger = SharedLedger(
      log: log, store: disk.open(), options: options,
      environment: NodeEnvironment(
        clock: clock, uptime: { clock.milliseconds + offset },
        randomBits: { bits.withLock { $0.next() } }))
    log.onAppended { [weak self] epoch in
      // On the actor: every operation of the world runs there.
      self?.assumeIsolated { $0.model.noteAppend(in: epoch, by: name) }
    }
    log.onHold { [weak self] append in
      self?.assumeIsolated { $0.hold(append) } ?? false
    }
    log.onAppend(
      before: { [weak self] in await self?.interfere(with: name, isAppend: true) },
      after: { [weak self] in await self?.interfere(with: name, isAppend: true) })
    log.onLease { [weak self] in await self?.interfere(with: name) }
    log.onCheckpoint { [weak self] in await self?.interfere(with: name) }
    log.onPage { [weak self] in await self?.readPage(name) }
    return WorldNode(disk: disk, ledger: ledger, faults: faults, name: name)
  }

  // MARK: - What happens meanwhile

  /// Lets others go on while a node stands in the middle of something, or waits for the log.
  private func interfere(with name: String, isAppend: Bool = false, odds: Int = 8) async {
    collect()
    // Rarer while others act in the middle of something: they have to come to an end.
    guard !isHealed, depth < 3, chance.roll(odds << depth) == 0 else { return }
    depth += 1
    let index = nodes.firstIndex { $0.name == name }
    // A node that waits for an append goes on renewing its lease; one that stands still does not.
    let isWaiting = isAppend && chance.roll(3) == 0
    if isWaiting, let index { nodes[index].isWaiting = true }
    // The others meet a full disk behind a part of a batch.
    if isAppend, chance.roll(4) == 0 { nodes[chance.roll(nodes.count)].disk.fill() }
    // Often longer than a lease lasts.
    let count = chance.roll(2) == 0 ? 30 + chance.roll(40) : chance.roll(12)
    for _ in 0..<count where rest > 0 && model.violations.isEmpty { await act() }
    if isWaiting, let index, nodes[index].name == name { nodes[index].isWaiting = false }
    depth -= 1
  }

  private func readPage(_ name: String) async {
    var tables = memory.tables
    if let index = nodes.firstIndex(where: { $0.name == name }) {
      nodes[index].consistentFrom = tables.open(Self.shard).mark.number
    }
    await interfere(with: name, odds: 3)
  }

  /// Keeps an append now and then, to perform it later, in the same term or in another.
  private func hold(_ append: HookedLog.HeldAppend) -> Bool {
    guard !isHealed, chance.roll(25) == 0 else { return false }
    held.append(append)
    return true
  }

  /// Performs an append that was held, in any order.
  private func performHeld() async {
    guard !held.isEmpty else { return }
    let append = held.remove(at: chance.roll(held.count))
    let log = memory.node("late")
    do throws(CommitLogError) {
      _ = try await log.append(
        append.draft, to: append.shard, after: append.position, epoch: append.epoch)
    } catch {
      model.violations.append("an append that was held failed: \(error)")
    }
  }

  private func act() async {
    rest -= 1
    clock.advance(by: .milliseconds(5 + chance.roll(200)))
    let index = chance.roll(nodes.count)
    switch chance.roll(100) {
    case 0..<44: await step(index)
    case 44..<70: await write(at: index)
    case 70..<80: await read(at: index)
    case 80..<82: nodes[index].faults.isCut = true
    case 82: await restart(index)
    case 83..<85: nodes[index].pausedUntil = clock.milliseconds + Int64(chance.roll(8_000))
    case 85: memory.performPending()
    case 86..<88: nodes[index].disk.fill()
    case 88..<91: await performHeld()
    case 91: await askLeader()
    default: clock.advance(by: .milliseconds(chance.roll(1_500)))
    }
    collect()
  }

  private func isUsable(_ index: Int) -> Bool {
    !nodes[index].isBusy && nodes[index].pausedUntil <= clock.milliseconds
  }

  /// Runs an operation of a node that is not busy. The node may be another one behind it.
  private func occupy(_ index: Int, _ body: (SharedLedger) async -> Void) async {
    let (name, wasBusy) = (nodes[index].name, nodes[index].isBusy)
    nodes[index].isBusy = true
    await body(nodes[index].ledger)
    guard nodes[index].name == name else { return }
    nodes[index].isBusy = wasBusy
    collect()
    if !wasBusy { nodes[index].compareCopy(with: &model) }
  }

  private func step(_ index: Int) async {
    // A leader keeps its lease while an append is under way: that alone needs no turn.
    let isUpkeep = nodes[index].isWaiting && nodes[index].ledger.standing.isLeading
    guard isUsable(index) || isUpkeep else { return }
    if chance.roll(8) == 0 { nodes[index].disk.free() }
    if chance.roll(6) == 0 { nodes[index].faults.isCut = false }
    nodes[index].isWaiting = false
    let name = nodes[index].name
    let isTalkative = !isHealed && !isUpkeep && chance.roll(4) == 0
    await occupy(index) { ledger in
      _ = await ledger.step()
      if isTalkative { await announce(through: ledger) }
    }
    guard nodes[index].name == name else { return }
    if isUpkeep {
      nodes[index].isWaiting = true
    } else {
      await serve(index)
    }
  }

  /// Begins a term where a node was elected, and reads what its clients would.
  private func serve(_ index: Int) async {
    if nodes[index].ledger.isElected {
      do throws(LedgerError) { try await nodes[index].ledger.beginTerm() } catch { return }
      model.summary.terms += 1
    }
    if chance.roll(3) == 0 { await read(at: index) }
  }

  private func write(at index: Int) async {
    let writer = chance.roll(Self.writers)
    guard isUsable(index), nodes[index].ledger.standing.isLeading, !model.busy.contains(writer)
    else { return }
    model.busy.insert(writer)
    defer { model.busy.remove(writer) }
    let name = nodes[index].name
    let count = 1 + chance.roll(3)
    let size = chance.roll(4) == 0 ? 500 : 3
    let isGroup = chance.roll(2) == 0
    let commits = (0..<UInt64(count)).map { model.write(of: writer, behind: $0, size: size) }
    await occupy(index) { ledger in
      do throws(LedgerError) {
        let results: [CommitResult]
        if isGroup {
          results = try await ledger.commit(commits)
        } else {
          results = try await ledger.decide { _ throws(StorageError) in
            Decision(commits, keeping: ())
          }.results
        }
        collect()
        model.receive(results, for: commits, by: writer)
      } catch {
        model.summary.failures += 1
      }
    }
    if nodes[index].name == name, chance.roll(3) == 0 { await read(at: index) }
  }

  /// Reads through a leader: it never answers with less than was acknowledged before.
  private func read(at index: Int) async {
    guard isUsable(index), nodes[index].ledger.standing.isLeading else { return }
    let (known, name) = (model.newest, nodes[index].name)
    await occupy(index) { ledger in
      do throws(LedgerError) {
        let version = try await ledger.decide { snapshot throws(StorageError) in
          Decision([], keeping: snapshot.version)
        }.kept
        model.summary.reads += 1
        if version < known {
          model.violations.append(
            "\(name) reads version \(version) after \(known) was acknowledged")
        }
      } catch {
        model.summary.failures += 1
      }
    }
  }

  /// Kills a node, or ends it in order, and starts it again, at once or later.
  private func restart(_ index: Int) async {
    model.summary.restarts += 1
    if chance.roll(4) == 0, isUsable(index) {
      let name = nodes[index].name
      await occupy(index) { await $0.close() }
      guard nodes[index].name == name else { return }
    }
    let disk = chance.roll(4) == 0 ? FaultyDisk() : nodes[index].disk
    disk.free()
    let old = nodes[index]
    nodes[index] = start(on: disk)
    nodes[index].consistentFrom = old.consistentFrom
    if chance.roll(2) == 0 {
      nodes[index].pausedUntil = clock.milliseconds + Int64(chance.roll(10_000))
    }
    // What the killed node has under way reaches the log or does not; it never hears of it.
    old.faults.isCut = true
  }

  private func announce(through ledger: SharedLedger) async {
    let isLeading = ledger.standing.isLeading
    await NodeDuties(ledger: ledger).announce()
    if isLeading, ledger.standing.reason.contains("step down") { model.summary.handOvers += 1 }
  }

  /// Asks the leader to step down, as an operator does.
  private func askLeader() async {
    let log = memory.node("operator")
    do throws(CommitLogError) {
      let view = try await ClusterView(of: Self.shard, in: log)
      try await view.askLeaderToStepDown(of: Self.shard, in: log, as: "operator")
    } catch {
      model.violations.append("the operator cannot ask: \(error)")
    }
  }

  // MARK: - The end

  /// Ends all faults: everything is acknowledged, and all copies are current, before long.
  private func heal() async {
    memory.performPending()
    while !held.isEmpty { await performHeld() }
    isHealed = true
    for index in nodes.indices {
      nodes[index].faults.heal()
      nodes[index].pausedUntil = 0
      nodes[index].disk.free()
    }
    for round in 0..<600 {
      clock.advance(by: .milliseconds(100))
      for index in nodes.indices {
        await step(index)
        if round > 100 { await finish(at: index) }
      }
      collect()
      if !model.violations.isEmpty || round > 120 && isAtRest { break }
    }
    for writer in 0..<Self.writers where model.pending(of: writer) > 0 {
      model.violations.append("writer \(writer) got no answer after all was healed")
    }
    for node in nodes where node.ledger.standing.lag > 0 {
      model.violations.append("\(node.name) is \(node.ledger.standing)")
    }
  }

  /// True when every write is acknowledged, a node leads, and the others have all that it has.
  private var isAtRest: Bool {
    (0..<Self.writers).allSatisfy { model.pending(of: $0) == 0 }
      && nodes.contains { $0.ledger.standing.isLeading }
      && nodes.allSatisfy { $0.ledger.standing.position == model.position }
  }

  /// Sends again what is not acknowledged.
  private func finish(at index: Int) async {
    guard nodes[index].ledger.standing.isLeading else { return }
    for writer in 0..<Self.writers where model.pending(of: writer) > 0 {
      let commits = (0..<model.pending(of: writer)).map {
        model.write(of: writer, behind: UInt64($0), size: 3)
      }
      do throws(LedgerError) {
        let results = try await nodes[index].ledger.commit(commits)
        collect()
        model.receive(results, for: commits, by: writer)
      } catch {
        model.summary.failures += 1
      }
    }
  }

  /// Ends the leader in order: another node leads before the lease would have expired.
  private func handOver() async {
    guard let index = nodes.firstIndex(where: { $0.ledger.standing.isLeading }) else {
      return model.violations.append("no node leads after all was healed")
    }
    await nodes[index].ledger.close()
    nodes.remove(at: index)
    for _ in 0..<20 {
      clock.advance(by: .milliseconds(100))
      for index in nodes.indices { await step(index) }
      if nodes.contains(where: { $0.ledger.standing.isLeading }) { return }
    }
    model.violations.append("no node leads 2 s after the leader has ended in order")
  }

  /// Takes note of what is new in the log, before it may be cut.
  private func collect() {
    do throws(CommitLogError) {
      guard memory.tables.openShards.contains(Self.shard) else { return }
      model.add(
        try memory.tables.batches(
          in: Self.shard, after: LogPosition(model.position), limit: .max))
    } catch {
      model.violations.append("the log was cut before it was looked at: \(error)")
    }
  }

  /// Compares all copies with the end of the log.
  private func compareCopies() {
    for index in nodes.indices {
      nodes[index].compared = nil
      nodes[index].compareCopy(with: &model)
      if nodes[index].compared?.position != model.position {
        model.violations.append("\(nodes[index].name) ends without the newest batch")
      }
    }
  }
}
