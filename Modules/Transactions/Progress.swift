/// The state of one transaction from its start to its outcome.
///
/// An attempt is sent with the state it was computed from; the server commits it when that is
/// still the state, and calls it stale otherwise. While an attempt is on its way the transaction
/// cannot be aborted, because it may already be committed: the wish is remembered and granted if
/// the attempt turns out to be stale.
package struct Progress: Sendable, Equatable {
  package enum Phase: Sendable, Equatable {
    /// Computed from the best local knowledge; to be sent.
    case runnable
    /// On its way; the answer decides.
    case sent
    /// On its way, and to be aborted unless it was committed.
    case sentUnwanted(TransactionError)
    /// To be ended when its turn comes.
    case doomed(TransactionError)
  }

  /// The immediate effect of an abort.
  package enum Abort: Sendable, Equatable {
    case endsNow
    case waitsForAnswer
  }

  package private(set) var phase = Phase.runnable
  package private(set) var attempts = Attempts()

  package init() {}

  /// Notes that an attempt is on its way.
  package mutating func send() {
    precondition(phase == .runnable, "Only a runnable transaction is sent.")
    attempts.begin()
    phase = .sent
  }

  /// Asks for the end of the transaction.
  package mutating func abort(_ reason: TransactionError) -> Abort {
    switch phase {
    case .runnable, .doomed:
      phase = .doomed(reason)
      return .endsNow
    case .sent, .sentUnwanted:
      phase = .sentUnwanted(reason)
      return .waitsForAnswer
    }
  }

  /// Notes that the attempt was computed from a state that is no longer the state.
  package mutating func becameStale() {
    switch phase {
    case .sent: phase = .runnable
    case .sentUnwanted(let reason): phase = .doomed(reason)
    case .runnable, .doomed: break
    }
  }

  /// Notes that the attempt was refused.
  package mutating func wasRejected(_ reason: TransactionError) {
    phase = .doomed(reason)
  }

  /// The decision about the next attempt: `nil` to compute again, or the error to end with.
  package var verdict: TransactionError? {
    switch phase {
    case .doomed(let reason): reason
    case .runnable where attempts.areExhausted: .tooManyAttempts(limit: Attempts.limit)
    case .runnable, .sent, .sentUnwanted: nil
    }
  }

  package var isSent: Bool {
    switch phase {
    case .sent, .sentUnwanted: true
    case .runnable, .doomed: false
    }
  }
}
