package import TernLedger
package import TernSecurity
import TernStorage

/// Something that happened at a link, or the passing of time.
package enum ServerInput: Sendable {
  /// A link was opened.
  case opened(slot: Int, isLocal: Bool, address: String = "")
  /// A frame arrived.
  case frame(slot: Int, [UInt8])
  /// The link has ended.
  case closed(slot: Int)
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

  init(over snapshot: borrowing LedgerSnapshot, now: Int64, uptime: Int64) {
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
    plan.outputs.append(output)
  }
}
