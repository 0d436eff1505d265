import TernLedger
import TernSecurity
import TernStorage
import TernTreeWire

/// One batch while it is decided: what it has seen and what it owes.
///
/// The machine makes one for each batch, passes it through all services, and takes the plan at the
/// end. Reads see the batch's own changes, which exist only in memory until the ledger commits.
///
/// Work is bounded in three ways: bytes made for one link, bytes made in all, and steps. An input
/// that meets a bound waits for the next batch, together with all later inputs of its link.
struct ServerBatch {
  /// The store, with the batch's own changes on top.
  let reader: any StoreReader
  /// The same, for reads of documents: it counts what they read.
  let counted: CountingReader
  private let pending: PendingReader
  /// Wall-clock time in milliseconds since 1970; all writes of the batch happen then.
  let now: Int64
  /// Milliseconds of the machine's uptime; never jumps.
  let uptime: Int64
  /// The version of the last commit decided.
  private(set) var version: Version
  private(set) var plan = ServerPlan()
  /// First answers at the current version, for further listens of their groups.
  var initialAnswers = InitialAnswers()

  /// The state of writers and of the disk; the machine's between batches.
  private(set) var stage: CommitStage

  private let portion: BatchPortion
  /// Bounds what is pushed.
  private(set) var pushes: PushBounds
  /// Bytes made for each link, by slot; short frames are not counted.
  ///
  /// They are compared with ``BatchPortion/linkBytes``.
  private var madeBytes: [Int: Int] = [:]
  private var madeInAll = 0
  /// The links with inputs that wait for the next batch.
  ///
  /// Inputs of one link keep their order: once one of them waits, so do all later ones.
  private var deferredSlots: Set<Int> = []
  /// The links with calls that have more to answer.
  private var continued: [Int] = []
  /// Steps that may be taken yet; negative when the last piece of work took more.
  private(set) var stepsLeft: Int
  /// Counts what is decided.
  let metrics: ServerMetrics

  init(
    over snapshot: borrowing LedgerSnapshot, _ stage: CommitStage, now: Int64, uptime: Int64,
    portion: BatchPortion = .unlimited, pushes: PushBounds, metrics: ServerMetrics
  ) {
    self.pushes = pushes
    self.metrics = metrics
    self.stage = stage
    self.portion = portion
    stepsLeft = portion.steps
    pending = PendingReader(over: snapshot.reader)
    reader = pending
    counted = CountingReader(over: pending)
    version = snapshot.version
    self.now = now
    self.uptime = uptime
  }

  /// The changes that later reads of the batch see.
  var changes: PendingReader { pending }

  /// Adds a commit; its mutations were given to ``changes`` already.
  mutating func add(_ commit: Commit) {
    if !commit.isOutcomeOnly {
      version += 1
      initialAnswers = InitialAnswers()
    }
    plan.commits.append(commit)
    plan.versions.append(version)
  }

  /// Applies mutations that say nothing about data, and commits them without a record in the log.
  mutating func commit(_ mutations: [Mutation]) {
    changes.apply(mutations)
    add(Commit(mutations: mutations, record: []))
  }

  /// Sees a commit of another node.
  ///
  /// The known state of the commit's writer is forgotten, because the commit has changed it.
  mutating func follow(_ commit: Commit) {
    changes.apply(commit.mutations)
    if !commit.isOutcomeOnly {
      version += 1
      initialAnswers = InitialAnswers()
    }
    if let claim = commit.claim { stage.forget(claim.id.stream) }
  }

  mutating func add(_ output: ServerOutput) {
    switch output {
    case .send(let slot, let frame) where frame.count >= Self.countedBytes:
      madeBytes[slot, default: 0] += frame.count
      madeInAll += frame.count
    case .broadcast(_, let frame) where frame.count >= Self.countedBytes: madeInAll += frame.count
    case .send, .broadcast: madeInAll += Self.shortBytes
    case .answer, .close: break
    }
    plan.outputs.append(output)
  }

