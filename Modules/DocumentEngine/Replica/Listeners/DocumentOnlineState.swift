/// What a client believes about its connection.
///
/// Source: documents reference, section 4.9.
package enum DocumentOnlineState: Hashable, Sendable {
  /// Nothing yet; counts as online.
  case unknown
  /// The server was heard on this stream.
  case online
  /// The server cannot be reached, or is not to be.
  case offline
}

/// Decides when a client calls itself offline.
package struct DocumentOnlineTracker: Sendable {
  /// How long a stream may be silent after its start before the client counts as offline.
  package static let patience: Duration = .seconds(10)
  /// The failures in a row after which the client counts as offline.
  package static let failureLimit = 1

  /// What the caller owes to the timer.
  package enum TimerAction: Hashable, Sendable {
    case start, stop, none
  }

  /// What the client believes.
  package private(set) var state = DocumentOnlineState.unknown
  private var failures = 0
  private var isTimerRunning = false

  /// Starts without any knowledge.
  package init() {}

  /// The listen stream is being opened.
  mutating func streamStarted() -> TimerAction {
    guard failures == 0 else { return .none }
    state = .unknown
    isTimerRunning = true
    return .start
  }

  /// The listen stream could not be opened, or broke.
  mutating func streamFailed() -> TimerAction {
    if state == .online {
      state = .unknown
      return .none
    }
    failures += 1
    if failures < DocumentOnlineTracker.failureLimit { return .none }
    state = .offline
    return stopTimer()
  }

  /// The server did not answer in time.
  mutating func timerFired() {
    guard isTimerRunning else { return }
    isTimerRunning = false
    state = .offline
  }

  /// Something settles the question: a message, or the application's word.
  mutating func set(_ next: DocumentOnlineState) -> TimerAction {
    failures = 0
    state = next
    return stopTimer()
  }

  private mutating func stopTimer() -> TimerAction {
    guard isTimerRunning else { return .none }
    isTimerRunning = false
    return .stop
  }
}
