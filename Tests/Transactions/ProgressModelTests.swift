import TernSync
import Testing

@testable import TernTransactions

@Suite("Transaction progress under any events")
struct ProgressModelTests {
  private enum Event: CaseIterable {
    case send, abort, abortOtherwise, stale, reject
  }

  /// A transaction as its users see it: what it waits for, and with which error it must end.
  private struct Model {
    var isSent = false
    var attempts = 0
    var end: TransactionError?

    /// The error that ends it now; none while an answer is awaited.
    var verdict: TransactionError? {
      if isSent { return nil }
      return end ?? (attempts >= 25 ? .tooManyAttempts(limit: 25) : nil)
    }
  }

  private static let rejection = TransactionError.rejected(Rejection(status: "no", detail: ""))

  /// Applies an event to both; nothing for a sending that is not due.
  private func apply(_ event: Event, _ progress: inout Progress, _ model: inout Model) {
    switch event {
    case .send:
      guard progress.phase == .runnable else { return }
      progress.send()
      model.isSent = true
      model.attempts += 1
    case .abort, .abortOtherwise:
      let reason: TransactionError = event == .abort ? .overridden : .cancelled
      #expect(progress.abort(reason) == (model.isSent ? .waitsForAnswer : .endsNow))
      model.end = reason
    case .stale:
      progress.becameStale()
      model.isSent = false
    case .reject:
      progress.wasRejected(Self.rejection)
      (model.isSent, model.end) = (false, Self.rejection)
    }
  }

  @Test("every sequence of six events ends as it must")
  func sequences() {
    let events = Event.allCases
    var count = 1
    for _ in 0..<6 { count *= events.count }
    for number in 0..<count {
      var (progress, model) = (Progress(), Model())
      var rest = number
      for _ in 0..<6 {
        apply(events[rest % events.count], &progress, &model)
        rest /= events.count
        guard progress.verdict == model.verdict, progress.isSent == model.isSent,
          progress.attempts.count == model.attempts
        else {
          Issue.record("sequence \(number): \(progress), \(model)")
          return
        }
      }
    }
  }

  @Test("the last attempt is the twenty-fifth", arguments: [24, 25])
  func attempts(count: Int) {
    var progress = Progress()
    for _ in 0..<count {
      progress.send()
      progress.becameStale()
    }
    #expect((progress.verdict == nil) == (count < 25))
    #expect(progress.attempts.areExhausted == (count >= 25))
    // An attempt under way is never cut off by the limit.
    var last = Progress()
    for _ in 0..<24 {
      last.send()
      last.becameStale()
    }
    last.send()
    #expect(last.verdict == nil && last.attempts.areExhausted)
  }

  @Test("pauses double with each level, and none is longer than the longest", arguments: 0...20)
  func pauses(failures: Int) {
    var contention = Contention()
    for _ in 0..<failures { contention.attemptFailed() }
    let level = min(failures, 13)
    let longest = level > 2 ? 4 << (level - 3) : 0
    #expect(contention.rest(unit: 1) == .milliseconds(longest))
    #expect(contention.rest(unit: 0) == .zero)
    #expect(contention.rest(unit: 0.5) == .milliseconds(longest / 2))
    #expect(contention.isNone == (failures == 0))
    contention.attemptSucceeded(wasDisturbed: true)
    #expect(contention.isNone == (failures <= 1))
    var calm = Contention()
    for _ in 0..<failures { calm.attemptFailed() }
    for _ in 0..<4 { calm.attemptSucceeded(wasDisturbed: false) }
    #expect(calm.isNone, "what is over is forgotten soon")
  }
}
