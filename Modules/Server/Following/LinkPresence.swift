/// The signs that both ends of a link between two nodes are there: a connection that is cut without
/// a word delivers nothing, and is not closed for a long time.
struct LinkPresence {
  /// The pings that the other node may leave unanswered: one is sent with each tick of the server.
  private static let mostUnanswered = 3
  /// The time, in milliseconds, that the other node has to answer at least.
  private static let patience: Int64 = 10_000

  /// True once the other node was heard over the link.
  var isNodeHeard = false
  /// The pings since the other node was heard, and the uptime of the first of them.
  private var unanswered = 0
  private var asked: Int64 = 0
  /// True while frames of the other node are read.
  var isRead = true {
    didSet { if isRead != oldValue { unanswered = 0 } }
  }
  /// The uptime, in milliseconds, at which something was sent last.
  var used: Int64 = 0
  /// True once a frame of the client came since the link began to be opened.
  private(set) var isClientHeard: Bool
  /// True while the other node waits to hear that the client is there.
  private var isAsked = false

  init(isClientHeard: Bool = true) { self.isClientHeard = isClientHeard }

  /// Notes that the link is open.
  mutating func noteOpened() { (isNodeHeard, unanswered, isRead) = (false, 0, true) }

  /// Notes a frame of the other node.
  mutating func noteHeard() { (isNodeHeard, unanswered) = (true, 0) }

  /// Notes that a ping is about to be sent.
  ///
  /// - Returns: False when the other node has not answered those before.
  mutating func ping(at uptime: Int64) -> Bool {
    guard isRead else { return true }
    if unanswered == 0 { asked = uptime }
    unanswered += 1
    return unanswered <= Self.mostUnanswered || uptime - asked < Self.patience
  }

  /// Notes that the other node asks if the client is there.
  ///
  /// - Returns: Whether it can be told at once; the next frame of the client proves it otherwise.
  mutating func ask() -> Bool {
    isAsked = !isClientHeard
    return isClientHeard
  }

  /// Notes a frame of the client.
  ///
  /// - Returns: Whether the other node waits for it.
  mutating func noteClient() -> Bool {
    isClientHeard = true
    defer { isAsked = false }
    return isAsked
  }
}

/// The success of a node's links to the node that leads.
struct LeaderReach {
  /// The time, in milliseconds, for which no link has to work before that counts.
  static let patience: Int64 = 10_000
  /// The time, in milliseconds, for which a failure counts: without clients there are no links.
  static let memory: Int64 = 30_000

  /// The uptimes, in milliseconds, of the first and the latest failure since a link has worked.
  private var failures: (first: Int64, latest: Int64)?

  /// Notes that the leader was heard over a link.
  mutating func noteSuccess() { failures = nil }

  /// Notes that a link has ended over which nothing was heard.
  mutating func noteFailure(at uptime: Int64) {
    let isRecent = failures.map { uptime - $0.latest < Self.memory } ?? false
    failures = (isRecent ? failures?.first ?? uptime : uptime, uptime)
  }

  /// Returns the milliseconds for which no link has worked; `nil` while some do, or none is needed.
  func failingTime(at uptime: Int64) -> Int64? {
    guard let failures, uptime - failures.latest < Self.memory,
      failures.latest - failures.first >= Self.patience
    else { return nil }
    return uptime - failures.first
  }
}
