import TernLedger
import TernPresence
import TernStorage
import TernSync

extension TernServer {
  /// Starts over after a batch that failed: no client was told anything about it, so all of them
  /// reconnect and ask for the outcomes of their writes.
  ///
  /// The ledger is the truth, also after something was found in it that should not be there: the
  /// machine is made anew from it. A store that refuses to be read, as after a failed sync, ends
  /// the server.
  func recover(from error: LedgerError) async {
    report(.failed(error))
    if ledger is any LeasedLedger, case .unavailable(let reason) = error {
      return ServerTerms.standBy(reason, at: self)
    }
    if part.copy != nil { return ServerTerms.standBy("the node's copy: \(error)", at: self) }
    let isFull = error == .storage(.diskFull)
    let reason = SessionEnd.serverStopped(
      isFull ? "the server's disk is full" : "the server could not store what was written")
    if isFull, batches.machine.diskSpace == .ample { report(.diskFull) }
    perform(batches.machine.sessions.farewells(reason))
    closeAll(reason)
    giveBackSlots(of: inbox.takeAll())
    requests.refuseAll(isFull ? RefusalText.full : "What was written could not be stored.")
    guard batches.renew(after: error) else { return giveUp(reason, error) }
    do throws(LedgerError) { try await batches.restore() } catch let second {
      giveUp(reason, second)
    }
  }

  func giveUp(_ reason: SessionEnd, _ error: LedgerError) {
    end = reason
    report(.ended(error))
  }

  func startTicking() {
    let period = min(options.presence.silence, options.presence.grace) / 4
    let pause = max(.milliseconds(10), min(period, .seconds(5)))
    ticking = Task { [weak self, clock = ambient.clock] in
      while !Task.isCancelled {
        do { try await clock.sleep(for: pause) } catch { return }
        guard let self else { return }
        await self.tick()
      }
    }
  }

  func tick() {
    reportHeldLinks()
    memory.recountOutput()
    memory.returnMemory()
    closeOverdue()
    part.tick(at: self)
    inbox.append(.tick)
    exports.review { ask($0, $1) }
    BackupReview.run(on: self)
    drainSoon()
  }
}
