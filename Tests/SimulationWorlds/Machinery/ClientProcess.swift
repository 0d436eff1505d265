import TernClient
import TernStorage
import TernSync
import TernTestKit

/// One run of a client's process, of either model, as links and disks see it.
protocol ClientProcess: AnyObject {
  var device: SimulatedDevice { get }
  var isDead: Bool { get set }
  /// The link the machine uses, once it is open.
  var link: SimulatedLink? { get set }
  var cacheStore: FaultyStore { get }
  /// The queues of all users, as a session has them.
  var shelf: WriteQueueRegistry { get }
  /// The streams of the open queues.
  var streams: [QueueUser: UInt128] { get set }
  /// Changes that wait for the queues' disk.
  var jobs: [SimulatedJob] { get set }
  var isWriting: Bool { get set }

  func isCurrentLink(_ number: Int) -> Bool
  func connectionEvent(_ event: Connection.Event)
  func received(_ frames: [[UInt8]], on link: Int)
  func queueAnswered(_ ticket: UInt64, _ result: QueueResult)
}

extension ClientProcess {
  var name: String { device.name }
}

/// A change on its way to the queue of a user.
struct SimulatedJob {
  let ticket: UInt64
  let change: QueueChange
  let user: QueueUser
}

/// One client's machine with its disks; its process comes and goes.
class SimulatedDevice {
  /// For the trace: `c0` speaks of a tree, `d0` of documents.
  let name: String
  let queueDisk = FaultyDisk()
  let cacheDisk = FaultyDisk(durability: .relaxed)
  let wall: WallClock
  let bits: BitSource
  var isPartitioned = false
  /// While its process stands still: what happens to it meanwhile.
  var stalled: [WorldEvent]?
  var isOfflineByWish = false
  /// The signed-in user, which outlives restarts, and the user's token.
  var user = QueueUser.nobody
  var token: String?
  /// The newest version that a server has told it of, whichever server and run that was.
  var newestTold: UInt64 = 0
  /// The run of its process, while there is one.
  var process: (any ClientProcess)? { nil }

  init(name: String, clock: WorldClock, seed: UInt64) {
    self.name = name
    wall = WallClock(clock)
    bits = BitSource(seed: seed)
  }

  var ambient: RuntimeEnvironment {
    let (bits, wall) = (bits, wall)
    return RuntimeEnvironment(
      millisecondsSinceEpoch: { wall.now }, clock: ContinuousClock(),
      randomBits: { bits.next() })
  }
}
