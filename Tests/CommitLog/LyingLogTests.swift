import TernCommitLog
import TernLogMemory
import TernTestKit
import Testing

/// A test of the contract itself: it does not pass a log that breaks a promise.
@Suite("The contract of commit logs and logs that break it")
struct LyingLogTests {
  @Test(
    "a log that lies fails the contract", .timeLimit(.minutes(5)),
    arguments: LyingLog.Lie.allCases)
  func isFound(lie: LyingLog.Lie) async {
    let fixture = CommitLogFixture("\(lie)") {
      let memory = LogMemory(clock: ContinuousClock(), uptime: { 0 })
      return CommitLogPlace(connect: { LyingLog(memory.node("node"), lie) })
    }
    for check in CommitLogContract.checks {
      do { try await check.run(on: fixture) } catch { return }
    }
    Issue.record("\(lie) passes the contract")
  }
}
