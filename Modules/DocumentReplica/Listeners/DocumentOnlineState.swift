/// A client's estimate of its connection.
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
  /// The longest silence after a stream's start before the client counts as offline.
  package static let patience: Duration = .seconds(10)
  /// The failures in a row after which the client counts as offline.
  package static let failureLimit = 1

  /// The action for the caller's timer.
  package enum TimerAction: Hashable, Sendable {
    case start, stop, none
  }

  /// The current estimate.
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

  /// Handles a failure to open the listen stream, or its break.
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

  /// Handles a timeout of the server's answer.
  mutating func timerFired() {
    guard isTimerRunning else { return }
    isTimerRunning = false
    state = .offline
  }

  /// Sets the state after a message, or as the application requests.
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
