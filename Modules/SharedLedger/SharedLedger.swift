import Synchronization
public import TernCommitLog
public import TernLedger
public import TernStorage

/// A ledger whose truth is a log that several nodes share, with a copy in a store beside each.
///
/// The node that holds the shard's lease leads: it decides on its copy, appends what it decided
/// behind the position and under the epoch that it knows, applies it to its copy, and only then
/// answers. Every other node applies what the log holds. An append that is not the next one changes
/// nothing, so two leaders never both append, whatever their clocks say.
///
/// Every method may be called from any thread. ``start()`` begins the node's own work.
public final class SharedLedger: LeasedLedger {
  let log: any CommitLog
  let store: any OrderedStore
  let options: SharedLedgerOptions
  let environment: NodeEnvironment
  let state: Mutex<NodeState>
  /// Guards every change of the copy.
  let turn = AsyncTurn()
  let changes = CommitWaiters()
  let duty: Mutex<CheckpointDuty>
  /// The server that reads from the copy while another node leads.
  let following = CopyFollowing()
  /// The other nodes, as a leader knows them.
  let nodes = Mutex(NodeWatch())
  let clocks = ClockWatch()
  private let copyBox = Mutex<EmbeddedLedger?>(nil)
  private let assemblerBox = Mutex(BatchAssembler())
  private let groups = Mutex<[GroupRequest]>([])
  /// The node's own work, and beside it its duties; empty before ``start()``.
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// A node of a shared ledger, which does nothing until ``start()``.
  ///
  /// - Parameters:
  ///   - store: Holds the node's copy: an empty store, or one that was a copy of the same shard.
  ///   - environment: The time and the randomness of the node.
  public init(
    log: any CommitLog, store: any OrderedStore, options: SharedLedgerOptions,
    environment: NodeEnvironment
  ) {
    self.log = log
    self.store = store
    self.options = options
    self.environment = environment
    state = Mutex(NodeState(options))
    duty = Mutex(CheckpointDuty())
  }

  /// Lets the node follow the log and seek the lease, until it is closed.
  public func start() {
    tasks.withLock { tasks in
      guard tasks.isEmpty else { return }
      tasks = [
        Task.detached { [self] in await NodeLoop(ledger: self).run() },
        Task.detached { [self] in await NodeDuties(ledger: self).runCheckpoint() },
        Task.detached { [self] in await NodeDuties(ledger: self).runAnnouncing() },
      ]
    }
  }

  /// Ends the node's work, and gives back the lease if it has it, so that the next leader need not
  /// wait. Closes the log.
  public func close() async {
    let mayHoldLease = state.withLock { $0.close() }
    changes.resumeAll()
    let running = tasks.withLock { $0 }
    for task in running { task.cancel() }
    // The lease does not wait for the checkpoint.
    await running.first?.value
    await turn.take()
    if mayHoldLease, options.plantedFault != .forgetsLease {
      try? await log.releaseLease(options.shard, name: .leader, node: options.node)
    }
    turn.give()
    // The last of the tasks speaks to the other nodes; a node that was never started has none.
    if let announcing = running.last {
      await announcing.value
      await NodeDuties(ledger: self).withdraw()
    }
    await log.close()
    for task in running { await task.value }
  }

  /// Milliseconds on a clock that does not jump.
  func uptime() -> Int64 { environment.uptime() }

  /// The uptime from which a renewal of the lease counts that was begun at `time`, and is confirmed
  /// now: the log may have seen it at once.
  func origin(_ time: Int64) -> Int64 {
    options.plantedFault == .countsRenewalsFromAnswers ? uptime() : time
  }

  // MARK: - Terms

  public var standing: LedgerStanding {
    let age = following.age(at: uptime())
    return state.withLock { $0.standing(copyAge: age, clockOffset: clocks.offset) }
  }

  /// The figures of this node since its start.
  public var figures: NodeFigures { state.withLock { $0.figures } }

  /// True when ``beginTerm()`` returns at once.
  package var isElected: Bool { state.withLock { $0.phase == .elected } }

  public func beginTerm() async throws(LedgerError) {
    while true {
      let phase = state.withLock { state in
        state.lead() ? NodeState.Phase.leading : state.phase
      }
      switch phase {
      case .leading: return changes.resumeAll()
      case .failed(let error): throw error
      case .closed: throw .unavailable(reason: "the ledger is closed")
      default: break
      }
      if Task.isCancelled { throw .unavailable(reason: "the node ends") }
      await changes.wait(unless: {
        state.withLock { $0.phase == .elected || $0.isOver }
      })
    }
  }

  public func endOfTerm() async -> String {
    while !Task.isCancelled, state.withLock({ $0.phase == .leading }) {
      await changes.wait(unless: { state.withLock { $0.phase != .leading } })
    }
    return state.withLock { $0.reason }
  }