  /// Returns those of the links that may be sent a push of so many bytes; ends the others.
  ///
  /// - Parameter isNew: Whether the frame was sent to no link yet.
  mutating func admit(_ slots: [Int], toPushOf bytes: Int, isNew: inout Bool) -> [Int] {
    if bytes < PushBounds.countedBytes, !pushes.hasEnded { return slots }
    var others: Set<Int> = []
    for slot in slots {
      let verdict = pushes.admit(bytes, for: slot, isNew: &isNew)
      if verdict == .admitted { continue }
      others.insert(slot)
      if case .ends(let reason) = verdict { add(.close(slot: slot, reason)) }
    }
    // The same array as long as nothing is taken out: equal ones are sent together.
    return others.isEmpty ? slots : slots.filter { !others.contains($0) }
  }

  /// Frames of fewer bytes are not counted for their link, and alike for all links together.
  private static let countedBytes = 1_024
  /// The bytes that a short frame counts for: one write may have very many pushes.
  private static let shortBytes = 64

  /// Returns true when an input has to wait for the next batch, because the output is large enough;
  /// then it is kept for that.
  ///
  /// - Parameters:
  ///   - index: The position of the input in `inputs`.
  ///   - inputs: All inputs of the batch, from which the decided ones are gathered at the first
  ///     deferral.
  mutating func defers(_ input: ServerInput, at index: Int, of inputs: [ServerInput]) -> Bool {
    guard madeInAll > 0 || stepsLeft <= 0 || !deferredSlots.isEmpty, isToWait(input) else {
      if !plan.deferred.isEmpty { plan.decided.append(input) }
      return false
    }
    if plan.deferred.isEmpty { plan.decided = Array(inputs[..<index]) }
    if let slot = input.slot { deferredSlots.insert(slot) }
    plan.deferred.append(input)
    return true
  }

  private func isToWait(_ input: ServerInput) -> Bool {
    switch input {
    case .opened(let slot, _, _), .frame(let slot, _), .prepared(let slot, _),
      .judge(let slot, _, _), .closed(let slot), .more(let slot), .read(let slot, _):
      madeInAll > portion.totalBytes || stepsLeft <= 0 || deferredSlots.contains(slot)
        || madeBytes[slot, default: 0] > portion.linkBytes
    case .direct, .readDirect: madeInAll > portion.totalBytes || stepsLeft <= 0
    case .adopt, .heard, .followed, .tick, .room, .goOn: false
    }
  }

  /// The bytes of an answer that are read in a step.
  static let bytesPerStep = 256

  /// Counts steps of long work.
  mutating func spend(_ steps: Int) { stepsLeft -= min(steps, 1 << 32) }

  /// Counts the steps of rows that were read for an input, unless they were few.
  ///
  /// - Parameter before: The value of ``CountingReader/rows`` before the input.
  mutating func spendRows(since before: Int) {
    let rows = counted.rows - before
    if rows > Self.freeRows { spend(rows: rows) }
  }

  /// So many rows of an input are not counted: every input reads some.
  private static let freeRows = 8

  /// Reads on the server's executor, as long as it takes few rows.
  ///
  /// - Parameters:
  ///   - charge: Holds the memory of the read.
  ///   - portions: The portions of rows that it may take.
  /// - Returns: `nil` when it takes more; then it has changed nothing.
  func read<Value>(
    _ charge: ReadCharge?, portions: Int = 1,
    _ body: (any StoreReader) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    let (rows, isHuge) = portion.rows.multipliedReportingOverflow(by: portions)
    return try counted.read(atMost: isHuge ? .max : rows, charge, body)
  }

  /// Lets a read go on beside the server's executor.
  mutating func add(_ job: ReadJob) {
    plan.reads.append(job)
    if job.holdsLink { deferredSlots.insert(job.slot) }
  }

  /// Lets a read that is done serve a call of another link, too.
  mutating func add(_ job: ReadJob, for slot: Int) { plan.shared.append((slot, job)) }

  /// Charges a link, or an address, with rows that were read beside the server's executor.
  mutating func charge(rows: Int, of origin: InputOrigin) {
    plan.costs.append(InputCost(origin: origin, steps: min(rows, 1 << 32) * Self.stepsPerRow))
  }

