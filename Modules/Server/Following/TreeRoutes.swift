import TernTreeWire

/// The routes of a client of the tree at a node that follows.
struct TreeRoutes: Sendable {
  /// The opening as the client sent it.
  private var opening: [UInt8]?
  /// True for a client whose writes are numbered.
  private var numbersWrites = false
  /// The newest credential as the client sent it.
  private var credential: [UInt8]?
  /// The requests that the leader has not answered: by number, each with its place among all.
  private var unanswered: [UInt64: UInt64] = [:]
  /// The leader has answered so many requests, counted from the first, and those at these places
  /// behind them.
  private var answered: UInt64 = 0
  private var answeredBehind: Set<UInt64> = []
  /// The numbers of the credentials passed on that the leader has not answered.
  private var unansweredCredentials: Set<UInt64> = []
  /// True for a client that had a session before.
  private(set) var hasPredecessor = false
  /// True when the leader keeps something for the session: operations for its end, or rejections of
  /// numbered writes that are not stored.
  private var leavesState = false
  /// The number of requests passed on so far.
  private(set) var sent: UInt64 = 0

  static let keepAlive = TreeClientMessage.keepAlive.encode()

  mutating func route(_ frame: [UInt8]) -> FrameRoute {
    guard let head = Self.head(of: frame) else { return .refused }
    switch head {
    case .keepAlive, .control("p"): return .atOnce
    case .control("o"):
      if opening != nil { return .behindLog }
      opening = frame
      if case .open(let known)? = try? TreeClientMessage.decode(frame) {
        hasPredecessor = known.lastSession != nil
        numbersWrites = known.stream != nil || known.origin != nil
      }
      return .behindLog
    case .numbered(let number, let action?) where opening != nil:
      return route(action, number, frame)
    case .control, .numbered, .push, .malformed: return .behindWrites
    }
  }

  /// Acknowledgements are shorter; what is longer has data.
  static let answerBytes = 1_024
  /// Frames of more bytes are read as far as their data only.
  private static let wholeFrameBytes = 1 << 20

  /// The head of a frame; `nil` for a large one that would have to be read to its end for it, and
  /// for one that is large and reads nothing but that.
  private static func head(of frame: [UInt8]) -> TreeFrameHead? {
    if frame.count <= LargeFrame.leastBytes { return TreeFrameHead(frame) }
    if let head = TreeFrameHead(beforeDataOf: frame), case .numbered(_, let action?) = head,
      isForLeader(action)
    {
      return head
    }
    return frame.count <= wholeFrameBytes ? TreeFrameHead(frame) : nil
  }

  private static func isForLeader(_ action: String) -> Bool {
    ["p", "m", "o", "om", "oc", "wo"].contains(action)
  }

  private mutating func route(_ action: String, _ number: UInt64, _ frame: [UInt8]) -> FrameRoute {
    switch action {
    case _ where Self.isForLeader(action):
      sent += 1
      // A number that is used again names the later request.
      if let place = unanswered.updateValue(sent, forKey: number) { noteAnswer(at: place) }
      leavesState = leavesState || action == "o" || action == "om" || numbersWrites
      return .leader
    case "auth", "gauth":
      credential = frame
      return .both
    case "unauth":
      credential = nil
      return .both
    default: return .behindWrites
    }
  }

  /// Returns the frames with which a link to the leader begins.
  ///
  /// - Parameter session: The name by which the client knows its session.
  func beginning(_ session: String?) -> [[UInt8]] {
    guard let opening, case .open(var known)? = try? TreeClientMessage.decode(opening) else {
      return []
    }
    known.session = session
    return [TreeClientMessage.open(known).encode()] + (credential.map { [$0] } ?? [])
  }

  /// True while the leader owes the client nothing, and keeps nothing for it.
  var isIdle: Bool { unanswered.isEmpty && unansweredCredentials.isEmpty && !leavesState }

  static func blocks(_ frame: [UInt8]) -> Bool {
    // Only short frames are openings or credentials.
    guard frame.count <= LargeFrame.leastBytes else { return false }
    switch TreeFrameHead(frame) {
    case .control("o"), .numbered(_, "auth"), .numbered(_, "gauth"), .numbered(_, "unauth"):
      return true
    default: return false
    }
  }

  func answersBlocking(_ frame: [UInt8]) -> Bool {
    switch TreeFrameHead(frame) {
    case .control: true
    case .numbered(let number, _): unansweredCredentials.contains(number)
    case .keepAlive, .push, .malformed: false
    }
  }

  /// Notes that a credential was sent to the leader.
  mutating func noteSent(_ frame: [UInt8]) {
    if case .numbered(let number, _) = TreeFrameHead(frame) {
      unansweredCredentials.insert(number)
    }
  }

  mutating func receive(_ frame: [UInt8]) -> LeaderFrame {
    switch TreeFrameHead(frame) {
    case .numbered(let number, _):
      if unansweredCredentials.remove(number) != nil {
        // A user that the leader does not know must not write as the one before.
        guard case .response(_, let answer)? = try? TreeServerMessage.decode(frame),
          answer.status == .ok
        else { return .end }
        return .goOn
      }
      guard let place = unanswered.removeValue(forKey: number) else { return .ignored }
      noteAnswer(at: place)
      return .forClient
    case .control("i"): return .openAgain
    case .control("h"): return .goOn
    case .control("o"), .keepAlive: return .ignored
    case .control("r"):
      // With a host, the databases are elsewhere for good.
      guard case .redirect(let host)? = try? TreeServerMessage.decode(frame), host.isEmpty else {
        return .end
      }
      return .handOver
    case .control, .push("ac"), .malformed: return .end
    case .push: return .ignored
    }
  }

  private mutating func noteAnswer(at place: UInt64) {
    answeredBehind.insert(place)
    while answeredBehind.remove(answered + 1) != nil { answered += 1 }
  }

  /// True when the leader has answered the first so many requests.
  func isAnswered(upTo count: UInt64) -> Bool { answered >= count }

  /// Loses a link to the leader over which no request was passed on.
  mutating func loseBeginning() { unansweredCredentials = [] }

  /// Loses the link to the leader.
  ///
  /// - Returns: Whether the client's own link can go on.
  mutating func loseLeader() -> Bool {
    loseBeginning()
    return unanswered.isEmpty && !leavesState
  }
}

extension TreeRequest {
  /// True for what only the node that leads decides.
  var isForLeader: Bool {
    switch self {
    case .put, .merge, .onDisconnectSet, .onDisconnectMerge, .onDisconnectCancel, .outcomes: true
    case .listen, .unlisten, .get, .auth, .unauth, .appCheck, .stats, .unknown: false
    }
  }
}
