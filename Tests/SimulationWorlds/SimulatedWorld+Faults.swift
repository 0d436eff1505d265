import TernClient
import TernCore
import TernLedger
import TernQuery
import TernSync
import TernTestKit
import TernTreeReplica

extension SimulatedWorld {
  /// Something goes wrong, of the kinds this world has.
  func mishap() {
    if isHealed { return }
    plan(.mishap, after: 200...4_000)
    guard let fault = chance.pick(faults.sorted { $0.rawValue < $1.rawValue }) else { return }
    let client = devices[chance.below(devices.count)]
    trace.note("fault \(fault.rawValue) \(client.name)")
    switch fault {
    case .droppedLink: if let link = client.process?.link { lose(link) }
    case .lateFrame, .expiredToken: break
    case .wrongClock: if chance.happens(0.3) { crashServer() }
    case .partition:
      client.isPartitioned = true
      if let link = client.process?.link, chance.happens(0.7) { link.fallSilent() }
      plan(.partitionEnds(client), after: 500...60_000)
    case .silence: client.process?.link?.fallSilent()
    case .stall: if chance.happens(0.2) { stallServer() } else { stall(client) }
    case .crash: if chance.happens(0.4) { crash(client) }
    case .serverCrash: if chance.happens(0.3) { breakServer() }
    case .clockJump: jumpClock()
    case .fullDisk:
      let disk = chance.happens(0.3) ? someServerDisk() : client.queueDisk
      disk.inject(.diskFull, after: chance.below(4))
    case .damage: if let first = documentClients.first { damageCache(of: first) }
    }
    if chance.happens(0.2), let process = client.process {
      client.cacheDisk.sync(process.cacheStore)
      synced(client)
    }
  }

  private func breakServer() {
    switch chance.below(3) {
    case 0: crashServer()
    case 1: someServerDisk().inject(.crash(isDurable: false), after: chance.below(3))
    default: someServerDisk().inject(.crash(isDurable: true), after: chance.below(3))
    }
  }

  private func someServerDisk() -> FaultyDisk {
    guard let cluster else { return serverDisk.ledger }
    return chance.pick(cluster.nodes)?.disk ?? serverDisk.ledger
  }

  private func jumpClock() {
    let target = chance.happens(0.3) ? 0 : chance.within(-500_000_000...500_000_000)
    if chance.happens(0.4) {
      let wall = cluster.flatMap { chance.pick($0.nodes)?.wall } ?? serverWall
      wall.jump(to: target)
    } else {
      devices[chance.below(devices.count)].wall.jump(to: target)
    }
  }

  /// Takes away what is broken; what was lost stays lost.
  func repairEverything() {
    startServer()
    repairCluster()
    wakeAll()
    for device in devices {
      device.isPartitioned = false
      device.isOfflineByWish = false
      if device.process == nil { start(device) }
    }
    for client in documentClients {
      if let run = client.run {
        run.machine.setNetwork(isEnabled: true)
        carryOut(run)
      }
    }
    for client in clients {
      if let run = client.run {
        run.machine.goOnline()
        carryOut(run)
      }
    }
  }

  /// Checks that all clients have the same data at rest, and that every operation counted once.
  func compareEverything() {
    for client in clients {
      guard let run = client.run else { continue }
      for name in Set(run.listeners.values.map(\.view) + run.kept) {
        guard let view = run.machine.viewState(at: name.path, query: name.query) else {
          disagree("c\(client.index) lost \(name.path)")
          continue
        }
        // Who may listen to everything does.
        let views = run.listeners.values.map(\.view) + run.kept
        let seesAll = views.contains { $0.path.isRoot }
        if !seesAll, !WorkloadRules.mayRead(name.path, by: client.user) {
          disagree("c\(client.index) ends with \(name.path), which \(client.user.id) may not read")
        }
        let truth = name.query.window(of: model.truth.node(at: name.path))
        if view.node != truth || !view.isComplete {
          disagree("c\(client.index) ends with \(view.node) at \(name.path), truth \(truth)")
        }
      }
    }
    compareWrites()
    compareCounters()
    compareDocuments()
    compareNodes()
  }

  private func compareWrites() {
    for (id, durable) in model.durable where !durable.isPurged {
      let isAllowed = WorkloadRules.allows(durable.write.assignments, by: durable.user)
      if isAllowed != (model.applied[id] != nil) {
        disagree("write \(id.sequence) \(durable.write) was \(isAllowed ? "lost" : "made")")
      }
    }
    for index in model.markers.indices {
      let marker = model.markers[index]
      let count = model.count(ofMarker: index)
      if let link = marker.confirmedOn, !marker.isCancelled,
        !clients.contains(where: { $0.run?.link?.id == link }), count == 0
      {
        disagree("marker \(index) of c\(marker.client) never fired")
      }
    }
  }

  private func compareCounters() {
    let places = ["votes": ["votes"], "tally": ["tally", "t"]]
    for (name, keys) in places.sorted(by: { $0.key < $1.key }) {
      let path = keys.reduce(WorkloadSpace.path()) { $0.appending(.init(unchecked: $1)) }
      let bounds = model.counters[name] ?? .init()
      let value = model.truth.node(at: path).integer
      if value < bounds.least || value > bounds.most {
        disagree("\(name) is \(value), expected \(bounds.least)...\(bounds.most)")
      }
    }
  }
}
