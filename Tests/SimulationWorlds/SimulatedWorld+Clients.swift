import TernClient
import TernCore
import TernServer
import TernStorage
import TernSync
import TernTestKit
import TernTreeReplica

extension SimulatedWorld {
  /// Starts a client's process over what its disks hold.
  func startClient(_ index: Int) {
    let client = clients[index]
    guard client.run == nil else { return }
    let ambient = client.ambient
    do {
      let shelf = WriteQueueRegistry(
        store: client.queueDisk.open(), of: WriteRecord.records,
        limits: QueueLimits(writeCount: 60), ambient: ambient)
      guard let queue = openFirstQueue(shelf, of: client) else { return }
      let cacheStore = client.cacheDisk.open()
      let cache = try TreeCache(store: cacheStore, prefix: [0x10])
      var limits = TreeMachine.Limits()
      limits.window = 8
      var machine = TreeMachine(
        replica: TreeReplica(cache: cache), user: client.user, client: queue.client,
        origin: shelf.origin ?? queue.origin, nextSequence: queue.nextSequence, ambient: ambient,
        limits: limits)
      let lost = try machine.restore(queue.rows)
      for transaction in lost { trace.note("c\(index) lost \(transaction.path)") }
      let run = ClientRun(
        of: client, machine: machine, shelf: shelf, cacheStore: cacheStore)
      client.run = run
      restored(queue, of: client.user, run)
      noteRestored(.success(queue), run)
      if let token = client.token { run.machine.setCredential(token) }
      declareVote(run)
      if client.isOfflineByWish { run.machine.goOffline() }
      carryOut(run)
      listenAgain(run)
    } catch {
      disagree("c\(index) does not start: \(error)")
    }
  }

  // MARK: Effects

  /// Carries out what a machine owes, as its session would, then looks whether all is well.
  func carryOut(_ run: ClientRun) {
    var frames: [[UInt8]] = []
    while true {
      let effects = run.machine.drainEffects()
      if effects.isEmpty { break }
      for effect in effects {
        switch effect {
        case .send(let frame): frames.append(frame)
        case .closeLink(let number):
          flush(&frames, run)
          closeLink(number, run)
        case .change(let change, let ticket, let user):
          checkAcknowledgement(change, of: user, run)
          run.jobs.append(SimulatedJob(ticket: ticket, change: change, user: user))
          // A write that is rejected is pending no more; its end is told when the queue has it.
          if case .reject = change, user == run.user {
            run.pending[user]?.formIntersection(run.machine.queueStatus.pending.map(\.id))
          }
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

  private func carryOut(_ effect: TreeClientEffect, _ run: ClientRun) {
    switch effect {
    case .openLink(let number, _): plan(.connect(run, number: number), after: 0...20)
    case .startTimer(let timer, let delay):
      run.lastTimer += 1
      run.timers[timer] = run.lastTimer
      let milliseconds = Int64(delay / .milliseconds(1))
      agenda.add(
        .timer(run, timer, generation: run.lastTimer), at: clock.now + milliseconds + lateness())
    case .stopTimer(let timer): run.timers[timer] = nil
    case .deliver(let events, .shared): heard(events, run)
    case .cancelled(let ids, _):
      for id in ids {
        if let path = run.listeners.removeValue(forKey: id)?.view.path,
          WorkloadUsers.all.allSatisfy({ WorkloadRules.mayRead(path, by: $0) })
        {
          disagree("c\(run.index) may not listen to \(path) any more")
        }
        run.endedListeners.insert(id)
      }
    case .read(let id, let result): readEnded(id, result, run)
    case .transactionEnded(let id, let outcome): transactionEnded(id, outcome, run)
    case .disconnectAnswered(let id, let rejection):
      deferredAnswered(id, isRegistered: rejection == nil, run)
    case .settled(let id, _), .notStored(let id, _):
      for user in run.pending.keys { run.pending[user]?.remove(id.number) }
    case .credential(.refused(let token, _)): refused(token, on: run.device)
    case .presenceEnded(_, let error): disagree("c\(run.index) may not announce itself: \(error)")
    case .stored, .queueAnswered, .queueChanged, .pendingChanged, .connectionChanged, .deliver,
      .noticed, .credential(.accepted):
      break
    case .send, .closeLink, .change: break
    }
  }

  func arrived(_ chunk: Chunk, over link: SimulatedLink, at run: ClientRun) {
    checkPermissions(chunk.frames, over: link, run)
    guard chunk.hasNews else {
      run.machine.received(chunk.frames, on: link.number)
      return carryOut(run)
    }
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

  func fired(_ timer: TimerName, _ generation: Int, _ run: ClientRun) {
    guard !run.isDead, run.timers[timer] == generation else { return }
    run.timers[timer] = nil
    run.machine.timerFired(timer)
    carryOut(run)
  }
}
