import TernLedger
import TernServer
import TernStorage
import TernTestKit

/// The disk under the server.
struct DisksOfServer {
  let ledger = FaultyDisk()
}

extension SimulatedWorld {
  /// Starts the server, or all servers of a cluster.
  func startServers() {
    guard let cluster else { return startServer() }
    for node in cluster.nodes { startNode(node) }
  }

  /// Starts the server's process over what its disk holds.
  func startServer() {
    guard cluster == nil, server == nil else { return }
    do throws(LedgerError) {
      let offset = setServerClocks()
      let store = serverDisk.ledger.open()
      if bug == .forgetsWritersByTimeOfDay { try forgetWriters(in: store) }
      let run = try ServerRun(
        over: store, wall: serverWall, uptimeOffset: offset, bits: serverBits,
        documentAuthorizer: authorizer(of: rulesFile))
      try run.restore(now: clock.now)
      server = run
      follow(run.ledger, [:])
      try findRules(run.ledger)
      plan(.serverTicks(run), after: 5_000...5_000)
      compact(run)
      checkWriters(run.ledger)
    } catch {
      disagree("the server does not start: \(error)")
    }
  }

  /// The server's process ends in the middle of whatever it does.
  func crashServer() {
    if let cluster {
      if let process = chance.pick(cluster.running) { kill(process, because: "it crashes") }
      return
    }
    guard let run = server else { return }
    serverDisk.ledger.crash()
    run.isOver = true
    for link in run.links.values.sorted(by: { $0.id < $1.id }) { lose(link) }
    server = nil
    plan(.serverStarts, after: isHealed ? 0...0 : 0...8_000)
  }

  /// A link ends, with what is on its way or behind it; its ends hear of it in their own time.
  func lose(_ link: SimulatedLink) {
    link.isCut = true
    if chance.happens(0.5) { link.losesUp = true }
    if chance.happens(0.5) { link.losesDown = true }
    let isLate = !isHealed && chance.happens(0.1)
    let up = clock.now + chance.within(isLate ? 0...20_000 : 0...50)
    agenda.add(.serverSeesEnd(link), at: link.losesUp ? up : max(up, link.lastUp))
    let down = clock.now + chance.within(0...50)
    agenda.add(.clientSeesEnd(link), at: link.losesDown ? down : max(down, link.lastDown))
  }

  func tick(_ run: ServerRun) {
    guard !run.isOver else { return }
    run.inbox.append(.tick)
    decideSoon(run)
    plan(.serverTicks(run), after: 5_000...5_000)
  }

  func arrivedAtServer(_ frames: [[UInt8]], over link: SimulatedLink) {
    guard !link.server.isOver, !link.losesUp, link.isOpenAtServer else { return }
    // Of what comes after the server has closed a link, some waits already when it does.
    if link.isClosedByServer, chance.happens(0.5) { return }
    switch link.server {
    case .run(let run):
      for frame in frames { run.inbox.append(.frame(slot: link.slot, frame)) }
      decideSoon(run)
    case .node(let process): hand(frames, over: link, to: process)
    }
  }

  func serverLost(_ link: SimulatedLink) {
    guard !link.server.isOver, link.isOpenAtServer else { return }
    link.isOpenAtServer = false
    switch link.server {
    case .run(let run):
      run.links[link.slot] = nil
      run.inbox.append(.closed(slot: link.slot))
      decideSoon(run)
    case .node(let process): handEnd(of: link, to: process)
    }
  }

  func decideSoon(_ run: ServerRun) {
    guard !run.isDeciding, !run.inbox.isEmpty else { return }
    run.isDeciding = true
    plan(.serverDecides(run), after: chance.happens(0.05) ? 0...60 : 0...2)
  }

  /// One turn of the server: decide what waits, make it durable, tell.
  func decide(_ run: ServerRun) {
    guard !run.isOver else { return }
    let inputs = nextInputs(of: run)
    let links = senders(of: inputs, run)
    if let cluster, let process = run.process as? NodeProcess {
      cluster.senders.merge(links) { _, last in last }
      return process.decide(
        inputs, of: run, now: process.node.wall.now, uptime: clock.now + run.uptimeOffset,
        on: cluster.executor)
    }
    do throws(LedgerError) {
      let told = try run.decide(
        inputs, now: serverWall.now, uptime: clock.now + run.uptimeOffset)
      noteOrders(in: inputs, run)
      if bug == .cutsLogTooEarly { try run.ledger.compact(keepingLog: 0) }
      follow(run.ledger, links)
      if inputs.contains(where: { if case .tick = $0 { true } else { false } }) {
        try maintain(run)
      }
      run.giveBackSlots(of: inputs)
      // A ledger may take its time; nothing else is decided meanwhile, but links come and go.
      if !isHealed, chance.happens(0.1) { return plan(.serverTells(run, told), after: 0...100) }
      perform(told, run)
    } catch {
      run.giveBackSlots(of: inputs)
      recover(run, from: error)
    }
    run.isDeciding = false
    decideSoon(run)
  }

