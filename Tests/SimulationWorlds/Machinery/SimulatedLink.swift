import TernSync
import TernTransport

/// A link between one client and one run of the server.
///
/// Each direction delivers in order. A cut link accepts nothing more; data in flight may still
/// arrive, separately for each direction. A silent link loses all later data without notice. The
/// side that closes a link still sees its end, and until then the data that arrived before.
final class SimulatedLink {
  let id: Int
  /// The run of the client's process that it belongs to.
  let process: any ClientProcess
  /// The client's own number of it.
  let number: Int
  /// The server at its other end.
  let server: ServerEnd
  /// The slot of the link at a ``ServerRun``.
  let slot: Int
  let latency: ClosedRange<Int64>
  var isOpenAtServer = true
  /// `true` while the client uses it, or will once it is open.
  var isOpenAtClient = true
  /// The receiver at a node's server, until that has seen the end.
  var handler: (any LinkHandler)?
  /// That server's end of the link.
  var nodeEnd: NodeLinkEnd?
  /// `true` while the client takes nothing of what such a server says.
  var isReaderStalled = false
  /// The server's words meanwhile.
  var untaken: [NodeOutput.Entry] = []
  /// The client's frames that came while the server did not read.
  var unread: [[UInt8]] = []
  /// The newest version that such a server has told of, or that the client knew before.
  var newest: UInt64 = 0
  /// `true` if the client's database belongs to another shard than the node.
  var isForeign = false
  /// The messages of the leader of that shard that the node is about to pass on.
  var passedOn: [NodeMessage] = []
  /// `true` once the client's process has seen its end, the last event of a link.
  var isOverAtClient = false
  var isCut = false
  /// `true` if data in flight to the server, or to the client, is lost.
  var losesUp = false
  var losesDown = false
  /// The reason for which the server closes it, once it does.
  var isClosedByServer = false
  /// The arrival time of the data sent last, for each direction.
  var lastUp: Int64 = 0
  var lastDown: Int64 = 0
  /// `true` while both ends consider it open, and nothing arrives.
  private(set) var isSilent = false
  /// `true` if data sent from now on arrives nowhere.
  var isLost: Bool { isCut || isSilent }

  /// Loses all data from now on, without notice.
  func fallSilent() {
    isSilent = true
    losesUp = true
    losesDown = true
  }

  /// Of a link that speaks of a tree: the stream of its greeting, and who was shown last.
  var stream: UInt128?
  var shown = QueueUser.nobody
  /// All users that were shown over it.
  var everShown: Set<QueueUser> = [.nobody]
  /// True once the root was listened to over it: what is pushed may belong to that listen.
  var hasListenedToRoot = false

  init(
    id: Int, process: any ClientProcess, number: Int, to server: ServerEnd,
    latency: ClosedRange<Int64>
  ) {
    self.id = id
    self.process = process
    self.number = number
    self.server = server
    slot = if case .run(let run) = server { run.takeSlot() } else { 0 }
    self.latency = latency
  }
}

/// The server at the other end of a client's link.
enum ServerEnd {
  /// One run of a server that serves alone, or in its term.
  case run(ServerRun)
  /// A node that serves whichever node leads.
  case node(NodeProcess)

  /// True once it is no more.
  var isOver: Bool {
    switch self {
    case .run(let run): run.isOver
    case .node(let process): process.isDead
    }
  }

  /// The process that stands still at times.
  var process: ServerProcess {
    switch self {
    case .run(let run): run.process
    case .node(let process): process
    }
  }
}

/// The frames of one server batch for one link, or a part of them.
struct Chunk {
  var frames: [[UInt8]]
  /// The server's version before the batch.
  let before: UInt64
  /// Its version after it.
  let after: UInt64
  /// `true` if it ends the batch's frames for the link.
  var isLast: Bool
  /// `false` if it tells nothing of any data, as of no version.
  var hasNews = true
}
