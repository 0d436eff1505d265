import Synchronization
import TernServer
import TernTransport

/// The things that one node's server has said and not yet handed to the world, in order.
final class NodeOutput: Sendable {
  /// One end of a link, as a node holds it.
  struct End: Hashable, Sendable {
    /// The number of the link in the world.
    let link: Int
    /// True at the node that has opened the link.
    let isDialer: Bool
  }

  enum Entry: Sendable {
    /// Frames left, while the node's copy had that version.
    case frames(End, [[UInt8]], version: UInt64?)
    case closed(End)
    /// The node reads from the link again.
    case reads(End)
    case connects(LinkRequest)
    case event(ServerEvent)

    /// The number by which entries about different links are put in order.
    fileprivate var order: Int {
      switch self {
      case .event: 0
      case .frames(let end, _, _), .closed(let end), .reads(let end): end.link
      case .connects: .max
      }
    }
  }

  private let entries = Mutex<[Entry]>([])
  /// All requests to open links: those of a process that was killed wait for the world's end.
  private let requests = Mutex<[LinkRequest]>([])

  func add(_ entry: Entry) {
    if case .connects(let request) = entry { requests.withLock { $0.append(request) } }
    entries.withLock { $0.append(entry) }
  }

  /// Ends what waits for the world, which ends.
  func end() {
    for request in requests.withLock({ exchange(&$0, with: []) }) { request.finish(nil) }
  }

  /// Takes what was said since the last call. What is about different links is in the order of
  /// those: a server goes through its links in the order of a dictionary now and then.
  func takeAll() -> [Entry] {
    let taken = entries.withLock { exchange(&$0, with: []) }
    return taken.enumerated().sorted {
      ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
    }.map(\.element)
  }
}

/// A request of a server to open a link to another node.
final class LinkRequest: Sendable {
  /// The address of the node: the name of its process.
  let address: String
  /// The client it is for, as its link names it.
  let client: String
  let isOfOtherShard: Bool
  let open: LinkOpening
  private let answer: Mutex<CheckedContinuation<(any Link)?, Never>?>

  init(
    to address: String, for client: String, isOfOtherShard: Bool, _ open: @escaping LinkOpening,
    answer: CheckedContinuation<(any Link)?, Never>
  ) {
    self.address = address
    self.client = client
    self.isOfOtherShard = isOfOtherShard
    self.open = open
    self.answer = Mutex(answer)
  }

  /// Answers the request, once; `nil` when the node cannot be reached.
  func finish(_ link: (any Link)?) {
    answer.withLock { exchange(&$0, with: nil) }?.resume(returning: link)
  }
}

/// The links of one node's server to other nodes.
struct NodeLinks: LeaderLinks {
  let output: NodeOutput
  let isOfOtherShard: Bool

  func connect(
    to address: String, for client: String, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    let link = await withCheckedContinuation { continuation in
      output.add(
        .connects(
          LinkRequest(
            to: address, for: client, isOfOtherShard: isOfOtherShard, open, answer: continuation)))
    }
    if let link { return link }
    throw .refused(host: address, port: 0)
  }
}

/// One end of a link, as a server holds it.
///
/// What it sends is taken at once, but while its reader stalls. A world sends little, so each byte
/// that waits counts as many.
final class NodeLinkEnd: Link {
  private struct State {
    var frames: [[UInt8]] = []
    var isClosed = false
    var isReading = true
    /// True while the other end takes nothing.
    var isStalled = false
    /// The bytes that have left since, and were not taken.
    var untaken = 0
  }

  /// The bytes that one which waits counts as: three short frames are beyond the limit.
  private static let weight = 4_096

  let end: NodeOutput.End
  let peer: String
  let isOfOtherShard: Bool
  private let output: NodeOutput
  private let version: @Sendable () -> UInt64?
  private let state = Mutex(State())

  /// - Parameter version: Returns the version of the node's copy.
  init(
    _ end: NodeOutput.End, peer: String, isOfOtherShard: Bool = false, _ output: NodeOutput,
    version: @escaping @Sendable () -> UInt64?
  ) {
    self.end = end
    self.peer = peer
    self.isOfOtherShard = isOfOtherShard
    self.output = output
    self.version = version
  }

  var queuedBytes: Int { state.withLock { $0.untaken } * Self.weight }

  /// True while the server reads from the link.
  var isReading: Bool { state.withLock { $0.isReading } }

  func send(_ frame: [UInt8]) {
    state.withLock { if !$0.isClosed { $0.frames.append(frame) } }
  }

  func flush() {
    let frames = state.withLock { state in
      let frames = exchange(&state.frames, with: [])
      if state.isStalled { state.untaken += frames.reduce(0) { $0 + $1.count } }
      return frames
    }
    if !frames.isEmpty { output.add(.frames(end, frames, version: version())) }
  }

  func setReading(_ on: Bool) {
    let begins = state.withLock { state in
      defer { state.isReading = on }
      return on && !state.isReading && !state.isClosed
    }
    if begins { output.add(.reads(end)) }
  }

  /// The other end takes nothing more for a while.
  func stall() { state.withLock { $0.isStalled = true } }

  /// The other end has taken everything.
  ///
  /// - Returns: Whether so much has waited that the server is to be told.
  func goOn() -> Bool {
    let wasLong = queuedBytes > LinkPressure.highBytes
    state.withLock { ($0.isStalled, $0.untaken) = (false, 0) }
    return wasLong
  }

  func close() {
    flush()
    let wasClosed = state.withLock { exchange(&$0.isClosed, with: true) }
    if !wasClosed { output.add(.closed(end)) }
  }
}