  /// A batch is durable.
  func tell(_ told: Told, _ run: ServerRun) {
    guard !run.isOver else { return }
    perform(told, run)
    run.isDeciding = false
    decideSoon(run)
  }

  /// Takes what is decided next: all that waits, or a part of it, in which links take turns.
  ///
  /// What an operator asks for is decided alone, so that the model knows what came before it.
  private func nextInputs(of run: ServerRun) -> [ServerInput] {
    if let index = run.inbox.firstIndex(where: \.isOfOperator) {
      let inputs = Array(run.inbox[..<max(index, 1)])
      run.inbox.removeFirst(inputs.count)
      return inputs
    }
    if isHealed || run.inbox.count < 2 || chance.happens(0.8) {
      defer { run.inbox = [] }
      return run.inbox
    }
    var queues: [[ServerInput]] = []
    var places: [Int: Int] = [:]
    for input in run.inbox {
      let slot = input.link ?? -1
      if let place = places[slot] {
        queues[place].append(input)
      } else {
        places[slot] = queues.count
        queues.append([input])
      }
    }
    var inputs: [ServerInput] = []
    let count = 1 + chance.below(run.inbox.count)
    while inputs.count < count,
      let place = chance.pick(queues.indices.filter { !queues[$0].isEmpty })
    {
      inputs.append(queues[place].removeFirst())
    }
    run.inbox = queues.flatMap { $0 }
    return inputs
  }

  private func recover(_ run: ServerRun, from error: LedgerError) {
    trace.note("server: \(error)")
    guard case .storage(.diskFull) = error else { return crashServer() }
    for link in run.links.values.sorted(by: { $0.id < $1.id }) { close(link) }
    run.giveBackSlots(of: run.inbox)
    run.inbox.removeAll()
    do throws(LedgerError) {
      try run.restore(now: clock.now)
    } catch {
      crashServer()
    }
  }

  private func perform(_ told: Told, _ run: ServerRun) {
    let (before, after) = (told.before, told.after)
    var frames: [Int: [[UInt8]]] = [:]
    for output in told.outputs {
      switch output {
      case .send(let slot, let frame): frames[slot, default: []].append(frame)
      case .broadcast(let slots, let frame):
        for slot in slots { frames[slot, default: []].append(frame) }
      case .answer(let ticket, let answer): answered(ticket, answer, run)
      case .close(let slot, _):
        guard let link = run.links[slot] else { continue }
        if let rest = frames.removeValue(forKey: slot) {
          // The session receives no effects of the batch after its end.
          send(Chunk(frames: rest, before: before, after: after, isLast: false), over: link)
        }
        close(link)
      }
    }
    for (slot, frames) in frames.sorted(by: { $0.key < $1.key }) {
      guard let link = run.links[slot], !link.isClosedByServer else { continue }
      send(Chunk(frames: frames, before: before, after: after, isLast: true), over: link)
    }
  }

  func close(_ link: SimulatedLink) {
    guard !link.isClosedByServer else { return }
    link.isClosedByServer = true
    plan(.serverSeesEnd(link), after: 0...1)
    if link.isLost { return }
    link.lastDown = max(link.lastDown, clock.now + chance.within(link.latency))
    agenda.add(.clientSeesEnd(link), at: link.lastDown)
  }

  func send(_ chunk: Chunk, over link: SimulatedLink) {
    note(chunk.frames, "s>\(link.process.name)")
    if link.isLost { return }
    var rest = chunk
    while rest.frames.count > 1, faults.contains(.lateFrame), !isHealed, chance.happens(0.3) {
      let count = 1 + chance.below(rest.frames.count - 1)
      var part = rest
      part.frames = Array(rest.frames.prefix(count))
      part.isLast = false
      rest.frames.removeFirst(count)
      deliver(part, over: link)
    }
    deliver(rest, over: link)
  }

  private func deliver(_ chunk: Chunk, over link: SimulatedLink) {
    link.lastDown = max(link.lastDown, clock.now + chance.within(link.latency))
    agenda.add(.arrivesAtClient(link, chunk), at: link.lastDown)
  }
}

extension ServerInput {
  /// `true` for what an operator asks for.
  fileprivate var isOfOperator: Bool {
    switch self {
    case .direct, .readDirect, .adopt: true
    default: false
    }
  }

  /// The slot of the link it came over.
  fileprivate var link: Int? {
    switch self {
    case .opened(let slot, _, _), .frame(let slot, _), .prepared(let slot, _),
      .judge(let slot, _, _), .closed(let slot), .more(let slot), .read(let slot, _):
      slot
    case .direct, .readDirect, .adopt, .heard, .followed, .tick, .room, .goOn: nil
    }
  }
}
