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
/// Nodes are killed and begin again with their copy or without, are cut off from the log, stand
/// still in the middle of an append while others go on, and meet appends whose outcome is unknown.
actor ClusterWorld {
  /// A node over its runs.
  private struct Node {
    var disk = FaultyDisk()
    var ledger: SharedLedger
    var faults: WorldFaults
    var name: String
    var isServing = false
    /// The time until which it stands still.
    var pausedUntil: Int64 = 0
    /// True while an operation of it is under way.
    var isBusy = false
  }

  private let clock = JumpingClock()
  private let memory: LogMemory
  private let defect: HookedLog.Defect?
  private var chance: SeededGenerator
  private var nodes: [Node] = []
  private var run = 0
  private var model = WorldModel()
  private var depth = 0
  private var isHealed = false

  private static let writers = 4

  init(seed: UInt64, defect: HookedLog.Defect? = nil) {
    chance = SeededGenerator(seed: seed)
    self.defect = defect
    let clock = clock
    memory = LogMemory(clock: clock) { clock.milliseconds }
  }

  /// Plays so many steps, then heals everything.
  ///
  /// - Returns: The promises that were broken; none if all is well. And what was done, for tests
  ///   that want to see that something was.
  func play(steps: Int) async -> (violations: [String], summary: WorldSummary) {
    for _ in 0..<3 { nodes.append(start(on: FaultyDisk())) }
    for _ in 0..<steps {
      await act()
      if !model.violations.isEmpty { break }
    }
    if model.violations.isEmpty { await heal() }
    if model.violations.isEmpty { await compareCopies() }
    return (model.violations, model.summary)
  }

  private func start(on disk: FaultyDisk) -> Node {
    run += 1
    let (name, number) = ("run\(run)", run)
    let faults = WorldFaults(seed: chance.next())
    let log = HookedLog(memory.node(name) { faults.next($0) }, defect: defect)
    var options = SharedLedgerOptions(node: name, address: name)
    options.checkpointBatches = 4
    options.checkpointInterval = .seconds(5)
    options.retention = LogRetention(batches: 6, age: .zero)
    options.partBytes = 300
    options.rowsPerPage = 3
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
    log.onAppend(
      before: { [weak self] in await self?.interfere(with: number) },
      after: { [weak self] in await self?.interfere(with: number) })
    log.onPage { [weak self] in await self?.interfere(with: number) }
    return Node(disk: disk, ledger: ledger, faults: faults, name: name)
  }

  /// Lets others go on while a node stands in the middle of an append, or of reading a checkpoint.
  private func interfere(with number: Int) async {
    collect()
    guard !isHealed, depth < 3, chance.roll(8) == 0 else { return }
    depth += 1
    // Often longer than a lease lasts.
    for _ in 0..<chance.roll(40) { await act() }
    depth -= 1
  }

  private func act() async {
    clock.advance(by: .milliseconds(5 + chance.roll(200)))
    let index = chance.roll(nodes.count)
    let kind = chance.roll(100)
    switch kind {
    case 0..<45: await step(index)
    case 45..<75: await write(at: index)
    case 75..<85: await read(at: index)
    case 85..<88: nodes[index].faults.isCut.toggle()
    case 88..<90: if nodes[index].faults.isCut { nodes[index].faults.isCut = false }
    case 90..<92: await restart(index)
    case 92..<94: nodes[index].pausedUntil = clock.milliseconds + Int64(chance.roll(8_000))
    case 94..<95: memory.performPending()
    case 95..<96: fillDisk(of: index)
    default: clock.advance(by: .milliseconds(chance.roll(1_500)))
    }
    collect()
  }

  private func isUsable(_ index: Int) -> Bool {
    !nodes[index].isBusy && nodes[index].pausedUntil <= clock.milliseconds
  }

  private func step(_ index: Int) async {
    guard isUsable(index) else { return }
    nodes[index].isBusy = true
    let name = nodes[index].name
    _ = await nodes[index].ledger.step()
    guard nodes[index].name == name else { return }
    nodes[index].isBusy = false
    await serve(index)
  }

  /// Begins a term where a node was elected.
  private func serve(_ index: Int) async {
    if nodes[index].ledger.isElected {
      do throws(LedgerError) { try await nodes[index].ledger.beginTerm() } catch { return }
      model.summary.terms += 1
    }
  }

  private func write(at index: Int) async {
    let writer = chance.roll(Self.writers)
    guard isUsable(index), nodes[index].ledger.standing.isLeading, !model.busy.contains(writer)
    else { return }
    model.busy.insert(writer)
    nodes[index].isBusy = true
    defer { model.busy.remove(writer) }
    let (name, ledger) = (nodes[index].name, nodes[index].ledger)
    let count = 1 + chance.roll(3)
    let size = chance.roll(12) == 0 ? 500 : 3
    let commits = (0..<UInt64(count)).map { model.write(of: writer, behind: $0, size: size) }
    do throws(LedgerError) {
      let results: [CommitResult]
      if chance.roll(2) == 0 {
        results = try await ledger.commit(commits)
      } else {
        results = try await ledger.decide { _ throws(StorageError) in
          Decision(commits, keeping: ())
        }.results
      }
      model.receive(results, for: commits, by: writer)
    } catch {
      model.summary.failures += 1
    }
    if nodes[index].name == name { nodes[index].isBusy = false }
  }

  /// Reads through a leader: it never answers with less than was acknowledged before.
  private func read(at index: Int) async {
    guard isUsable(index), nodes[index].ledger.standing.isLeading else { return }
    let known = model.newest
    nodes[index].isBusy = true
    let name = nodes[index].name
    do throws(LedgerError) {
      let version = try await nodes[index].ledger.decide { snapshot throws(StorageError) in
        Decision([], keeping: snapshot.version)
      }.kept
      model.summary.reads += 1
      if version < known {
        model.violations.append("\(name) reads version \(version) after \(known) was acknowledged")
      }
    } catch {
      model.summary.failures += 1
    }
    if nodes[index].name == name { nodes[index].isBusy = false }
  }

  /// Kills a node, or ends it in order, and starts it again.
  private func restart(_ index: Int) async {
    model.summary.restarts += 1
    var disk = nodes[index].disk
    if chance.roll(4) == 0, isUsable(index) {
      nodes[index].isBusy = true
      await nodes[index].ledger.close()
    }
    if chance.roll(4) == 0 { disk = FaultyDisk() }
    disk.free()
    let old = nodes[index]
    nodes[index] = start(on: disk)
    // What the killed node has under way reaches the log or does not; it never hears of it.
    old.faults.isCut = true
  }

  private func fillDisk(of index: Int) {
    if chance.roll(2) == 0 { nodes[index].disk.fill() } else { nodes[index].disk.free() }
  }

  // MARK: - The end

  /// Ends all faults: everything is acknowledged, and all copies are current, before long.
  private func heal() async {
    memory.performPending()
    isHealed = true
    for index in nodes.indices {
      nodes[index].faults.heal()
      nodes[index].pausedUntil = 0
      nodes[index].isBusy = false
      nodes[index].disk.free()
    }
    for round in 0..<600 {
      clock.advance(by: .milliseconds(100))
      for index in nodes.indices {
        await step(index)
        if round > 100 { await finish(at: index) }
      }
      collect()
    }
    for writer in 0..<Self.writers where model.pending(of: writer) > 0 {
      model.violations.append("writer \(writer) got no answer after all was healed")
    }
    for node in nodes where node.ledger.standing.lag > 0 {
      model.violations.append("\(node.name) is \(node.ledger.standing)")
    }
  }

  /// Sends again what is not acknowledged.
  private func finish(at index: Int) async {
    guard nodes[index].ledger.standing.isLeading else { return }
    for writer in 0..<Self.writers where model.pending(of: writer) > 0 {
      let commits = (0..<model.pending(of: writer)).map {
        model.write(of: writer, behind: UInt64($0), size: 3)
      }
      do throws(LedgerError) {
        model.receive(try await nodes[index].ledger.commit(commits), for: commits, by: writer)
      } catch {
        model.summary.failures += 1
      }
    }
  }

  /// Takes note of what is new in the log, before it may be cut.
  private func collect() {
    do throws(CommitLogError) {
      guard memory.tables.openShards.contains(ShardID(0)) else { return }
      model.add(
        try memory.tables.batches(
          in: ShardID(0), after: LogPosition(model.position), limit: .max))
    } catch {
      model.violations.append("the log was cut before it was looked at: \(error)")
    }
  }

  private func compareCopies() async {
    let expected = model.rows
    for node in nodes {
      do throws(LedgerError) {
        let (version, rows) = try await node.ledger.read { snapshot throws(StorageError) in
          let range = KeyRange(from: [LedgerLimits.firstOwnByte])
          return (snapshot.version, try snapshot.scan(range))
        }
        if version != model.version || rows != expected {
          model.violations.append(
            "\(node.name) has \(rows.count) rows at \(version), the log \(expected.count) at "
              + "\(model.version)")
        }
      } catch {
        model.violations.append("\(node.name) cannot be read: \(error)")
      }
    }
    model.finish()
  }
}

/// The counts of a run.
struct WorldSummary: Equatable, Sendable {
  var acknowledged = 0
  var failures = 0
  var terms = 0
  var reads = 0
  var restarts = 0
  var batches = 0
}

/// The faults of one node's connection: chosen by chance, until they are healed.
final class WorldFaults: Sendable {
  private struct State {
    var chance: SeededGenerator
    var isCut = false
    var isHealed = false
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(chance: SeededGenerator(seed: seed))) }

  var isCut: Bool {
    get { state.withLock { $0.isCut } }
    set { state.withLock { $0.isCut = newValue } }
  }

  func heal() {
    state.withLock { ($0.isCut, $0.isHealed) = (false, true) }
  }

  func next(_ operation: LogOperation) -> LogFault? {
    state.withLock { state in
      if state.isCut { return .cut }
      if state.isHealed { return nil }
      switch state.chance.roll(60) {
      case 0: return .cut
      case 1: return .lostBefore
      case 2: return .lostAfter
      case 3: return .lostUnderway
      case 4: return .delayed(batches: UInt64(1 + state.chance.roll(3)))
      default: return nil
      }
    }
  }
}
