import TernCore
import TernDocumentWire

/// The routes of a client of documents at a node that follows.
struct DocumentRoutes: Sendable {
  /// The calls that the leader answers.
  private var forwarded: Set<UInt32> = []
  /// The calls whose first message has not come, by which they are told apart.
  private var undecided: [UInt32: (opening: [UInt8], method: DocumentMethod)] = [:]

  /// The most calls whose first message has not come.
  private static let undecidedCalls = 128

  static let keepAlive = DocumentClientFrame.ping.encode()

  mutating func route(_ frame: [UInt8]) -> [RoutedFrame] {
    guard let decoded = try? DocumentClientFrame.decode(frame) else {
      return [RoutedFrame(frame: frame, route: .behindLog)]
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
        // More of them are judged, and refused, here.
        guard undecided.count < Self.undecidedCalls else { break }
        undecided[call] = (frame, method)
        return []
      }
      return route([frame], of: call, by: message, method)
    case .message(let call, let message):
      if let (opening, method) = undecided.removeValue(forKey: call) {
        return route([opening, frame], of: call, by: message, method)
      }
      if forwarded.contains(call) { return [RoutedFrame(frame: frame, route: .leader)] }
    case .halfClose(let call), .cancel(let call):
      if let (opening, _) = undecided.removeValue(forKey: call) {
        return [opening, frame].map { RoutedFrame(frame: $0, route: .behindLog) }
      }
      guard forwarded.contains(call) else { break }
      // None answers a cancellation.
      if case .cancel = decoded { forwarded.remove(call) }
      return [RoutedFrame(frame: frame, route: .leader)]
    case .ping: return [RoutedFrame(frame: frame, route: .atOnce)]
    }
    return [RoutedFrame(frame: frame, route: .behindLog)]
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
    case .message(let call, _): return forwarded.contains(call) ? .forClient : .forNobody
    case .answer(let call, _), .end(let call, _):
      return forwarded.remove(call) == nil ? .forNobody : .forClient
    case .pong: return .forNobody
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
