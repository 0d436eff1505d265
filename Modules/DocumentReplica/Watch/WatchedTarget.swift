import TernCore
import TernQuery

/// The messages about one target on this stream since the last consistent snapshot.
///
/// Source: documents reference, section 5.8.
struct WatchedTarget: Sendable {
  private enum Change { case added, modified, removed }

  /// The number of unanswered requests; until the answer, messages concern an earlier generation.
  private var unanswered = 0
  private var changes: [DocumentKey: Change] = [:]
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
    changes[key] = isKnown ? .modified : .added
    hasNews = true
  }

  /// A document is not in the target.
  mutating func remove(_ key: DocumentKey, isKnown: Bool) {
    // What came and went between two snapshots never was there.
    changes[key] = isKnown ? .removed : nil
    hasNews = true
  }

  /// The number of documents the target has gained.
  var growth: Int {
    changes.values.reduce(0) { sum, change in
      switch change {
      case .added: sum + 1
      case .removed: sum - 1
      case .modified: sum
      }
    }
  }

  /// Hands out what has changed, and starts anew.
  mutating func takeDelta() -> DocumentServerEvent.TargetDelta {
    var delta = DocumentServerEvent.TargetDelta(resumeToken: resumeToken, isCurrent: isCurrent)
    for (key, change) in changes {
      switch change {
      case .added: delta.added.insert(key)
      case .modified: delta.modified.insert(key)
      case .removed: delta.removed.insert(key)
      }
    }
    clear()
    return delta
  }

  mutating func clear() {
    changes = [:]
    hasNews = false
  }
}
