import TernLedger
import TernPresence
import TernStorage
import TernSync

extension TernServer {
  func restore() async throws(LedgerError) {
    let uptime = uptime()
    try await ledger.read { snapshot throws(StorageError) in
      try machine.restore(from: snapshot, uptime: uptime)
    }
  }

  /// Starts over after a batch that failed: no client was told anything about it, so all of them
  /// reconnect and ask for the outcomes of their writes.
  ///
  /// The ledger is the truth, also after something was found in it that should not be there: the
  /// machine is made anew from it. A store that refuses to be read, as after a failed sync, ends
  /// the server.
  func recover(from error: LedgerError) async {
    report(.failed(error))
    let isFull = error == .storage(.diskFull)
    let reason = SessionEnd.serverStopped(
      isFull ? "the server's disk is full" : "the server could not store what was written")
    if isFull, machine.diskSpace == .ample { report(.diskFull) }
    perform(machine.sessions.farewells(reason))
    closeAll(reason)
    giveBackSlots(of: inbox.takeAll())
    refuseAskers(isFull ? RefusalText.full : "What was written could not be stored.")
    machine = ServerMachine(
      options: options, authorizer: authorizer, documentAuthorizer: documentAuthorizer,
      authenticator: authenticator, budget: budget, randomBits: ambient.randomBits)
    if isFull { machine.lackSpace(exchange(&spaceAfterFailure, with: .none)) }
    guard isWorthAnotherTry(after: error) else { return giveUp(reason, error) }
    do throws(LedgerError) { try await restore() } catch let second { giveUp(reason, second) }
  }

  private func giveUp(_ reason: SessionEnd, _ error: LedgerError) {
    end = reason
    report(.ended(error))
  }

  /// A full disk may be emptied at any time; a ledger that contradicts itself again and again, with
  /// no batch between, does not become well by being read once more.
  private func isWorthAnotherTry(after error: LedgerError) -> Bool {
    switch error {
    case .storage: return true
    case .corrupt:
      contradictions += 1
      return contradictions <= options.limits.contradictions
    case .truncated, .foreignStore, .newerFormat: return false
    }
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
    recountOutput()
    returnMemory()
    reviewSlowed()
    inbox.append(.tick)
    reviewExports()
    reviewBackups()
    drainSoon()
  }
}