  /// Waits until this node begins or ends a term, another node than `standing` says is known to
  /// lead, the ledger is over, or the task cancelled.
  ///
  /// - Returns: The standing that differs; `nil` once the ledger is over or the task cancelled.
  @discardableResult
  public func changeOfLeader(after standing: LedgerStanding) async -> LedgerStanding? {
    while !Task.isCancelled, !state.withLock({ $0.isOver }) {
      if let next = state.withLock({ $0.standing(unlike: standing) }) { return next }
      await changes.wait(unless: {
        state.withLock { $0.isOver || $0.standing(unlike: standing) != nil }
      })
    }
    return nil
  }

  /// Ends the term after something that this node cannot repair by going on.
  func endTerm(_ reason: String, waiting: Duration = .zero) {
    let now = uptime()
    state.withLock { $0.endTerm(reason, waiting: waiting.wholeMilliseconds, at: now) }
    changes.resumeAll()
  }

  /// Ends the term for another node: the sessions of this one may go on here, once that one leads.
  package func handOver(_ reason: String) {
    let (now, waiting) = (uptime(), options.leaseLifetime * 2)
    state.withLock { $0.handOver(reason, waiting: waiting.wholeMilliseconds, at: now) }
    changes.resumeAll()
  }

  // MARK: - The copy

  /// The copy; `nil` while there is none.
  package var copy: EmbeddedLedger? {
    get { copyBox.withLock { $0 } }
    set { copyBox.withLock { $0 = newValue } }
  }

  /// Puts the parts of batches together. Used by the holder of the turn.
  var assembler: BatchAssembler {
    get { assemblerBox.withLock { $0 } }
    set { assemblerBox.withLock { $0 = newValue } }
  }

  func openCopy() throws(LedgerError) -> EmbeddedLedger {
    if let copy { return copy }
    throw .unavailable(reason: state.withLock { $0.reason })
  }

  // MARK: - Groups

  /// Adds commits to those that share the next append.
  func enqueue(_ commits: [Commit]) -> GroupRequest {
    let request = GroupRequest(commits)
    groups.withLock { $0.append(request) }
    return request
  }

  /// The callers whose commits wait for an append.
  var waitingCommits: Int { groups.withLock { $0.count } }

  /// Takes the requests that share an append, oldest first; at least one when there is one.
  func takeGroup() -> [GroupRequest] {
    groups.withLock { waiting in
      var (count, bytes, commits) = (0, 0, 0)
      for request in waiting {
        bytes += request.byteCount
        commits += request.commits.count
        let isTooMuch =
          commits > SharedLedgerLimits.commitsPerGroup || bytes > SharedLedgerLimits.groupBytes
        if count > 0, isTooMuch { break }
        count += 1
      }
      defer { waiting.removeFirst(count) }
      return Array(waiting.prefix(count))
    }
  }
}

extension SharedLedger: BackupSource {
  public func backUp(
    at time: Int64, on base: BackupIndex?, opened: (Version) -> Void,
    emit: @escaping ([UInt8]) throws(StorageError) -> Void
  ) throws(LedgerError) -> BackupSummary {
    try openCopy().backUp(at: time, on: base, opened: opened, emit: emit)
  }
}

/// The sources of time and randomness of a node.
public struct NodeEnvironment: Sendable {
  /// The clock that pauses are measured on.
  public let clock: any Clock<Duration>
  /// Milliseconds on a clock that does not jump, since any moment.
  public let uptime: @Sendable () -> Int64
  /// Draws 64 random bits.
  public let randomBits: @Sendable () -> UInt64
  /// The time on this machine's clock, in milliseconds since 1970; `nil` for a node that does not
  /// compare it with that of the log.
  public let time: (@Sendable () -> Int64)?

  /// Sources of time and randomness.
  public init(
    clock: any Clock<Duration>, uptime: @escaping @Sendable () -> Int64,
    randomBits: @escaping @Sendable () -> UInt64, time: (@Sendable () -> Int64)? = nil
  ) {
    self.time = time
    self.clock = clock
    self.uptime = uptime
    self.randomBits = randomBits
  }

  /// Draws a 128-bit id.
  func randomID() -> UInt128 { UInt128(randomBits()) << 64 | UInt128(randomBits()) }
}

/// The commits of one caller that wait for a group.
final class GroupRequest: Sendable {
  let commits: [Commit]
  private let outcome = Mutex<Result<[CommitResult], LedgerError>?>(nil)

  init(_ commits: [Commit]) { self.commits = commits }

  /// The results once the group is over.
  var result: Result<[CommitResult], LedgerError>? {
    get { outcome.withLock { $0 } }
    set { outcome.withLock { $0 = newValue } }
  }

  /// The bytes of the rows and records.
  var byteCount: Int {
    commits.reduce(0) { sum, commit in
      commit.mutations.reduce(sum + commit.record.count) { sum, mutation in
        if case .put(let key, let value) = mutation { sum + key.count + value.count } else { sum }
      }
    }
  }
}
