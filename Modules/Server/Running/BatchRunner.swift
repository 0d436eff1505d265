import TernLedger
import TernSecurity
import TernStorage
import TernSync
import TernTransport

/// Lets the machine decide batches and makes them durable. Lives and is used on the server's
/// executor only.
///
/// One batch is under way at a time. While the ledger commits, the executor takes further events,
/// which wait for the next batch; so the size of batches follows the load.
final class BatchRunner {
  /// The parts that a machine is made of.
  struct Parts {
    var options: ServerOptions
    var authorizer: any Authorizer
    var documentAuthorizer: any DocumentAuthorizer
    let authenticator: any Authenticator
    let budget: MemoryBudget
    let ambient: RuntimeEnvironment
    let places: DatabasePlaces

    fileprivate func machine(_ metrics: ServerMetrics, follows: Bool) -> ServerMachine {
      ServerMachine(
        options: options, authorizer: authorizer, documentAuthorizer: documentAuthorizer,
        authenticator: authenticator, budget: budget, metrics: metrics,
        randomBits: ambient.randomBits, follows: follows, places: places)
    }
  }

  private let ledger: any Ledger
  /// The ledger whose copy is read while another node leads; `nil` while this one decides.
  private var copy: (any FollowedLedger)?
  var parts: Parts
  private let uptime: @Sendable () -> Int64
  private let microseconds: @Sendable () -> Int64
  private let metrics: ServerMetrics
  private let report: @Sendable (ServerEvent) -> Void
  var machine: ServerMachine
  /// Batches in a row whose results were not those the machine had foreseen.
  ///
  /// Reset by each batch with commits that went as foreseen.
  private var contradictions = 0
  /// The state of the disk after the failure that is being reported, if it was a full disk.
  private var spaceAfterFailure = DiskSpace.none

  init(
    _ parts: Parts, over ledger: any Ledger, uptime: @escaping @Sendable () -> Int64,
    microseconds: @escaping @Sendable () -> Int64, _ metrics: ServerMetrics,
    report: @escaping @Sendable (ServerEvent) -> Void
  ) {
    self.parts = parts
    self.ledger = ledger
    self.uptime = uptime
    self.microseconds = microseconds
    self.metrics = metrics
    self.report = report
    machine = parts.machine(metrics, follows: false)
  }

  /// Reads what the machine has to know.
  func restore() async throws(LedgerError) {
    let uptime = uptime()
    try await ledger.read { snapshot throws(StorageError) in
      try machine.restore(from: snapshot, uptime: uptime)
    }
    for rules in machine.admin.unusableRules + machine.documents.unusableRules {
      report(.unusableRules(database: rules.database, problem: rules.problem))
    }
  }

  /// Makes the machine anew, to decide, or to follow what other nodes decide; ``restore()`` fills
  /// it.
  func beginAnew(following copy: (any FollowedLedger)? = nil) {
    machine.endReads()
    self.copy = copy
    machine = parts.machine(metrics, follows: copy != nil)
  }

  /// Makes the machine anew after a batch that failed; ``restore()`` fills it.
  ///
  /// - Parameter error: The failure of the batch. Sessions are lost with the machine: the server
  ///   closes their links, and clients connect again.
  /// - Returns: Whether another try is worth it. A full disk may be emptied at any time; a ledger
  ///   that contradicts itself again and again, with no batch between, does not become well by
  ///   being read once more.
  func renew(after error: LedgerError) -> Bool {
    metrics.failedBatches += 1
    machine.endReads()
    machine = parts.machine(metrics, follows: copy != nil)
    if error == .storage(.diskFull) {
      machine.lackSpace(exchange(&spaceAfterFailure, with: .none))
    }
    switch error {
    case .storage, .unavailable: return true
    case .corrupt:
      contradictions += 1
      return contradictions <= parts.options.limits.contradictions
    case .truncated, .foreignStore, .newerFormat: return false
    }
  }

  /// Lets other request rates be in force.
  func adopt(_ rates: RateLimits) {
    if rates == parts.options.limits.rates { return }
    parts.options.limits.rates = rates
    machine.sessions.rates = RateTable(rates)
  }

  /// Lets other limits on the memory of clients be in force.
  func adopt(memoryBytes: Int, _ perAddress: Int?, _ perIdentity: Int?) {
    parts.options.limits.memoryBytes = memoryBytes
    parts.options.limits.memoryBytesPerAddress = perAddress
    parts.options.limits.memoryBytesPerIdentity = perIdentity
    parts.budget.resize(
      limitBytes: memoryBytes, addressBytes: perAddress, identityBytes: perIdentity)
  }

