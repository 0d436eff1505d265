import TernCommitLog
import TernLedger
import TernLogMemory
import TernServer
import TernSharedLedger
import TernTestKit

// Servers over a shared log: their processes, terms and batches.

extension SimulatedWorld {
  /// Starts a node's process over what its disk holds.
  func startNode(_ node: ClusterNode) {
    guard let cluster, node.process == nil else { return }
    cluster.runs += 1
    let process = NodeProcess(
      node: node, name: "n\(node.index).\(cluster.runs)", seeds: (chance.next(), chance.next()),
      of: cluster, clock: clock, uptimeOffset: setClocks(of: node))
    trace.note("\(process.name) starts")
    node.process = process
    if isHealed { process.gate.hurry() }
    if cluster.serves {
      startServer(of: process, cluster)
    } else {
      process.followTerms(on: cluster.executor)
    }
    plan(.nodeSteps(process), after: 0...50)
  }

  /// Sets the clocks of a node that starts, as those of a single server are set.
  private func setClocks(of node: ClusterNode) -> Int64 {
    guard faults.contains(.wrongClock) else { return Int64(node.index) * 1_000_000 }
    let years: Int64 = 10 * 365 * 86_400_000
    node.wall.jump(
      to: chance.happens(0.2) ? 0 : chance.within(-years...years),
      pace: chance.pick([1, 1, 0, -1]) ?? 1)
    return chance.happens(0.5) ? -clock.now : chance.within(0...years)
  }

  /// Lets all tasks of all nodes go on until they wait for something that takes time.
  func settle() {
    guard let cluster else { return }
    var isIdle = false
    while !isIdle, disagreements.isEmpty {
      isIdle = !cluster.executor.runUntilIdle()
      followLog(cluster)
      for process in cluster.running + cluster.dying {
        for (id, wait) in process.gate.takeArrivals() { schedule(wait, id, process) }
        for message in process.takeMessages() where !process.isDead {
          isIdle = false
          receive(message, from: process, cluster)
        }
        guard !process.isDead, let host = process.host else { continue }
        for entry in host.output.takeAll() where !process.isDead {
          isIdle = false
          receive(entry, from: process, cluster)
        }
      }
    }
  }

  private func schedule(_ wait: NodeGate.Wait, _ id: Int, _ process: NodeProcess) {
    let delay: ClosedRange<Int64> =
      switch wait {
      case .sleep(let milliseconds): milliseconds...milliseconds
      case .turn: 1...1
      case .request, .answer:
        if isHealed { 0...1 } else { process.isLogSlow ? 20...4_000 : 0...4 }
      }
    plan(.nodeGate(process, wait, id), after: delay)
  }

  /// An operation reaches the log, or its answer the node, or a sleep is over.
  func pass(_ id: Int, of process: NodeProcess) {
    // What a process that died has sent arrives, or does not.
    process.gate.open(id, happens: !process.isDead || chance.happens(0.5))
    guard process.isDead, process.gate.isIdle, let cluster else { return }
    cluster.dying.removeAll { $0 === process }
    if process.host != nil { cluster.dead.append(process) }
  }

  func step(_ process: NodeProcess) {
    guard let cluster, !process.isDead, !process.isEnding else { return }
    process.step(on: cluster.executor)
  }

  private func receive(
    _ message: NodeProcess.Message, from process: NodeProcess, _ cluster: SimulatedCluster
  ) {
    switch message {
    case .stepped(let pause):
      checkCopy(of: process, cluster)
      let rest = Int64(pause / .milliseconds(1))
      let most = process.isSlow ? 3_000 : process.isLeading ? rest : min(rest, 250)
      plan(.nodeSteps(process), after: rest == 0 ? 0...1 : min(10, most)...most)
    case .termBegan:
      if process.decisions > 0 {
        process.isTermWaiting = true
      } else {
        beginTerm(of: process, cluster)
      }
    case .termEnded(let reason):
      process.isTermWaiting = false
      standBy(process, reason)
    case .failed(let error): if !process.isEnding { kill(process, because: "\(error)") }
    case .decided(let run, let inputs, let result):
      process.decisions -= 1
      run.giveBackSlots(of: inputs)
      if !run.isOver { decided(result, run, process, cluster) }
      if process.isTermWaiting, process.decisions == 0 {
        process.isTermWaiting = false
        beginTerm(of: process, cluster)
      }
    case .closed: kill(process, because: "it has ended in order")
    }
  }

