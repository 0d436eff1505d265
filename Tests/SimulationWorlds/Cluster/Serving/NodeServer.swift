import TernLedger
import TernSecurity
import TernServer
import TernSharedLedger
import TernSync
import TernTransport

/// The whole server of a node that serves clients whichever node leads: the product's own actor, in
/// the world's thread.
final class NodeServer {
  let transport: NodeTransport
  let output = NodeOutput()
  private(set) var server: TernServer?
  /// The links of clients, by their numbers in the world.
  var clientLinks: [Int: SimulatedLink] = [:]
  /// The links to and from other nodes, by their numbers in the world.
  var nodeLinks: [Int: NodeLink] = [:]

  init(of process: NodeProcess, on executor: WorldExecutor) {
    transport = NodeTransport(process.name, on: NodeExecutor(executor, process.gate))
  }

  /// The clients' service at present.
  var service: ServerService { server?.service ?? .none }

  /// Starts the server as a program does.
  func start(
    in process: NodeProcess, on executor: WorldExecutor, options: ServerOptions, clock: WorldClock,
    authorizer: any Authorizer, documentAuthorizer: any DocumentAuthorizer
  ) {
    let (wall, bits, output) = (process.node.wall, process.node.bits, output)
    let environment = RuntimeEnvironment(
      millisecondsSinceEpoch: { wall.now },
      clock: PacedClock(clock: clock, gate: process.gate), randomBits: { bits.next() })
    let (ledger, transport) = (process.ledger, transport)
    let host = WorldBound(self)
    Task(executorPreference: executor) {
      do throws(ServerError) {
        let server = try await TernServer(
          ledger: ledger, on: transport, options: options, authorizer: authorizer,
          documentAuthorizer: documentAuthorizer, authenticator: WorkloadTokens(),
          ambient: environment, report: { output.add(.event($0)) })
        host.value.server = server
        if let directory = LogDirectory(of: ledger) {
          await server.serveShards(
            by: directory, over: NodeLinks(output: output, isOfOtherShard: true))
        }
        await server.serveWhileFollowing(over: NodeLinks(output: output, isOfOtherShard: false))
        try await server.listen(on: transport)
      } catch {
        preconditionFailure("a server over a ledger that nodes share starts: \(error)")
      }
    }
  }

  /// Ends the server, and its ledger behind it.
  func stop(_ ledger: SharedLedger, on executor: WorldExecutor, then: @escaping () -> Void = {}) {
    let (server, then) = (server, WorldBound(then))
    Task(executorPreference: executor) {
      await server?.stop()
      await ledger.close()
      then.value()
    }
  }

  /// Ends what waits for the world, which ends.
  func end() { output.end() }
}

/// Frames that one node sends to another at once, or a part of them.
struct NodeMessage {
  let frames: [[UInt8]]
  /// The version of the copy of the node that sends; `nil` from the one that has opened the link.
  let version: UInt64?
  /// True unless the link breaks within it.
  let isWhole: Bool
}

/// A link between two nodes, which one of them has opened for a client.
final class NodeLink {
  /// The number of the link, among those of clients too.
  let id: Int
  let client: SimulatedLink?
  let dialer: NodeProcess
  let acceptor: NodeProcess
  let latency: ClosedRange<Int64>
  /// The receivers of the ends that are open.
  var atDialer: (any LinkHandler)?
  var atAcceptor: (any LinkHandler)?
  /// The messages to the end of the dialer, and of the acceptor, while that does not read.
  var unreadAtDialer = UnreadMessages()
  var unreadAtAcceptor = UnreadMessages()
  /// The arrival times of what was sent last.
  var lastAtDialer: Int64 = 0
  var lastAtAcceptor: Int64 = 0
  /// True once nothing more arrives at either end.
  var isCut = false
  /// The link breaks with the last of so many frames; `nil` for a link that holds.
  var framesLeft: Int?

  init(
    id: Int, for client: SimulatedLink?, from dialer: NodeProcess, to acceptor: NodeProcess,
    latency: ClosedRange<Int64>
  ) {
    self.id = id
    self.client = client
    self.dialer = dialer
    self.acceptor = acceptor
    self.latency = latency
  }

  /// A few words for the trace.
  var words: String { "\(id) \(dialer.name)-\(acceptor.name)" }

  /// The process at one of the ends.
  func process(atDialer: Bool) -> NodeProcess { atDialer ? dialer : acceptor }
}

/// The messages to an end of a link that is not read from.
struct UnreadMessages {
  /// The end, as the node holds it, once it is open.
  var end: NodeLinkEnd?
  var messages: [NodeMessage] = []
  /// The end of the link behind them, which is not noticed before.
  var linkEnd: NodeEnd?

  /// True while what comes has to wait.
  var holds: Bool { end?.isReading == false || !messages.isEmpty }
}