  /// Decides a batch, and makes it durable.
  ///
  /// - Parameter inputs: In order; some may be left undecided, see ``ServerPlan/deferred``.
  /// - Returns: The plan, whose commits are durable. Its outputs may be performed.
  /// - Throws: The ledger's error. The machine's state is then ahead of the store, so
  ///   ``renew(after:)`` must follow.
  func run(_ inputs: [ServerInput]) async throws(LedgerError) -> ServerPlan {
    let begin = microseconds()
    var planned = begin
    var (results, plan) = try await decide(await findsSpace(at: inputs) ? [.room] + inputs : inputs)
    {
      planned = microseconds()
    }
    // The server is the store's only writer; another one would invalidate every decision.
    guard results.elementsEqual(plan.versions, by: { $0 == .committed($1) }) else {
      throw .corrupt(key: [])
    }
    try apply(plan, inputs)
    metrics.batches += 1
    metrics.batchInputs.record(inputs.count)
    metrics.planTime.record(Int(planned - begin))
    plan.times = BatchTimes(begun: begin, judged: planned)
    if !plan.commits.isEmpty {
      let stored = microseconds()
      plan.times.committed = stored
      contradictions = 0
      metrics.commits += plan.commits.count
      metrics.batchCommits.record(plan.commits.count)
      metrics.storeTime.record(Int(stored - planned))
    }
    if inputs.contains(where: \.isTick) { try await maintain() }
    return plan
  }

  /// Lets the copy apply what other nodes have committed.
  ///
  /// Clients are told after this returns, so a client never reads from the copy less than it was
  /// told.
  private func apply(_ plan: ServerPlan, _ inputs: [ServerInput]) throws(LedgerError) {
    guard let copy else { return }
    for input in plan.decided(of: inputs) {
      guard let followed = input.followed else { continue }
      if parts.options.plantedFault != .tellsWithoutApplying { try copy.apply(followed.batches) }
      followed.finish(isApplied: true)
    }
  }

  /// Lets the ledger do what time brings. A full disk takes no maintenance; writes meet it as well.
  private func maintain() async throws(LedgerError) {
    guard machine.diskSpace == .ample else { return }
    do throws(LedgerError) { try await ledger.maintain() } catch {
      if error != .storage(.diskFull) { throw error }
    }
  }

  /// Decides a batch and makes it durable. On a full disk the batch that meets it first is stored
  /// from what is held back for that, unless it writes so much that removals would lack it; from
  /// then on the machine takes removals alone.
  private func decide(
    _ inputs: [ServerInput], whenPlanned: () -> Void
  ) async throws(LedgerError) -> ([CommitResult], ServerPlan) {
    let now = parts.ambient.millisecondsSinceEpoch()
    let uptime = uptime()
    let portion = BatchPortion(
      linkBytes: LinkPressure.highBytes, totalBytes: parts.options.limits.batchBytes,
      steps: BatchPortion.sliceSteps, rows: BatchPortion.readRows)
    if let copy {
      let plan = try await copy.read { snapshot throws(StorageError) in
        try machine.plan(inputs, in: snapshot, now: now, uptime: uptime, portion: portion)
      }
      whenPlanned()
      guard plan.commits.isEmpty else {
        throw .unavailable(reason: "a node that follows was about to commit")
      }
      return ([], plan)
    }
    var planned: ServerPlan?
    do throws(LedgerError) {
      return try await ledger.decide { snapshot throws(StorageError) in
        let plan = try machine.plan(
          inputs, in: snapshot, now: now, uptime: uptime, portion: portion)
        planned = plan
        whenPlanned()
        return Decision(plan.commits, keeping: plan)
      }
    } catch {
      guard error == .storage(.diskFull), let planned else { throw error }
      if planned.commits.reduce(0, { $0 + $1.putBytes }) > Self.reservedPutBytes {
        spaceAfterFailure = .removals
        throw error
      }
      let results = try await ledger.commitFromReserve(planned.commits)
      if machine.diskSpace == .ample { report(.diskFull) }
      machine.lackSpace(.removals)
      return (results, planned)
    }
  }

  /// Looks, on every tick while the disk is full, whether it still is.
  ///
  /// - Returns: True when the reserve could be taken again, which shows that the disk has space.
  private func findsSpace(at inputs: [ServerInput]) async -> Bool {
    guard machine.diskSpace != .ample, inputs.contains(where: \.isTick) else { return false }
    do throws(LedgerError) { try await ledger.takeReserve() } catch {
      if machine.diskSpace == .none, (try? await ledger.commitFromReserve([])) != nil {
        machine.lackSpace(.removals)
      }
      return false
    }
    report(.diskHasRoom)
    return true
  }

  /// The most bytes of rows that one batch may put with space that is held back for removals.
  private static let reservedPutBytes = 64 << 10
}

extension Commit {
  /// The bytes of the rows that it puts.
  fileprivate var putBytes: Int {
    mutations.reduce(0) { sum, mutation in
      if case .put(let key, let value) = mutation { sum + key.count + value.count } else { sum }
    }
  }
}