  // MARK: Terms

  private func beginTerm(of process: NodeProcess, _ cluster: SimulatedCluster) {
    guard !process.isEnding, let copy = process.ledger.copy else { return }
    trace.note("\(process.name) leads at v\(log(of: copy))")
    let run = ServerRun(
      of: process, over: copy, bits: process.node.bits,
      documentAuthorizer: authorizer(of: rulesFile))
    do throws(LedgerError) { try run.restore(now: clock.now) } catch {
      return kill(process, because: "\(error)")
    }
    process.server = run
    cluster.summary.terms += 1
    checkCopy(of: process, cluster)
    // Another node may have taken over before this one came so far; no client is served then.
    if cluster.leader == process.name { checkWriters(copy) }
    plan(.serverTicks(run), after: 5_000...5_000)
  }

  private func log(of copy: EmbeddedLedger) -> String {
    let version: Version? = try? copy.read { $0.version }
    return version.map(String.init) ?? "?"
  }

  /// A node leads no more: its clients go elsewhere.
  func standBy(_ process: NodeProcess, _ reason: String) {
    guard let run = process.server else { return }
    trace.note("\(process.name) stands by: \(reason)")
    process.server = nil
    run.isOver = true
    for link in run.links.values.sorted(by: { $0.id < $1.id }) { close(link) }
  }

  /// A batch is in the log and in the copy, or neither is promised.
  private func decided(
    _ result: Result<Told, LedgerError>, _ run: ServerRun, _ process: NodeProcess,
    _ cluster: SimulatedCluster
  ) {
    switch result {
    case .success(let told):
      let version = cluster.logs[0].version
      if told.after > version {
        disagree("\(process.name) has v\(told.after), the log ends at v\(version)")
      }
      checkCopy(of: process, cluster)
      if !isHealed, chance.happens(0.1) { return plan(.serverTells(run, told), after: 0...100) }
      tell(told, run)
    case .failure(let error):
      trace.note("\(process.name): \(error)")
      cluster.summary.failures += 1
      guard case .unavailable(let reason) = error else {
        return kill(process, because: "\(error)")
      }
      standBy(process, reason)
    }
  }

  // MARK: Processes

  /// A node's process ends in the middle of whatever it does, and another one starts later.
  func kill(_ process: NodeProcess, because reason: String) {
    guard let cluster, !process.isDead else { return }
    trace.note("\(process.name) ends: \(reason)")
    cluster.summary.kills += 1
    let links = process.server?.links ?? process.host?.clientLinks ?? [:]
    for link in links.values.sorted(by: { $0.id < $1.id }) { lose(link) }
    loseNodeLinks(of: process)
    process.kill()
    process.node.process = nil
    process.node.disk.crash()
    cluster.dying.append(process)
    plan(.nodeStarts(process.node), after: isHealed ? 0...0 : 0...9_000)
  }

  /// Chooses the server that a client reaches; `nil` when none takes it.
  func serverToConnect() -> ServerEnd? {
    guard let cluster else { return server.map { .run($0) } }
    if cluster.serves { return chance.pick(cluster.running).map { .node($0) } }
    let process =
      isHealed || chance.happens(0.8)
      ? chance.pick(cluster.serving) : chance.pick(cluster.nodes)?.process
    return process?.server.map { .run($0) }
  }
}
