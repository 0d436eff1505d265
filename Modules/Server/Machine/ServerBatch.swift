package import TernLedger
package import TernSecurity
import TernStorage

/// Something that happened at a link, or the passing of time.
package enum ServerInput: Sendable {
  /// A link was opened.
  case opened(slot: Int, isLocal: Bool, address: String = "")
  /// A frame arrived.
  case frame(slot: Int, [UInt8])
  /// A large frame arrived and was decoded away from the server's executor.
  case prepared(slot: Int, PreparedFrame)
  /// The link has ended.
  case closed(slot: Int)
  /// Something arrived over the link, which is not decided yet.
  case heard(slot: Int)
  /// Somebody without a session asks for something.
  case direct(ticket: UInt64, DirectRequest)
  /// Others decide from now on who may do what; the ticket is answered when they are in force.
  case adopt(ticket: UInt64, ServerAccess)
  /// Time to look for the dead.
  case tick
  /// There is room again to store what clients write.
  case room
}

extension ServerInput {
  /// Whether it is the passing of time.
  var isTick: Bool { if case .tick = self { true } else { false } }
}

/// What a server can store. Source: Docs/ARCHITECTURE.md, "A full disk".
package enum DiskRoom: Sendable {
  /// Everything.
  case ample
  /// The disk is full: what only removes, from what is held back for that.
  case removals
  /// The disk is full, and so is what was held back.
  case none
}

/// Who decides about the requests that follow; what is `nil` stays as it is.
package struct ServerAccess: Sendable {
  package var tree: (any Authorizer)?
  package var documents: (any DocumentAuthorizer)?

  package init(
    tree: (any Authorizer)? = nil, documents: (any DocumentAuthorizer)? = nil
  ) {
    self.tree = tree
    self.documents = documents
  }
}

/// Something the machine wants done, once its commits are durable.
package enum ServerOutput: Sendable, Equatable {
  /// Send a frame to one link.
  case send(slot: Int, [UInt8])
  /// Send the same frame to many links.
  case broadcast(slots: [Int], [UInt8])
  /// Answer a request that was made without a session.
  case answer(ticket: UInt64, DirectAnswer)
  /// Close a link, after what was sent to it.
  case close(slot: Int, SessionEnd)
}

/// What was decided about a batch: commits to make, then outputs to perform.
package struct ServerPlan: Sendable {
  /// In order.
  package fileprivate(set) var commits: [Commit] = []
  /// In order.
  package fileprivate(set) var outputs: [ServerOutput] = []
  /// The version each commit has to get.
  package fileprivate(set) var versions: [Version] = []
  /// Inputs that were not decided, in order: what was made for their links, or altogether, is to
  /// be sent first.
  package fileprivate(set) var deferred: [ServerInput] = []
  /// The inputs that were decided, if any was not.
  fileprivate var decided: [ServerInput] = []

  /// The inputs that were decided, in order.
  package func decided(of inputs: [ServerInput]) -> [ServerInput] {
    deferred.isEmpty ? inputs : decided
  }
}

/// How much one batch may make to be sent before inputs wait for the next one.
package struct BatchPortion: Sendable {
  /// The bytes for one link after which its further inputs wait.
  package var linkBytes: Int
  /// The bytes for all links after which all further inputs wait.
  package var totalBytes: Int

  /// Limits in bytes.
  package init(linkBytes: Int, totalBytes: Int) {
    self.linkBytes = linkBytes
    self.totalBytes = totalBytes
  }

  /// No limits.
  package static let unlimited = BatchPortion(linkBytes: .max, totalBytes: .max)
}

/// One batch while it is decided: what it has seen and what it owes.
struct ServerBatch {
  /// What is stored, with the batch's own changes on top.
  let reader: any StoreReader
  private let pending: PendingReader
  /// Wall-clock time in milliseconds since 1970; all writes of the batch happen then.
  let now: Int64
  /// Milliseconds of the machine's uptime; never jumps.
  let uptime: Int64
  /// The version of the last commit decided.
  private(set) var version: Version
  private(set) var plan = ServerPlan()
  /// Pushes of whole listens at the current version, for the next who listens to the same.
  var initialPushes: [ObjectIdentifier: PushFrame] = [:]

  private let portion: BatchPortion
  /// Bytes made for each link, by slot; frames too short to matter are not counted.
  private var madeBytes: [Int: Int] = [:]
  private var madeInAll = 0
  private var deferredSlots: Set<Int> = []

  init(
    over snapshot: borrowing LedgerSnapshot, now: Int64, uptime: Int64,
    portion: BatchPortion = .unlimited
  ) {
    self.portion = portion
    pending = PendingReader(over: snapshot.reader)
    reader = pending
    version = snapshot.version
    self.now = now
    self.uptime = uptime
  }

  /// What later reads of the batch are to see.
  var changes: PendingReader { pending }

  /// Adds a commit; its mutations were given to ``changes`` already.
  mutating func add(_ commit: Commit) {
    if !commit.isOutcomeOnly {
      version += 1
      initialPushes.removeAll()
    }
    plan.commits.append(commit)
    plan.versions.append(version)
  }

  mutating func add(_ output: ServerOutput) {
    if case .send(let slot, let frame) = output, frame.count >= Self.countedBytes {
      madeBytes[slot, default: 0] += frame.count
      madeInAll += frame.count
    }
    plan.outputs.append(output)
  }

  /// Frames of fewer bytes are not counted: a whole batch of them is less than one portion.
  private static let countedBytes = 1_024

  /// Whether an input has to wait for the next batch, because enough was made to be sent; then it
  /// is kept for that.
  mutating func defers(_ input: ServerInput, at index: Int, of inputs: [ServerInput]) -> Bool {
    guard madeInAll > 0, isToWait(input) else {
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
    case .opened(let slot, _, _), .frame(let slot, _), .prepared(let slot, _), .closed(let slot):
      madeInAll > portion.totalBytes || deferredSlots.contains(slot)
        || madeBytes[slot, default: 0] > portion.linkBytes
    case .direct: madeInAll > portion.totalBytes
    case .adopt, .heard, .tick, .room: false
    }
  }
}
