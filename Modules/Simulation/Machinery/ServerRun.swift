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
  /// Whose each slot is, until the machine has let it go.
  private(set) var holders: [Int: SimulatedLink] = [:]
  var isDeciding = false
  /// While its process stands still: what happens to it meanwhile.
  var stalled: [WorldEvent]?
  private var freeSlots: [Int] = []
  private var nextSlot = 0
  private let bits: BitSource
  /// Settled so often that a schedule meets the journal in every state.
  private static let ledgerOptions = LedgerOptions(journalRows: 8)

  init(over store: any OrderedStore, wall: WallClock, bits: BitSource) throws(LedgerError) {
    self.bits = bits
    ledger = try EmbeddedLedger(store: store, options: Self.ledgerOptions) { wall.now }
    machine = Self.makeMachine(bits)
  }

  private static func makeMachine(_ bits: BitSource) -> ServerMachine {
    ServerMachine(
      options: ServerOptions(), authorizer: PlaygroundRules(),
      documentAuthorizer: DocumentPlaygroundRules(), authenticator: PlaygroundTokens(),
      randomBits: { bits.next() })
  }

  /// Begins again with what is stored.
  func restore(uptime: Int64) throws(LedgerError) {
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

/// What a batch has led to, and is to be told once it is durable.
struct Told {
  let outputs: [ServerOutput]
  /// The server's versions before and after the batch.
  let before: Version
  let after: Version
}
