import TernClient
import TernCore
import TernServer
import TernStorage
import TernSync
import TernTestKit
import TernTreeEngine

extension World {
  /// Starts a client's process over what its disks hold.
  func startClient(_ index: Int) {
    let client = clients[index]
    guard client.run == nil else { return }
    let bits = client.bits
    let wall = client.wall
    let ambient = Ambient(
      millisecondsSinceEpoch: { wall.now }, clock: ContinuousClock(),
      randomBits: { bits.next() })
    do {
      let (queue, rows) = try WriteQueue.open(
        client.queueDisk.open(), limits: QueueLimits(writeCount: 60),
        newClient: ambient.randomID())
      let cacheStore = client.cacheDisk.open()
      let cache = try TreeCache(store: cacheStore, prefix: [0x10])
      var limits = ClientMachine.Limits()
      limits.window = 8
      var machine = ClientMachine(
        replica: TreeReplica(cache: cache), client: queue.client, origin: queue.origin,
        nextSequence: queue.nextSequence, ambient: ambient, limits: limits)
      for words in model.restored(rows, of: queue.client) { disagree("c\(index): \(words)") }
      let lost = try machine.restore(rows)
      for transaction in lost { trace.note("c\(index) lost \(transaction.path)") }
      let run = ClientRun(index: index, machine: machine, queue: queue, cacheStore: cacheStore)
      client.run = run
      for operation in run.machine.declare("vote", vote) {
        run.transactions[operation] = TransactionNote(counter: "votes", isDeclared: true)
      }
      if client.isOfflineByWish { run.machine.goOffline() }
      carryOut(run)
      listenAgain(run)
    } catch {
      disagree("c\(index) does not start: \(error)")
    }
  }

  /// A client's process ends in the middle of whatever it does.
  func crashClient(_ index: Int) {
    let client = clients[index]
    guard let run = client.run else { return }
    run.isDead = true
    client.run = nil
    for note in run.transactions.values where !note.isDeclared { model.lost(note.counter) }
    client.queueDisk.crash()
    client.cacheDisk.crash()
    if let link = run.link {
      if chance.happens(0.5) { link.isSilent = true } else { lose(link) }
    }
    plan(.clientStarts(index), after: isHealed ? 0...0 : 0...10_000)
  }

  // MARK: Effects

  /// Carries out what a machine owes, as its session would, then looks whether all is well.
  func carryOut(_ run: ClientRun) {
    var frames: [[UInt8]] = []
    while true {
      let effects = run.machine.takeEffects()
      if effects.isEmpty { break }
      for effect in effects {
        switch effect {
        case .send(let frame): frames.append(frame)
        case .closeLink(let number):
          flush(&frames, run)
          closeLink(number, run)
        case .change(let change, let ticket): run.jobs.append((ticket, change))
        default: carryOut(effect, run)
        }
      }
    }
    flush(&frames, run)
    run.machine.storeCache()
    if let failure = run.machine.cacheFailure { disagree("c\(run.index) cache: \(failure)") }
    if !run.jobs.isEmpty, !run.isWriting {
      run.isWriting = true
      plan(.queueWrites(run), after: 0...3)
    }
    checkClient(run)
  }

  private func carryOut(_ effect: ClientEffect, _ run: ClientRun) {
    switch effect {
    case .openLink(let number): plan(.connect(run, number: number), after: 0...20)
    case .startTimer(let timer, let delay):
      run.lastTimer += 1
      run.timers[timer] = run.lastTimer
      let milliseconds = Int64(delay / .milliseconds(1))
      agenda.add(
        .timer(run, timer, generation: run.lastTimer), at: clock.now + milliseconds)
    case .stopTimer(let timer): run.timers[timer] = nil
    case .deliver(let events, .shared): heard(events, run)
    case .cancelled(let ids, _):
      for id in ids {
        run.listeners[id] = nil
        run.endedListeners.insert(id)
      }
    case .read(let id, let result): readEnded(id, result, run)
    case .transactionEnded(let id, let outcome): transactionEnded(id, outcome, run)
    case .disconnectAnswered(let id, let rejection):
      deferredAnswered(id, isRegistered: rejection == nil, run)
    case .stored, .notStored, .settled, .queueAnswered, .queueChanged, .connectionChanged, .deliver,
      .noticed, .credential:
      break
    case .send, .closeLink, .change: break
    }
  }

