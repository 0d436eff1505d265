import TernTreeWire

/// The routes of a client of the tree at a node that follows.
struct TreeRoutes: Sendable {
  /// The opening as the client sent it.
  private var opening: [UInt8]?
  /// True for a client whose writes are numbered.
  private var numbersWrites = false
  /// The latest credentials as the client sent them, the newest last: where this node rejects one,
  /// the client goes on as the user before.
  private var credentials: [(number: UInt64, frame: [UInt8])] = []
  /// The requests that the leader has not answered: by number, each with its place among all.
  private var unanswered: [UInt64: UInt64] = [:]
  /// The leader has answered so many requests, counted from the first, and those at these places
  /// behind them.
  private var answered: UInt64 = 0
  private var answeredBehind: Set<UInt64> = []
  /// The numbers of the credentials passed on that the leader has not answered.
  private var unansweredCredentials: Set<UInt64> = []
  /// Those of them that this node has rejected.
  private var rejectedCredentials: Set<UInt64> = []
  /// The credential by which the leader knows the client; `nil` for none.
  private var acceptedCredential: UInt64?
  /// True for a client that had a session before.
  private(set) var hasPredecessor = false
  /// True when the leader keeps something for the session: operations for its end, or rejections of
  /// numbered writes that are not stored.
  private var leavesState = false
  /// The number of requests passed on so far.
  private(set) var sent: UInt64 = 0

  static let keepAlive = TreeClientMessage.ping.encode()

  static func isPong(_ frame: [UInt8]) -> Bool {
    frame.count <= 64 && TreeFrameHead(frame) == .control("o")
  }

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
      // Tokens are shorter. A longer frame would not block those behind it; see ``blocks(_:)``.
      guard frame.count <= LargeFrame.leastBytes else { return .refused }
      credentials.append((number, frame))
      if credentials.count > Self.mostCredentials { credentials.removeFirst() }
      return .both
    case "unauth":
      credentials = []
      return .both
    default: return .behindWrites
    }
  }

  /// The most credentials that are kept: clients show one after the other.
  private static let mostCredentials = 8

  /// Notes that this node has rejected a credential: the client goes on as the user before.
  ///
  /// - Returns: False when the leader knows the client by that credential.
  mutating func noteRejected(_ number: UInt64) -> Bool {
    credentials.removeAll { $0.number == number }
    if unansweredCredentials.contains(number) { rejectedCredentials.insert(number) }
    return acceptedCredential != number
  }

  /// Returns the frames with which a link to the leader begins.
  ///
  /// - Parameter session: The name by which the client knows its session.
  func beginning(_ session: String?) -> [[UInt8]] {
    guard let opening, case .open(var known)? = try? TreeClientMessage.decode(opening) else {
      return []
    }
    known.session = session
    return [TreeClientMessage.open(known).encode()] + (credentials.last.map { [$0.frame] } ?? [])
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
        return judged(number, by: try? TreeServerMessage.decode(frame))
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
    case .push("ac"):
      guard case .authRevoked(let status, let text)? = try? TreeServerMessage.decode(frame) else {
        return .end
      }
      return .credentialEnded(status, text)
    case .control, .malformed: return .end
    case .push: return .ignored
    }
  }

  /// Takes the leader's answer to a credential. A user that it does not know must not write as the
  /// one before, unless this node takes the client for that one, too.
  private mutating func judged(
    _ number: UInt64, by message: TreeServerMessage?
  ) -> LeaderFrame {
    let isRejectedHere = rejectedCredentials.remove(number) != nil
    guard case .response(_, let answer)? = message else { return .end }
    switch answer.status {
    case .ok:
      // The end of a credential has no credential of its own.
      acceptedCredential = credentials.contains { $0.number == number } ? number : nil
      return isRejectedHere ? .end : .goOn
    case _ where isRejectedHere:
      return credentials.last?.number == acceptedCredential ? .goOn : .end
    case .invalidToken, .expiredToken:
      guard credentials.last?.number == number else { return .end }
      return .credentialEnded(answer.status, answer.detail)
    default: return .end
    }
  }

  private mutating func noteAnswer(at place: UInt64) {
    answeredBehind.insert(place)
    while answeredBehind.remove(answered + 1) != nil { answered += 1 }
  }

  /// True when the leader has answered the first so many requests.
  func isAnswered(upTo count: UInt64) -> Bool { answered >= count }

  /// Loses a link to the leader over which no request was passed on.
  mutating func loseBeginning() {
    (unansweredCredentials, rejectedCredentials, acceptedCredential) = ([], [], nil)
  }

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
