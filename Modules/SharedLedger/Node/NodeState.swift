import TernCommitLog
import TernLedger

/// The term of a leader.
struct Term: Hashable, Sendable {
  /// The epoch that the log compares appends with.
  var epoch: LogEpoch
  /// The uptime, in milliseconds, at which the newest confirmed renewal of the lease was begun.
  var confirmed: Int64
}

/// A node's part in its shard: what it may do, and what comes next. Decisions alone; the uptime is
/// in milliseconds.
struct NodeState {
  /// The part that the node plays.
  enum Phase: Hashable {
    /// The copy is not open yet, or has to begin anew.
    case starting
    /// The copy follows the log.
    case following
    /// The node has the lease, and its copy all that was committed; its server has not begun.
    case elected
    /// The node's server commits.
    case leading
    /// The node can never lead again.
    case failed(LedgerError)
    /// The ledger was closed.
    case closed
  }

  private(set) var phase = Phase.starting
  /// The term; `nil` unless elected or leading.
  private(set) var term: Term?
  /// The reason why the node does not lead.
  private(set) var reason = "the node starts"
  /// The place that the copy has reached.
  var mark = ReplicaMark(position: 0, id: nil)
  /// The newest position that was read, which may hold a part of a batch.
  private(set) var tail = LogPosition.start
  /// The identifier of the batch there; `nil` when it is not known.
  private(set) var tailID: UInt128?
  /// The newest position that is known of.
  private(set) var head = LogPosition.start
  /// The other node that leads, as far as is known.
  private(set) var leader: Lease?
  /// True while the node may hold a lease that it does not use.
  private(set) var isLeaseLeft = false
  /// The uptime before which the node asks for no lease.
  private(set) var electableFrom = Int64.min
  /// The uptime of the next look at the lease.
  var nextLook = Int64.min
  /// The epoch of the log at the latest look.
  private(set) var epoch = LogEpoch.none
  /// True from the end of a term that the node has ended for another one until that is known to
  /// lead, and for a second at least.
  private(set) var isHandingOver = false
  /// The uptime, in milliseconds, at which the node has handed over.
  private var handedOverAt: Int64 = 0
  /// The time, in milliseconds, for which that counts at least: the next leader may be known before
  /// the server has let its clients go.
  private static let handOverTime: Int64 = 1_000
  /// True when the copy has to be built from the checkpoint, whatever its place says.
  private(set) var isCopyVoid = false
  private(set) var watch: LeaseWatch
  var figures = NodeFigures()
  /// The attempts to advance the checkpoint that have failed since one did not, and the latest
  /// reason.
  private var checkpointFailures: (count: Int, reason: String) = (0, "")
  private let lifetime: Int64
  private let plantedFault: PlantedFault?

  init(_ options: SharedLedgerOptions) {
    watch = LeaseWatch(lifetime: options.leaseLifetime)
    lifetime = options.leaseLifetime.wholeMilliseconds
    plantedFault = options.plantedFault
  }

  var isOver: Bool {
    switch phase {
    case .failed, .closed: true
    default: false
    }
  }

  var isFollowing: Bool { phase == .following }

  var standing: LedgerStanding { standing(copyAge: nil) }

  /// The standing when the node has begun or ended a term since, or another node leads; else `nil`.
  func standing(unlike earlier: LedgerStanding) -> LedgerStanding? {
    let present = standing
    let isAlike = present.isLeading == earlier.isLeading && present.leader == earlier.leader
    return isAlike ? nil : present
  }

  func standing(copyAge: Int64?, clockOffset: Int64? = nil) -> LedgerStanding {
    var standing = LedgerStanding(
      isLeading: phase == .leading, reason: phase == .leading ? "" : reason,
      position: mark.position, head: max(head.number, mark.position), leader: leader?.address,
      copyAge: phase == .leading ? nil : copyAge, isHandingOver: isHandingOver, trouble: trouble,
      clockOffset: clockOffset)
    if let error = standing.clockError, trouble == nil {
      let side = error > 0 ? "behind" : "ahead of"
      standing.trouble = "the clock of the machine is \(abs(error)) ms \(side) that of the log"
    }
    return standing
  }

  private var trouble: String? {
    let isTold = checkpointFailures.count >= SharedLedgerLimits.toleratedCheckpoints
    return isTold ? "the checkpoint of the log does not advance: \(checkpointFailures.reason)" : nil
  }

  /// Notes an attempt to advance the checkpoint.
  ///
  /// - Parameter failure: The reason why it failed; `nil` when it did not.
  mutating func noteCheckpoint(_ failure: String?) {
    guard let failure else {
      checkpointFailures = (0, "")
      return
    }
    figures.failedCheckpoints += 1
    checkpointFailures = (checkpointFailures.count + 1, failure)
  }

  // MARK: - The copy

  /// The copy is open, as of `mark`.
  mutating func begin(at mark: ReplicaMark) {
    guard phase == .starting else { return }
    self.mark = mark
    (tail, tailID) = (LogPosition(mark.position), mark.id)
    isCopyVoid = false
    phase = .following
    reason = "the node follows the log"
  }

  /// The copy is of no use any more.
  mutating func voidCopy(_ reason: String) {
    if isOver { return }
    endTerm(reason, waiting: 0, at: 0)
    phase = .starting
    isCopyVoid = true
    self.reason = reason
  }

