import TernCore
import TernQuery

/// The messages about one target on this stream since the last consistent snapshot.
///
/// Source: documents reference, section 5.8.
struct WatchedTarget: Sendable {
  /// The number of unanswered requests; until the answer, messages concern an earlier generation.
  private var unanswered = 0
  /// The documents that came into the result, changed in it, and left it; no key is in two.
  private var added: Set<DocumentKey> = []
  private var modified: Set<DocumentKey> = []
  private var removed: Set<DocumentKey> = []
  private var resumeToken: [UInt8] = []
  private(set) var isCurrent = false
  /// `true` if the next snapshot must include the target, as the first one always does.
  private(set) var hasNews = true

  /// `true` while messages about the target belong to an earlier request.
  var isPending: Bool { unanswered > 0 }

  /// Discards the messages so far, but keeps the outstanding answers.
  mutating func startAnew() {
    let unanswered = unanswered
    self = WatchedTarget()
    self.unanswered = unanswered
  }

  /// A request was sent.
  mutating func requested() { unanswered += 1 }

  /// Returns `true` if the next answer is to a request for the target, and not to the end of one.
  ///
  /// Requests for a target and their ends take turns.
  ///
  /// - Parameter isWanted: Whether the last request was one for the target.
  func awaitsAnswer(isWanted: Bool) -> Bool { isPending && (unanswered % 2 == 1) == isWanted }

  /// A request was answered. One answer too many does no harm.
  mutating func answered() { unanswered = max(0, unanswered - 1) }

  mutating func take(token: [UInt8]) {
    guard !token.isEmpty else { return }
    resumeToken = token
    hasNews = true
  }

  mutating func markCurrent() {
    isCurrent = true
    hasNews = true
  }

  /// A document is in the target.
  mutating func insert(_ key: DocumentKey, isKnown: Bool) {
    if !removed.isEmpty { removed.remove(key) }
    if isKnown {
      if !added.isEmpty { added.remove(key) }
      modified.insert(key)
    } else {
      if !modified.isEmpty { modified.remove(key) }
      added.insert(key)
    }
    hasNews = true
  }

  /// A document is not in the target.
  mutating func remove(_ key: DocumentKey, isKnown: Bool) {
    // What came and went between two snapshots never was there.
    if !added.isEmpty { added.remove(key) }
    if !modified.isEmpty { modified.remove(key) }
    if isKnown { removed.insert(key) } else if !removed.isEmpty { removed.remove(key) }
    hasNews = true
  }

  /// The number of documents the target has gained.
  var growth: Int { added.count - removed.count }

  /// Hands out what has changed, and starts anew.
  mutating func takeDelta() -> DocumentServerEvent.TargetDelta {
    let delta = DocumentServerEvent.TargetDelta(
      added: added, modified: modified, removed: removed, resumeToken: resumeToken,
      isCurrent: isCurrent)
    clear()
    return delta
  }

  mutating func clear() {
    added = []
    modified = []
    removed = []
    hasNews = false
  }
}