  /// Notes that an input took the steps from `before` to those that are left.
  mutating func noteCost(of input: ServerInput, since before: Int) {
    if before > stepsLeft {
      if before - stepsLeft > ServerMetrics.slowSteps { metrics.slowRequests += 1 }
      plan.costs.append(InputCost(origin: input.origin, steps: before - stepsLeft))
    }
  }

  /// Notes a write that is followed.
  mutating func note(_ write: TracedWrite) { plan.writes.append(write) }

  /// The steps of reading a row of the store, which takes about two microseconds.
  static let stepsPerRow = 2

  /// Counts the steps of reading rows.
  mutating func spend(rows: Int) { spend(min(rows, 1 << 32) * Self.stepsPerRow) }

  /// Keeps an input, which was begun to be decided, for the next batch.
  mutating func putOff(_ input: ServerInput, at index: Int, of inputs: [ServerInput]) {
    if plan.deferred.isEmpty {
      plan.decided = Array(inputs[..<index])
    } else {
      plan.decided.removeLast()
    }
    if let slot = input.slot { deferredSlots.insert(slot) }
    plan.deferred.append(input)
  }

  /// True when long answers go out in portions, so that no link waits for those of others.
  var isBounded: Bool { portion.linkBytes < .max }

  /// Lets calls of a link go on with their answers in another batch.
  mutating func goOnLater(_ slot: Int) {
    if !continued.contains(slot) { continued.append(slot) }
  }

  /// Notes what is to go on behind the inputs of the batch.
  mutating func finish(_ inputs: [ServerInput]) {
    if continued.isEmpty { return }
    if plan.deferred.isEmpty { plan.decided = inputs }
    let known = plan.deferred.compactMap { if case .more(let slot) = $0 { slot } else { nil } }
    plan.deferred = continued.filter { !known.contains($0) }.map { .more(slot: $0) } + plan.deferred
  }

  /// Notes that work is left for the next batch.
  mutating func leaveWork() { plan.isUnfinished = true }

  // MARK: - Writers

  /// The space that can be written to.
  var diskSpace: DiskSpace { stage.diskSpace }

  /// Notes that the disk has space again.
  mutating func noteSpace() { stage.diskSpace = .ample }

  /// Returns the state of a writer, the batch's own writes included.
  mutating func state(of writerID: UInt128) throws(StorageError) -> StreamState {
    try stage.state(of: writerID, in: reader, at: version)
  }

  /// Records the outcome of a write that was added just now.
  mutating func record(_ key: IdempotencyKey, _ outcome: [UInt8]) {
    stage.record(key, version, outcome)
  }

  /// Returns true when rejections of a writer's numbered writes are stored: it has proved an
  /// identity, or had a write accepted before.
  func hasStanding(_ identity: Identity, _ key: IdempotencyKey) -> Bool {
    identity != .anonymous || stage.lastSequence(of: key.id.stream) > 0
  }

  /// Stores the rejections before a write that is stored itself.
  ///
  /// Outcomes have to be gap-free, so earlier rejections that were held in memory come first.
  mutating func store(_ refused: inout RefusedWrites, before key: IdempotencyKey) {
    let known = stage.lastSequence(of: key.id.stream)
    for (key, outcome) in refused.take(before: key, behind: known) {
      add(Commit(claim: key, mutations: [], record: [], outcome: outcome))
      record(key, outcome)
    }
  }

  // MARK: - Messages of the tree's dialect

  /// Sends a message to a session.
  mutating func send(_ message: TreeServerMessage, to session: Session) {
    add(.send(slot: session.slot, message.encode()))
  }

  /// Answers a request.
  mutating func respond(_ response: TreeResponse, to call: TreeCall) {
    respond(response, to: call.number, call.session)
  }

  /// Answers the request of that number.
  mutating func respond(_ response: TreeResponse, to number: UInt64, _ session: Session) {
    if response.status == .permissionDenied { metrics.denials += 1 }
    send(.response(number, response), to: session)
  }
}
