import TernLedger
import TernSecurity
import TernServer
import TernStorage

/// One run of the server's process: its machine over the ledger on its disk.
final class ServerRun {
  let ledger: EmbeddedLedger
  var machine: ServerMachine
  var inbox: [ServerInput] = []
  /// The open links, by slot.
  var links: [Int: SimulatedLink] = [:]
  /// The link of each connection index, until the machine releases it.
  private(set) var holders: [Int: SimulatedLink] = [:]
  var isDeciding = false
  /// While its process stands still: what happens to it meanwhile.
  var stalled: [WorldEvent]?
  private var freeSlots: [Int] = []
  private var nextSlot = 0
  private let bits: BitSource
  /// The server's clock for what passes, behind the world's: it begins anywhere at each start.
  let uptimeOffset: Int64

  /// Limits so small that a schedule meets the journal in every state, a log that was cut by its
  /// count, its bytes and its age, and searches for silent writers. No writer of a world is silent
  /// for as long as its retention, whatever the clocks say.
  static let ledgerOptions = LedgerOptions(
    logLimit: 256, journalRows: 8, streamLifetime: .seconds(86_400), logBytes: 64 << 10,
    logAge: .seconds(120), maintenancePause: .seconds(15))

  init(
    over store: any OrderedStore, wall: WallClock, uptimeOffset: Int64, bits: BitSource
  ) throws(LedgerError) {
    self.bits = bits
    self.uptimeOffset = uptimeOffset
    ledger = try EmbeddedLedger(store: store, options: Self.ledgerOptions) { wall.now }
    machine = Self.makeMachine(bits)
  }

  private static func makeMachine(_ bits: BitSource) -> ServerMachine {
    ServerMachine(
      options: ServerOptions(), authorizer: WorkloadRules(),
      documentAuthorizer: DocumentWorkloadRules(), authenticator: WorkloadTokens(),
      randomBits: { bits.next() })
  }

  /// Begins again with what is stored.
  ///
  /// - Parameter now: The world's time.
  func restore(now: Int64) throws(LedgerError) {
    let uptime = now + uptimeOffset
    machine = Self.makeMachine(bits)
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
