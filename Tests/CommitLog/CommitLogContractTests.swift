import TernCommitLog
import TernLogMemory
import TernTestKit
import Testing

private let places = [
  CommitLogFixture("memory") {
    let memory = LogMemory(clock: ContinuousClock(), uptime: { 0 })
    return CommitLogPlace(connect: { memory.node("node") })
  }
]

@Test("contract of commit logs", arguments: places, CommitLogContract.checks)
func holds(place: CommitLogFixture, check: CommitLogCheck) async throws {
  try await check.run(on: place)
}
