/// The promises of every commit log, as a list of named checks.
///
/// ```swift
/// private let mine = CommitLogFixture("mine") { CommitLogPlace(connect: { MyLog() }) }
///
/// @Test(arguments: CommitLogContract.checks)
/// func holds(check: CommitLogCheck) async throws { try await check.run(on: mine) }
/// ```
///
/// The checks need no order and may run side by side, each in a place of its own. A check throws at
/// the first difference. They take a while: some write batches of the greatest size.
public enum CommitLogContract {
  /// Every check; each makes a place of its own.
  public static let checks: [CommitLogCheck] =
    appendChecks + readChecks + concurrencyChecks + LeaseChecks.leader + LeaseChecks.others
    + CheckpointChecks.checkpoint + LongKeyChecks.checkpoint + CheckpointChecks.compaction
    + restartChecks
}
