import TernSync
import Testing

@testable import TernTransactions

@Suite("Transaction progress")
struct ProgressTests {
  @Test("gives up after twenty-five stale attempts")
  func limit() {
    var progress = Progress()
    for _ in 1...25 {
      #expect(progress.verdict == nil)
      progress.send()
      progress.becameStale()
    }
    #expect(progress.verdict == .tooManyAttempts(limit: 25))
  }

  @Test("ends at once when aborted before it was sent")
  func abortBeforeSending() {
    var progress = Progress()
    #expect(progress.abort(.overridden) == .endsNow)
    #expect(progress.verdict == .overridden)
  }

  @Test("waits for the answer when aborted on its way")
  func abortOnItsWay() {
    var progress = Progress()
    progress.send()
    #expect(progress.abort(.overridden) == .waitsForAnswer)
    #expect(progress.isSent && progress.verdict == nil)
    progress.becameStale()
    #expect(progress.verdict == .overridden)
  }

  @Test("a refusal ends it with the server's reason")
  func refusal() {
    let reason = TransactionError.rejected(Rejection(status: "permission_denied", detail: ""))
    var progress = Progress()
    progress.send()
    progress.wasRejected(reason)
    #expect(progress.verdict == reason)
  }
}
