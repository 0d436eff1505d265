import TernClient
import TernCore
import TernQuery
import TernStorage
import TernSync
import TernTestKit
import TernTreeReplica

/// A timer of a client, by name.
typealias TimerName = TreeTimer

/// One run of a client's process: its machine, its queue, and who listens.
final class ClientRun: ClientProcess {
  let device: SimulatedDevice
  let index: Int
  let cacheStore: FaultyStore
  var machine: TreeMachine
  let shelf: WriteQueueRegistry
  var streams: [QueueUser: UInt128] = [:]
  /// The device's user, as the machine knows it.
  var user: QueueUser
  /// The unanswered writes of all users.
  var pending: [QueueUser: Set<UInt64>] = [:]
  var isDead = false
  var link: SimulatedLink?
  var timers: [TimerName: Int] = [:]
  var lastTimer = 0
  var jobs: [SimulatedJob] = []
  var isWriting = false

  /// The server's versions that the machine may show, from the messages on this connection.
  var told: ClosedRange<UInt64>?
  /// The span of the batch whose frames are being processed.
  var reading: ClosedRange<UInt64>?
  /// The version and the names of the live views when the connection was lost.
  var frozen: (version: UInt64, views: [ViewName])?

  var listeners: [ListenerID: Mirror] = [:]
  var endedListeners: Set<ListenerID> = []
  var kept: [ViewName] = []
  var reads: [OperationID: ViewName] = [:]
  /// The counters that undecided transactions add to.
  var transactions: [OperationID: TransactionNote] = [:]
  /// The markers that deferred writes asked for, and those taken back.
  var markers: [OperationID: MarkerRequest] = [:]
  /// `true` while the server holds onDisconnect operations that show when the connection is lost.
  var hasDisconnectPlan = false

  func isCurrentLink(_ number: Int) -> Bool { machine.isCurrentLink(number) }

  func connectionEvent(_ event: Connection.Event) { machine.connectionEvent(event) }

  func received(_ frames: [[UInt8]], on link: Int) { machine.received(frames, on: link) }

  func queueAnswered(_ ticket: UInt64, _ result: QueueResult) {
    machine.queueAnswered(ticket, result)
  }

  /// Looks into the machine where it lies: as a value it would be copied first.
  func look<R>(_ body: (inout TreeMachine) -> R) -> R { body(&machine) }

  init(
    of client: SimulatedClient, machine: TreeMachine, shelf: WriteQueueRegistry,
    cacheStore: FaultyStore
  ) {
    device = client
    index = client.index
    self.machine = machine
    self.shelf = shelf
    user = client.user
    self.cacheStore = cacheStore
  }
}

/// A place and a query: what listeners share.
struct ViewName: Hashable {
  let path: TreePath
  let query: TreeQuery
}

/// The accumulated events of one listener.
struct Mirror {
  let view: ViewName
  var children: [TreeKey: TreeNode] = [:]
  var value: TreeNode?
}

/// A transaction that is not decided yet.
struct TransactionNote {
  let counter: String
  let isDeclared: Bool
}

/// A deferred write that is not answered yet.
enum MarkerRequest {
  case mark(Int)
  case cancel(Int)
  case other
}

/// A device whose program uses the tree.
final class SimulatedClient: SimulatedDevice {
  let index: Int
  var run: ClientRun?

  override var process: (any ClientProcess)? { run }

  init(index: Int, clock: WorldClock, seed: UInt64) {
    self.index = index
    super.init(name: "c\(index)", clock: clock, seed: seed)
  }
}
