import TernLedger
import TernSecurity
import TernServer
import TernSharedLedger
import TernStorage

/// One run of the server's process: its machine over the ledger on its disk. In a cluster, one term
/// of it over the node's copy.
final class ServerRun {
  let process: ServerProcess
  let ledger: EmbeddedLedger
  /// `true` once its process, or its term, is over.
  var isOver = false
  var machine: ServerMachine
  var inbox: [ServerInput] = []
  /// The open links, by slot.
  var links: [Int: SimulatedLink] = [:]
  /// The link of each connection index, until the machine releases it.
  private(set) var holders: [Int: SimulatedLink] = [:]
  var isDeciding = false
  private var freeSlots: [Int] = []
  private var nextSlot = 0
  private let bits: BitSource
  /// Decides about documents that have no rules of their own: the rules in the server's file.
  var documentAuthorizer: any DocumentAuthorizer
  /// The operator's requests without an answer, by ticket.
  var orders: [UInt64: OperatorOrder] = [:]
  /// The server's clock for what passes, behind the world's: it begins anywhere at each start.
  let uptimeOffset: Int64

  /// Limits so small that a schedule meets the journal in every state, a log that was cut by its
  /// count, its bytes and its age, and searches for silent writers. No writer of a world is silent
  /// for as long as its retention, whatever the clocks say.
  static let ledgerOptions = LedgerOptions(
    logLimit: 256, journalRows: 8, streamLifetime: .seconds(86_400), logBytes: 64 << 10,
    logAge: .seconds(120), maintenancePause: .seconds(15))

  init(
    over store: any OrderedStore, wall: WallClock, uptimeOffset: Int64, bits: BitSource,
    documentAuthorizer: any DocumentAuthorizer
  ) throws(LedgerError) {
    self.bits = bits
    self.documentAuthorizer = documentAuthorizer
    self.uptimeOffset = uptimeOffset
    process = ServerProcess()
    ledger = try EmbeddedLedger(store: store, options: Self.ledgerOptions) { wall.now }
    machine = Self.makeMachine(bits, documentAuthorizer)
  }

  /// The term of a node's server, over the node's copy of the log.
  init(
    of process: NodeProcess, over copy: EmbeddedLedger, bits: BitSource,
    documentAuthorizer: any DocumentAuthorizer
  ) {
    self.bits = bits
    self.documentAuthorizer = documentAuthorizer
    self.process = process
    uptimeOffset = process.uptimeOffset
    ledger = copy
    machine = Self.makeMachine(bits, documentAuthorizer)
  }

  private static func makeMachine(
    _ bits: BitSource, _ documentAuthorizer: any DocumentAuthorizer
  ) -> ServerMachine {
    ServerMachine(
      options: ServerOptions(), authorizer: WorkloadRules(),
      documentAuthorizer: documentAuthorizer, authenticator: WorkloadTokens(),
      randomBits: { bits.next() })
  }

  /// Begins again with what is stored.
  ///
  /// - Parameter now: The world's time.
  func restore(now: Int64) throws(LedgerError) {
    let uptime = now + uptimeOffset
    machine = Self.makeMachine(bits, documentAuthorizer)
    try ledger.read { snapshot throws(StorageError) in
      try machine.restore(from: snapshot, uptime: uptime)
    }
  }

  func takeSlot() -> Int {
    if let slot = freeSlots.popLast() { return slot }
    nextSlot += 1
    return nextSlot - 1
  }

  /// A link has opened.
  func add(_ link: SimulatedLink) {
    links[link.slot] = link
    holders[link.slot] = link
  }

  /// Gives back the slots of links whose end the machine was told, or will never be.
  func giveBackSlots(of inputs: [ServerInput]) {
    for case .closed(let slot) in inputs {
      holders[slot] = nil
      freeSlots.append(slot)
    }
  }

  /// Decides inputs and makes it durable.
  func decide(
    _ inputs: [ServerInput], now: Int64, uptime: Int64
  ) throws(LedgerError) -> Told {
    let (results, (plan, before)) = try ledger.decide { snapshot throws(StorageError) in
      let plan = try machine.plan(inputs, in: snapshot, now: now, uptime: uptime)
      return Decision(plan.commits, keeping: (plan, snapshot.version))
    }
    return try told(plan, before, results)
  }

  /// Decides inputs and makes it durable in the log that nodes share.
  func decide(
    _ inputs: [ServerInput], now: Int64, uptime: Int64, by shared: SharedLedger
  ) async throws(LedgerError) -> Told {
    let (results, (plan, before)) = try await shared.decide { snapshot throws(StorageError) in
      let plan = try machine.plan(inputs, in: snapshot, now: now, uptime: uptime)
      return Decision(plan.commits, keeping: (plan, snapshot.version))
    }
    return try told(plan, before, results)
  }

  private func told(
    _ plan: ServerPlan, _ before: Version, _ results: [CommitResult]
  ) throws(LedgerError) -> Told {
    guard results == plan.versions.map({ CommitResult.committed($0) }) else {
      throw .corrupt(key: [])
    }
    return Told(outputs: plan.outputs, before: before, after: plan.versions.last ?? before)
  }
}

/// The outputs of a batch, to be sent once it is durable.
struct Told {
  let outputs: [ServerOutput]
  /// The server's versions before and after the batch.
  let before: Version
  let after: Version
}
