import TernCore
import TernQuery

/// What was heard of one target on this stream since the last consistent snapshot.
///
/// Source: documents reference, section 5.8.
struct WatchedTarget: Sendable {
  private enum Change { case added, modified, removed }

  /// Requests that the server has not answered; until then it speaks of an earlier generation.
  private var unanswered = 0
  private var changes: [DocumentKey: Change] = [:]
  private var resumeToken: [UInt8] = []
  private(set) var isCurrent = false
  /// Whether the next snapshot has to mention the target; it does so once in any case.
  private(set) var hasNews = true

  /// Whether what is said of the target is not meant for us any more.
  var isPending: Bool { unanswered > 0 }

  /// What was heard is void; the answers that are outstanding still are.
  mutating func startAnew() {
    let unanswered = unanswered
    self = WatchedTarget()
    self.unanswered = unanswered
  }

  /// A request was sent.
  mutating func requested() { unanswered += 1 }

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

  /// How many documents the target holds more than before.
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
