import TernCore
import TernDocumentWire

/// The routes of a client of documents at a node that follows.
struct DocumentRoutes: Sendable {
  private enum Upstream: Sendable { case leader }

  /// The calls that the leader answers.
  private var calls = ForwardedCalls<Upstream>()

  static let keepAlive = DocumentClientFrame.ping.encode()
  static let pong = DocumentServerFrame.pong.encode()

  mutating func route(_ frame: [UInt8]) -> [RoutedFrame] {
    if frame == Self.keepAlive { return [RoutedFrame(frame: frame, route: .atOnce)] }
    return calls.route(frame, by: Self.place).map { placed in
      let route: FrameRoute =
        switch placed.place {
        case .here: .behindLog
        case .node(.leader): .leader
        case .refused: .refused
        }
      return RoutedFrame(frame: placed.frame, route: route)
    }
  }

  /// The place of a call: within a transaction the leader reads.
  private static func place(
    of method: DocumentMethod, _ message: [UInt8]?
  ) -> FramePlace<Upstream>? {
    if method.changesState { return .node(.leader) }
    if method == .listen { return .here }
    guard let message else { return nil }
    let request = try? DocumentRequest.decode(method, message, in: nil)
    return request?.body.isInTransaction == true ? .node(.leader) : .here
  }

  mutating func receive(_ frame: [UInt8]) -> LeaderFrame { calls.receive(frame, from: .leader) }

  /// True while the leader has no call of the client to answer.
  var isIdle: Bool { calls.isEmpty }

  /// Loses the link to the leader.
  ///
  /// - Returns: The ends of the calls that the leader was to answer.
  mutating func loseLeader() -> [[UInt8]] {
    calls.lose(.leader, "The node that leads is out of reach. Try again.")
  }
}

extension DocumentRequest.Body {
  /// True for reads within a transaction, which the leader knows.
  fileprivate var isInTransaction: Bool {
    switch self {
    case .get(_, _, let point), .batchGet(_, _, let point), .query(_, let point),
      .aggregate(_, _, let point), .listCollections(_, _, let point):
      point.isInTransaction
    case .list(let listing): listing.readPoint.isInTransaction
    case .partition(let partitioning): partitioning.readPoint.isInTransaction
    case .create, .update, .delete, .begin, .commit, .rollback, .batchWrite, .write, .listen: false
    }
  }
}

extension DocumentReadPoint {
  fileprivate var isInTransaction: Bool {
    switch self {
    case .transaction, .begin: true
    case .now, .time: false
    }
  }
}
