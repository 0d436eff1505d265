import TernCommitLog
import TernLedger
import TernLogPostgres
import TernSharedLedger

/// Opens the log of a shared ledger in PostgreSQL: `postgres://host/database`, or any connection
/// that libpq reads.
enum PostgresLogPlugin: CommitLogPlugin {
  /// An operation that takes longer is tried again while the lease lasts.
  private static let operationTimeout = Duration.seconds(5)

  static var programVersion: String { ProgramVersion.number }

  static func open(
    _ address: String, with resources: LedgerResources
  ) async throws(CommitLogError) -> any CommitLog {
    PostgresLog(
      PostgresOptions(
        connection: address, connectTimeout: .seconds(2), operationTimeout: operationTimeout),
      clock: resources.clock, uptime: resources.uptime)
  }
}
