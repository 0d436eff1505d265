import TernLedger
import TernSecurity
import TernServer
import TernStorage

/// One run of the server's process: its machine over the ledger on its disk.
final class ServerRun {
  let ledger: EmbeddedLedger
  var machine: ServerMachine
  var inbox: [ServerInput] = []
  var links: [Int: SimulatedLink] = [:]
  var isDeciding = false
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

  func giveBack(_ slot: Int) { freeSlots.append(slot) }

  /// Decides what waits and makes it durable.
  ///
  /// - Returns: What is to be told, and the versions before and after.
  func decide(
    _ inputs: [ServerInput], now: Int64, uptime: Int64
  ) throws(LedgerError) -> (outputs: [ServerOutput], before: Version, after: Version) {
    let (results, (plan, before)) = try ledger.decide { snapshot throws(StorageError) in
      let plan = try machine.plan(inputs, in: snapshot, now: now, uptime: uptime)
      return Decision(plan.commits, keeping: (plan, snapshot.version))
    }
    guard results == plan.versions.map({ CommitResult.committed($0) }) else {
      throw .corrupt(key: [])
    }
    return (plan.outputs, before, plan.versions.last ?? before)
  }
}
