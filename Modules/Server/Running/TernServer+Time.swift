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

  /// Starts over after a batch that could not be made durable: nobody was told anything about
  /// it, so every client asks again.
  func recover(from error: LedgerError) async {
    report(.failed(error))
    let reason = SessionEnd.serverStopped("the server could not store what was written")
    closeAll(reason)
    inbox.removeAll()
    machine = ServerMachine(
      options: options, authorizer: authorizer, authenticator: authenticator,
      randomBits: ambient.randomBits)
    // A store that is well after all answers; one that refuses work ends the server.
    guard case .storage = error else {
      end = reason
      return
    }
    do throws(LedgerError) { try await restore() } catch { end = reason }
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
    inbox.append(.tick)
    drainSoon()
  }

  /// Measures milliseconds on `clock` from now on.
  static func stopwatch(_ clock: any Clock<Duration>) -> @Sendable () -> Int64 {
    func start(_ clock: some Clock<Duration>) -> @Sendable () -> Int64 {
      let start = clock.now
      return { start.duration(to: clock.now).milliseconds }
    }
    return start(clock)
  }
}
