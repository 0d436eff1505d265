import TernLogMemory
import TernSharedLedger
import TernTestKit

extension SimulatedWorld {
  /// Something goes wrong between the nodes and their log.
  func clusterMishap() {
    guard let cluster, !isHealed else { return }
    plan(.clusterMishap, after: 300...6_000)
    let process =
      chance.happens(0.5) ? chance.pick(cluster.serving) : chance.pick(cluster.running)
    guard let process,
      let fault = chance.pick(cluster.faults.sorted { $0.rawValue < $1.rawValue })
    else { return }
    trace.note("fault \(fault.rawValue) \(process.name)")
    switch fault {
    case .cutLog:
      process.faults.isCut = true
      plan(.logHeals(process), after: 50...9_000)
    case .lostOutcome: loseOutcome(process)
    case .slowLog:
      process.isLogSlow = true
      plan(.logHeals(process), after: 500...9_000)
    case .slowTail:
      process.isSlow = true
      // Nodes that serve rest on a log that tells each of them its newest position.
      process.faults.hidden = cluster.serves ? 0 : UInt64(chance.below(6))
      plan(.logHeals(process), after: 1_000...20_000)
    case .pausedNode: pause(process)
    case .killedNode: breakNode(process)
    case .handOver:
      // As a server that is told to end: its clients first.
      process.isEnding = true
      standBy(process, "it is told to end")
      process.close(on: cluster.executor)
    case .stepDown: process.ledger.handOver("an operator asks for it")
    case .cutNodes: cutNodes(process, cluster)
    case .slowNodes: break
    case .stalledReader: stallReader(of: process, cluster)
    }
  }

  /// Links of a node to others break, or it cannot reach them for a while.
  private func cutNodes(_ process: NodeProcess, _ cluster: SimulatedCluster) {
    let links = process.host?.nodeLinks.values.sorted { $0.id < $1.id } ?? []
    if chance.happens(0.4) {
      cluster.keepApart([process.node.index], until: clock.now + chance.within(50...12_000))
      for link in links { cut(link) }
    } else if let link = chance.pick(links) {
      if chance.happens(0.3) { cut(link) } else { link.framesLeft = chance.below(8) }
    }
  }

  private func loseOutcome(_ process: NodeProcess) {
    let fault = chance.pick([LogFault.lostBefore, .lostAfter, .lostUnderway]) ?? .lostAfter
    let kinds = LogOperation.Kind.allCases.filter { $0 != .read }
    let kind = chance.happens(0.7) ? .append : chance.pick(kinds) ?? .append
    process.faults.add(fault, to: kind)
  }

  private func breakNode(_ process: NodeProcess) {
    switch chance.below(5) {
    case 0:
      // The machine stops at its next write, which is lost or not.
      process.node.disk.inject(.crash(isDurable: chance.happens(0.5)), after: chance.below(3))
    case 1:
      kill(process, because: "it is killed, and its disk with it")
      process.node.disk = FaultyDisk()
    default: kill(process, because: "it is killed")
    }
  }

  /// A node's process stands still, as far as it can tell for no time at all.
  func pause(_ process: NodeProcess) {
    guard process.stalled == nil else { return }
    process.stalled = []
    plan(.serverWakes(process), after: 10...(chance.happens(0.5) ? 15_000 : 2_500))
  }

  func logHeals(_ process: NodeProcess) {
    process.faults.heal()
    process.isSlow = false
    process.isLogSlow = false
  }

  /// Ends all faults of the nodes.
  func repairCluster() {
    guard let cluster else { return }
    cluster.memory.performPending()
    cluster.keepApart([], until: 0)
    wakeReaders(cluster)
    for node in cluster.nodes {
      startNode(node)
      guard let process = node.process else { continue }
      logHeals(process)
      process.gate.hurry()
    }
  }
}
