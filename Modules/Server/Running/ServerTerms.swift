import TernLedger

/// The terms of a server over a ledger that nodes share: it serves clients while its node leads.
///
/// A term begins when the ledger's lease is won, and ends when it is lost or handed over. Between
/// terms the server stands by, or serves from the node's copy; see ``ServerFollower``. Each change
/// makes the machine anew, after the batch under way has ended.
enum ServerTerms {
  /// The reason for refusing clients while another node leads.
  static let refusal = SessionEnd.serverStopped(
    "this node stands by for another one; connect to the one that leads")

  /// Lets a server serve clients in each term of its node, and none between.
  ///
  /// Runs for the life of the server. It ends with the server, or with a ledger that cannot begin
  /// terms any more.
  static func follow(_ ledger: any LeasedLedger, for server: isolated TernServer) {
    server.standby = refusal
    (ledger as? any FollowedLedger)?.tell { [weak server] in
      server.map { NodeService(isServing: $0.service != .none, links: $0.slotsInUse) }
    }
    server.terms = Task { [weak server] in
      while !Task.isCancelled {
        do throws(LedgerError) { try await ledger.beginTerm() } catch {
          if let server { await endFollowing(error, at: server) }
          return
        }
        if let server { await serve(ledger, at: server) }
        let reason = await ledger.endOfTerm()
        if Task.isCancelled { return }
        if let server { await endTerm(reason, at: server) }
      }
    }
  }

  /// Ends the sessions of a term that is over. By now, the server may serve from the node's copy.
  private static func endTerm(_ reason: String, at server: isolated TernServer) {
    if server.part.copy == nil { standBy(reason, at: server) }
  }

  /// Ends all sessions: their clients go on at the node that leads.
  ///
  /// - Parameter returning: True when this node will serve them again in a moment. So it does also
  ///   when it hands over, if it serves while another node leads.
  static func standBy(
    _ reason: String, returning: Bool = false, at server: isolated TernServer
  ) {
    guard server.refusal == nil else { return }
    server.standby = refusal
    let standing = server.leasedLedger?.standing
    let returns = server.part.links != nil && (returning || standing?.isHandingOver == true)
    server.part.end()
    server.report(.standingBy(reason))
    let end = SessionEnd.serverStopped("the server hands over to another node; connect again")
    server.perform(server.batches.machine.sessions.farewells(end, returning: returns))
    server.closeAll(end)
    server.giveBackSlots(of: server.inbox.takeAll())
    server.requests.refuseAll(
      "The server hands over to another node. It is not known whether the request was carried out.")
  }

  private static func endFollowing(_ error: LedgerError, at server: isolated TernServer) {
    if server.end == nil { stop(error, server) }
  }

  /// Reads what the term begins with, and lets clients in.
  ///
  /// The conditions are checked again after each suspension: the term may be over, or the server
  /// stopped.
  private static func serve(_ ledger: any LeasedLedger, at server: isolated TernServer) async {
    await takeMachine(of: server)
    defer { server.part.isMachineTaken = false }
    // The term may be over by now, and the node follow again.
    guard server.end == nil, ledger.standing.isLeading else { return }
    standBy("this node is about to lead", returning: true, at: server)
    await waitForBatch(at: server)
    server.batches.beginAnew()
    do throws(LedgerError) { try await server.batches.restore() } catch {
      if case .unavailable = error { return }
      return stop(error, server)
    }
    guard server.end == nil else { return }
    server.standby = nil
    server.report(.leading)
    server.drainSoon()
  }

  /// Waits until no other part of the server makes the machine anew, and begins to.
  ///
  /// A following server and a beginning term both make machines; one of them waits here for the
  /// other.
  static func takeMachine(of server: isolated TernServer) async {
    while server.part.isMachineTaken { await ExecutorPause.leave(server.executor) }
    server.part.isMachineTaken = true
  }

  /// Waits for a batch of an earlier term: it is answered for by now, and the executor may have to
  /// tell of it.
  static func waitForBatch(at server: isolated TernServer) async {
    while server.isDraining { await ExecutorPause.leave(server.executor) }
  }

  private static func stop(_ error: LedgerError, _ server: isolated TernServer) {
    server.giveUp(.serverStopped("the server's copy of the data failed"), error)
  }
}
