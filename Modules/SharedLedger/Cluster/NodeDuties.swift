import Synchronization
import TernCommitLog
import TernLedger

/// The work of a node beside following the log and keeping the lease, each part in a task of its
/// own: the checkpoint, and what the nodes tell each other.
struct NodeDuties {
  let ledger: SharedLedger

  /// Advances the checkpoint, whenever the node leads, until it ends. Apart from ``run()``, because
  /// an advance may take longer than a lease lasts: while the database writes many rows, or while a
  /// node that was paused in the middle of one holds the checkpoint's lock.
  func runCheckpoint() async {
    while !Task.isCancelled, !ledger.state.withLock({ $0.isOver }) {
      if await !foldLog() { await ledger.pause(ledger.options.lookInterval) }
    }
  }

  /// Advances the checkpoint if the node leads and enough has gathered.
  ///
  /// - Returns: Whether more is to be done at once.
  func foldLog() async -> Bool {
    guard let term = ledger.state.withLock({ $0.term }) else { return false }
    do throws(NodeError) { return try await advanceCheckpoint(under: term.epoch) } catch {
      // The mark may have been moved and the log cut since it was asked for.
      ledger.duty.withLock { $0.mark = nil }
      // A term that has ended meanwhile has no duties.
      ledger.state.withLock { state in
        if state.term != nil { state.noteCheckpoint(error.ledgerError.description) }
      }
      switch error {
      case .log(.regressed):
        // As it follows the log again, the node finds that its copy is of no use.
        ledger.endTerm("the log has lost what the node's copy holds")
      case .log(let error): ledger.state.withLock { $0.note(error.description) }
      case .ledger: _ = ledger.recover(from: error)
      }
      return false
    }
  }
}

// MARK: - Announcing

extension NodeDuties {
  /// Tells the other nodes of this one, again and again until it ends.
  func runAnnouncing() async {
    while !Task.isCancelled, !ledger.state.withLock({ $0.isOver }) {
      await announce()
      await ledger.pause(ledger.options.announcement)
    }
  }

  /// Tells the other nodes of this one. A leader also forgets nodes that are gone, and steps down
  /// when an operator has asked for that. What fails is tried again the next time.
  func announce() async {
    let service = ledger.following.service
    let (card, term) = ledger.state.withLock { ($0.card(ledger.options, service), $0.term) }
    do throws(CommitLogError) {
      _ = try await ledger.log.renewLease(
        ledger.options.shard,
        request: LeaseRequest(
          name: NodeLease.name(of: ledger.options.node), node: ledger.options.node,
          address: card.text,
          condition: .free))
      guard let term else { return }
      // A node that follows does so with each look at the lease.
      if ledger.environment.time != nil { _ = try await ledger.clocks.open(ledger) }
      try await attendNodes(term, head: card.position)
    } catch {
      return
    }
  }

  private func attendNodes(_ term: Term, head: LogPosition) async throws(CommitLogError) {
    let records = try await ledger.log.leases(of: ledger.options.shard)
    let now = ledger.uptime()
    let patience = ledger.options.announcement.wholeMilliseconds * 3
    let (silent, hasSuccessor) = ledger.nodes.withLock { nodes in
      let silent = nodes.observe(records, at: now)
      let hasSuccessor = nodes.hasSuccessor(
        in: records, besides: ledger.options.node, head: head, at: now, patience: patience)
      return (silent, hasSuccessor)
    }
    for record in silent {
      try await ledger.log.removeLease(ledger.options.shard, name: record.name, mark: record.mark)
    }
    let request = records.first { $0.name == NodeLease.stepDown && !silent.contains($0) }
    guard hasSuccessor, let request, request.holder?.address == "\(term.epoch)" else { return }
    await stepDown(term)
    try await ledger.log.removeLease(ledger.options.shard, name: request.name, mark: request.mark)
  }

  /// Ends the term behind what is under way, and leaves the lease to another node.
  private func stepDown(_ term: Term) async {
    await ledger.turn.take()
    defer { ledger.turn.give() }
    guard ledger.state.withLock({ $0.term?.epoch }) == term.epoch else { return }
    ledger.handOver("an operator asked this node to step down")
    do throws(CommitLogError) {
      try await ledger.log.releaseLease(
        ledger.options.shard, name: .leader, node: ledger.options.node)
      ledger.state.withLock { $0.noteReleased() }
    } catch {
      // The node tries again before it follows the log.
      return
    }
  }

  /// Takes the node's words back, at its end.
  func withdraw() async {
    let name = NodeLease.name(of: ledger.options.node)
    do throws(CommitLogError) {
      let records = try await ledger.log.leases(of: ledger.options.shard)
      guard let own = records.first(where: { $0.name == name }) else { return }
      try await ledger.log.removeLease(ledger.options.shard, name: name, mark: own.mark)
    } catch {
      // Another node removes them later.
      return
    }
  }
}

extension NodeState {
  /// The node's words about itself.
  ///
  /// - Parameter service: The service of its server to clients; `nil` when that is not known.
  func card(_ options: SharedLedgerOptions, _ service: NodeService? = nil) -> NodeCard {
    let role: NodeCard.Role =
      switch phase {
      case .starting: .starting
      case .following: service?.isServing == true ? .follower : .standby
      case .elected, .leading: .leader
      case .failed, .closed: .failed
      }
    return NodeCard(
      role: role, position: LogPosition(mark.position), version: options.version,
      address: options.address, links: service?.links)
  }
}
