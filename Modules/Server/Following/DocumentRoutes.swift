import TernCore
import TernDocumentWire

/// The routes of a client of documents at a node that follows.
struct DocumentRoutes: Sendable {
  /// The calls that the leader answers.
  private var forwarded: Set<UInt32> = []
  /// The call whose first message has not come, by which it is told apart.
  private var undecided: (call: UInt32, opening: [UInt8], method: DocumentMethod)?
  /// The frames of later calls, which wait for that: numbers of calls only rise.
  private var later: [[UInt8]] = []

  /// The most frames that wait behind a call whose first message has not come.
  private static let laterFrames = 256

  static let keepAlive = DocumentClientFrame.ping.encode()

  mutating func route(_ frame: [UInt8]) -> [RoutedFrame] {
    guard let decoded = try? DocumentClientFrame.decode(frame) else {
      return [RoutedFrame(frame: frame, route: .behindLog)]
    }
    if let undecided, let call = decoded.call {
      if call > undecided.call {
        guard later.count < Self.laterFrames else {
          return [RoutedFrame(frame: frame, route: .refused)]
        }
        later.append(frame)
        return []
      }
      if call == undecided.call {
        self.undecided = nil
        let first = decide(undecided, by: decoded, frame)
        return first + exchange(&later, with: []).flatMap { route($0) }
      }
    }
    switch decoded {
    case .open(let call, let opening):
      guard let method = DocumentMethod(rawValue: opening.method) else { break }
      if method.isForLeader {
        forwarded.insert(call)
        return [RoutedFrame(frame: frame, route: .leader)]
      }
      if method == .listen { break }
      guard let message = opening.message else {
        undecided = (call, frame, method)
        return []
      }
      return route([frame], of: call, by: message, method)
    case .message(let call, _):
      if forwarded.contains(call) { return [RoutedFrame(frame: frame, route: .leader)] }
    case .halfClose(let call), .cancel(let call):
      guard forwarded.contains(call) else { break }
      // None answers a cancellation.
      if case .cancel = decoded { forwarded.remove(call) }
      return [RoutedFrame(frame: frame, route: .leader)]
    case .ping: return [RoutedFrame(frame: frame, route: .atOnce)]
    }
    return [RoutedFrame(frame: frame, route: .behindLog)]
  }

  private mutating func decide(
    _ undecided: (call: UInt32, opening: [UInt8], method: DocumentMethod),
    by decoded: DocumentClientFrame, _ frame: [UInt8]
  ) -> [RoutedFrame] {
    if case .message(let call, let message) = decoded {
      return route([undecided.opening, frame], of: call, by: message, undecided.method)
    }
    return [undecided.opening, frame].map { RoutedFrame(frame: $0, route: .behindLog) }
  }

  /// Routes a call that reads: within a transaction the leader reads.
  private mutating func route(
    _ frames: [[UInt8]], of call: UInt32, by message: [UInt8], _ method: DocumentMethod
  ) -> [RoutedFrame] {
    let request = try? DocumentRequest.decode(method, message, in: nil)
    let isForLeader = request?.body.isInTransaction ?? false
    if isForLeader { forwarded.insert(call) }
    return frames.map { RoutedFrame(frame: $0, route: isForLeader ? .leader : .behindLog) }
  }

  mutating func receive(_ frame: [UInt8]) -> LeaderFrame {
    guard let decoded = try? DocumentServerFrame.decode(frame) else { return .end }
    switch decoded {
    case .message(let call, _): return forwarded.contains(call) ? .forClient : .ignored
    case .answer(let call, _), .end(let call, _):
      return forwarded.remove(call) == nil ? .ignored : .forClient
    case .pong: return .ignored
    }
  }

  /// Loses the link to the leader.
  ///
  /// - Returns: The ends of the calls that the leader was to answer.
  mutating func loseLeader() -> [[UInt8]] {
    let status = DocumentStatus(.unavailable, "The node that leads is out of reach. Try again.")
    return exchange(&forwarded, with: []).sorted().map {
      DocumentServerFrame.end(stream: $0, status).encode()
    }
  }
}

extension DocumentMethod {
  /// True when the leader answers each call.
  var isForLeader: Bool {
    switch self {
    case .createDocument, .updateDocument, .deleteDocument, .beginTransaction, .commit, .rollback,
      .batchWrite, .write:
      true
    case .getDocument, .listDocuments, .batchGetDocuments, .runQuery, .runAggregationQuery,
      .partitionQuery, .listCollectionIDs, .listen:
      false
    }
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

extension DocumentClientFrame {
  /// The number of the call that it is about.
  var call: UInt32? {
    switch self {
    case .open(let call, _), .message(let call, _), .halfClose(let call), .cancel(let call): call
    case .ping: nil
    }
  }
}