  /// - Parameter id: The identifier of the batch at `tail`.
  mutating func advance(to mark: ReplicaMark?, tail: LogPosition, id: UInt128?) {
    if let mark { self.mark = mark }
    (self.tail, tailID) = (tail, id)
    head = max(head, tail)
  }

  /// Notes that something did not work; it is tried again.
  mutating func note(_ reason: String) {
    if phase == .starting || phase == .following { self.reason = reason }
  }

  // MARK: - The lease

  /// Sees the epoch of the log: when it is another one than at the latest look, the lease was taken
  /// or given back, and the next look is due.
  mutating func note(_ epoch: LogEpoch) {
    if epoch != self.epoch { nextLook = .min }
  }

  /// Sees the state of the log.
  ///
  /// - Returns: The condition under which the node asks for the lease now; `nil` for not asking.
  mutating func look(
    at state: LogState, node: String, now: Int64, longestGap: Duration
  ) -> LeaseRequest.Condition? {
    head = max(state.position, tail)
    epoch = state.epoch
    let isOwn = state.leader?.node == node
    leader = isOwn ? nil : state.leader
    if leader != nil, now - handedOverAt >= Self.handOverTime { isHandingOver = false }
    let condition = watch.observe(
      leader, at: .milliseconds(now), longestGap: longestGap)
    guard phase == .following, now >= electableFrom else { return nil }
    if isOwn { return .held }
    if let leader {
      let name = leader.address.isEmpty ? leader.node : leader.address
      reason = "the node stands by; \(name) leads"
      if case .unchanged = condition { return condition }
      if plantedFault == .takesOverEarly { return .unchanged(leader.mark) }
      return nil
    }
    let lag = head.number - min(head.number, tail.number)
    return lag <= SharedLedgerLimits.electableLag ? .free : nil
  }

  /// The node has the lease, and no other node can append behind `head` any more. Nothing changes
  /// while the copy lacks a batch, or when the lease is as old as its lifetime, since another node
  /// may have taken over and committed: the node asks again.
  mutating func elect(_ term: Term, at now: Int64, head: LogPosition) {
    guard phase == .following, now - term.confirmed < lifetime else { return }
    guard tail >= head || plantedFault == .leadsBeforeCatchingUp else { return }
    self.term = term
    figures.terms += 1
    phase = .elected
    leader = nil
    isHandingOver = false
    reason = "the node is about to lead"
  }

  /// The node's server begins.
  mutating func lead() -> Bool {
    guard phase == .elected else { return false }
    phase = .leading
    return true
  }

  /// A renewal that was begun at `time` was confirmed.
  mutating func confirm(_ epoch: LogEpoch, begun time: Int64) {
    guard let term, term.epoch == epoch else { return }
    self.term?.confirmed = max(term.confirmed, time)
  }

  /// Sees the outcome of an append that was begun at `time`. It renews the lease as well.
  mutating func note(_ outcome: AppendOutcome, in term: Term, begun time: Int64) {
    switch outcome {
    case .appended:
      figures.appended += 1
      confirm(term.epoch, begun: time)
    case .fenced: figures.fenced += 1
    case .behind: figures.behind += 1
    }
  }

  /// Returns the term if this node leads and its lease cannot have been taken over: what it reads
  /// is then the newest, whatever other clocks say.
  func usableTerm(at now: Int64) -> Term? {
    guard phase == .leading, let term, isFresh(at: now) else { return nil }
    return term
  }

  /// True while the newest confirmed renewal is younger than the lifetime of leases.
  func isFresh(at now: Int64) -> Bool {
    guard let term else { return false }
    return now - term.confirmed < lifetime
  }

  /// Ends the term, if there is one.
  ///
  /// - Parameter waiting: The milliseconds for which the node leaves the lease to others.
  mutating func endTerm(_ reason: String, waiting: Int64, at now: Int64) {
    guard phase == .elected || phase == .leading else { return }
    phase = .following
    term = nil
    noteCheckpoint(nil)
    isLeaseLeft = true
    nextLook = .min
    if waiting > 0 { electableFrom = now + waiting }
    // Parts of a batch that was not finished are read again.
    (tail, tailID) = (LogPosition(mark.position), mark.id)
    self.reason = reason
  }

  /// Ends the term for another node, behind everything that was under way.
  mutating func handOver(_ reason: String, waiting: Int64, at now: Int64) {
    endTerm(reason, waiting: waiting, at: now)
    isHandingOver = phase == .following
    handedOverAt = now
  }

  /// The lease is given back, or in other hands.
  mutating func noteReleased() { isLeaseLeft = false }

  // MARK: - The end

  mutating func fail(_ error: LedgerError) {
    if isOver { return }
    endTerm(error.description, waiting: 0, at: 0)
    phase = .failed(error)
    reason = error.description
  }

  /// - Returns: Whether the node may hold the lease.
  mutating func close() -> Bool {
    let mayHoldLease = phase != .starting
    if phase != .closed {
      endTerm("the node ends", waiting: 0, at: 0)
      phase = .closed
      reason = "the node ends"
    }
    return mayHoldLease
  }
}

extension Duration {
  /// The duration in whole milliseconds.
  var wholeMilliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
