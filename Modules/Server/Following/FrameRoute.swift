import TernTreeWire

/// The place where a frame of a client is dealt with, at a node that follows.
enum FrameRoute: Hashable, Sendable {
  /// Here, before everything that waits.
  case atOnce
  /// Here, behind what waits: when the copy holds all that the log held at the frame's arrival.
  case behindLog
  /// Here, behind what waits: when the leader has answered the requests of the link so far.
  case behindWrites
  /// At the leader.
  case leader
  /// Nowhere: the link ends, for the frame does not say first what it is about.
  case refused
  /// Here behind what waits, and at the leader if anything was passed on to it.
  case both
}

/// A frame with its route.
struct RoutedFrame: Hashable, Sendable {
  var frame: [UInt8]
  var route: FrameRoute
}

/// The meaning of a frame from the leader.
enum LeaderFrame: Hashable, Sendable {
  /// The client gets it.
  case forClient
  /// It answers what the client did not ask.
  case ignored
  /// The leader has taken what it was to answer before it is sent anything more.
  case goOn
  /// The leader asks whether the client is there, and gets the opening once more: the client's
  /// frames prove it.
  case openAgain
  /// The leader ends the session.
  case end
  /// The leader does not take the client's credential, or not any more; with the status and the
  /// text for the client.
  case credentialEnded(TreeStatus, String)
  /// The leader ends the session because another node is about to lead.
  case handOver
}

/// The parts of a client's dialect at a node that follows: what the leader has to be told, and what
/// it still has to answer. Decisions alone.
///
/// The first frame decides the dialect. Documents never block: each call carries its own
/// credential.
struct LinkRoutes: Sendable {
  private enum Dialect: Sendable {
    case unknown
    case tree(TreeRoutes)
    case documents(DocumentRoutes)
  }

  private var dialect = Dialect.unknown

  /// Routes a frame of the client; one that waited for it may come along.
  mutating func route(_ frame: [UInt8]) -> [RoutedFrame] {
    switch dialect {
    case .unknown:
      dialect =
        DocumentLink.begins(with: frame) ? .documents(DocumentRoutes()) : .tree(TreeRoutes())
      return route(frame)
    case .tree(var tree):
      defer { dialect = .tree(tree) }
      return [RoutedFrame(frame: frame, route: tree.route(frame))]
    case .documents(var documents):
      defer { dialect = .documents(documents) }
      return documents.route(frame)
    }
  }

  /// Takes a frame of the leader.
  mutating func receive(_ frame: [UInt8]) -> LeaderFrame {
    switch dialect {
    case .unknown: return .end
    case .tree(var tree):
      defer { dialect = .tree(tree) }
      return tree.receive(frame)
    case .documents(var documents):
      defer { dialect = .documents(documents) }
      return documents.receive(frame)
    }
  }

  /// The version of all that an answer of the leader tells of: that of the write which it
  /// acknowledges. `nil` for frames that tell of anything else.
  func version(of frame: [UInt8]) -> UInt64? {
    guard case .tree = dialect, frame.count <= TreeRoutes.answerBytes,
      case .response(_, let answer)? = try? TreeServerMessage.decode(frame), answer.status == .ok
    else { return nil }
    return answer.version
  }

  /// Returns the frames with which a link to the leader begins.
  ///
  /// - Parameter session: The name by which the client knows its session.
  func beginning(_ session: String?) -> [[UInt8]] {
    if case .tree(let tree) = dialect { tree.beginning(session) } else { [] }
  }

  /// True for a frame whose answer the leader has to give before it is sent anything more: what
  /// follows would be judged as of another session or user otherwise.
  func blocks(_ frame: [UInt8]) -> Bool {
    if case .tree = dialect { TreeRoutes.blocks(frame) } else { false }
  }

  /// Notes that such a frame was sent to the leader.
  mutating func noteSent(_ frame: [UInt8]) {
    guard case .tree(var tree) = dialect else { return }
    tree.noteSent(frame)
    dialect = .tree(tree)
  }

  /// Goes on as the user before a credential that this node has rejected.
  ///
  /// - Returns: False when the leader knows the client by that credential.
  mutating func noteRejected(_ number: UInt64) -> Bool {
    guard case .tree(var tree) = dialect else { return true }
    defer { dialect = .tree(tree) }
    return tree.noteRejected(number)
  }

  /// True for an answer of the leader to ``keepAlive``.
  func isPong(_ frame: [UInt8]) -> Bool {
    if case .documents = dialect { frame == DocumentRoutes.pong } else { TreeRoutes.isPong(frame) }
  }

  /// True for an answer of the leader to such a frame.
  func answersBlocking(_ frame: [UInt8]) -> Bool {
    if case .tree(let tree) = dialect { tree.answersBlocking(frame) } else { false }
  }

  /// True for a client that had a session before, for which the leader may have something to do.
  var hasPredecessor: Bool {
    if case .tree(let tree) = dialect { tree.hasPredecessor } else { false }
  }

  /// True for a client for which the leader has nothing to do.
  var isIdle: Bool {
    switch dialect {
    case .unknown: false
    case .tree(let tree): tree.isIdle
    case .documents(let documents): documents.isIdle
    }
  }

  /// The number of requests passed on so far.
  var sent: UInt64 { if case .tree(let tree) = dialect { tree.sent } else { 0 } }

  /// True when the leader has answered the first so many requests.
  func isAnswered(upTo count: UInt64) -> Bool {
    if case .tree(let tree) = dialect { tree.isAnswered(upTo: count) } else { true }
  }

  /// The frame that tells the leader that the client is there, and that the leader answers.
  var keepAlive: [UInt8] {
    if case .documents = dialect { DocumentRoutes.keepAlive } else { TreeRoutes.keepAlive }
  }

  /// Loses a link to the leader over which nothing was passed on but how it begins.
  mutating func loseBeginning() {
    guard case .tree(var tree) = dialect else { return }
    tree.loseBeginning()
    dialect = .tree(tree)
  }

  /// Loses the link to the leader.
  ///
  /// - Returns: What the client is told; `nil` when its own link has to end, for it cannot go on.
  mutating func loseLeader() -> [[UInt8]]? {
    switch dialect {
    case .unknown: return []
    case .tree(var tree):
      defer { dialect = .tree(tree) }
      return tree.loseLeader() ? [] : nil
    case .documents(var documents):
      defer { dialect = .documents(documents) }
      return documents.loseLeader()
    }
  }
}