  private func flush(_ frames: inout [[UInt8]], _ run: ClientRun) {
    guard !frames.isEmpty else { return }
    defer { frames.removeAll() }
    note(frames, "c\(run.index)>")
    guard let link = run.link, link.isOpenAtClient else { return }
    noteSent(frames, over: link, run)
    if link.isLost { return }
    link.lastUp = max(link.lastUp, clock.now + chance.within(link.latency))
    agenda.add(.arrivesAtServer(link, frames), at: link.lastUp)
  }

  // MARK: Links

  func connect(_ run: ClientRun, _ number: Int) {
    guard !run.isDead, run.machine.isCurrentLink(number) else { return }
    if clients[run.index].isPartitioned {
      if chance.happens(0.5) { plan(.linkFailed(run, number: number), after: 0...5_000) }
      return
    }
    guard let server else { return plan(.linkFailed(run, number: number), after: 0...200) }
    lastLink += 1
    let isSlow = faults.contains(.lateFrame) && !isHealed && chance.happens(0.3)
    let link = SimulatedLink(
      id: lastLink, client: run.index, number: number, slot: server.takeSlot(), run: server,
      latency: isSlow ? 0...2_500 : 0...40)
    server.links[link.slot] = link
    server.inbox.append(.opened(slot: link.slot, isLocal: true))
    decideSoon(server)
    link.lastDown = clock.now + chance.within(link.latency)
    agenda.add(.linkOpened(run, link), at: link.lastDown)
  }

  func opened(_ link: SimulatedLink, _ run: ClientRun) {
    guard !link.isLost else { return }
    guard !run.isDead, run.machine.isCurrentLink(link.number) else { return hangUp(link) }
    run.link = link
    run.machine.connectionEvent(.linkOpened(link.number))
    carryOut(run)
  }

  private func closeLink(_ number: Int, _ run: ClientRun) {
    guard let link = run.link, link.number == number else { return }
    run.link = nil
    connectionEnded(run)
    hangUp(link)
  }

  private func hangUp(_ link: SimulatedLink) {
    link.isOpenAtClient = false
    if link.isLost { return }
    link.lastUp = max(link.lastUp, clock.now + chance.within(link.latency))
    agenda.add(.serverSeesEnd(link), at: link.lastUp)
  }

  func clientLost(_ link: SimulatedLink) {
    guard let run = clients[link.client].run, link.isOpenAtClient, !link.isSilent else { return }
    link.isOpenAtClient = false
    guard run.link === link || run.machine.isCurrentLink(link.number) else { return }
    if run.link === link { run.link = nil }
    connectionEnded(run)
    run.machine.connectionEvent(.linkClosed(link.number))
    carryOut(run)
  }

  func arrivedAtClient(_ chunk: Chunk, over link: SimulatedLink) {
    guard !link.isLost, link.isOpenAtClient, let run = clients[link.client].run,
      run.link === link
    else { return }
    let low = chunk.isLast ? chunk.after : run.told?.lowerBound ?? chunk.before
    if let told = run.told, chunk.after < told.upperBound {
      disagree("c\(run.index) is told v\(chunk.after) after v\(told.upperBound)")
    }
    run.reading = chunk.before...chunk.after
    run.told = low...chunk.after
    run.frozen = nil
    run.machine.received(chunk.frames, on: link.number)
    carryOut(run)
    run.reading = nil
  }

  // MARK: Timers and the queue

  func fired(_ timer: TimerName, _ generation: Int, _ run: ClientRun) {
    guard !run.isDead, run.timers[timer] == generation else { return }
    run.timers[timer] = nil
    run.machine.timerFired(timer)
    carryOut(run)
  }

  /// The queue's disk takes everything that waits, in one transaction.
  func storeQueue(_ run: ClientRun) {
    guard !run.isDead else { return }
    let jobs = run.jobs
    run.jobs.removeAll()
    var stream = run.queue.client
    let results = run.queue.apply(jobs.map(\.change))
    if results.contains(.failed(.storage(.closed))) { return crashClient(run.index) }
    for (job, result) in zip(jobs, results) {
      if let words = model.queued(job.change, result, of: run.index, stream) {
        disagree("c\(run.index): \(words)")
      }
      if case .purge(let newClient) = job.change, case .purged = result { stream = newClient }
    }
    let answers = zip(jobs, results).map { (ticket: $0.ticket, result: $1) }
    plan(.queueAnswers(run, answers), after: 0...3)
  }

  func queueStored(_ answers: [(ticket: UInt64, result: QueueResult)], _ run: ClientRun) {
    guard !run.isDead else { return }
    for (ticket, result) in answers {
      run.machine.queueAnswered(ticket, result)
    }
    run.isWriting = false
    carryOut(run)
  }
}
