import TernLogPostgres

/// Milliseconds on a clock that does not jump.
let uptime: @Sendable () -> Int64 = {
  let start = ContinuousClock.now
  return {
    let passed = start.duration(to: .now).components
    return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
  }
}()

/// Returns a log with short pauses between attempts.
func postgresLog(_ connection: String, timeout: Duration = .seconds(60)) -> PostgresLog {
  PostgresLog(
    PostgresOptions(
      connection: connection, operationTimeout: timeout, pollInterval: .milliseconds(2),
      firstRetryPause: .milliseconds(2), longestRetryPause: .milliseconds(50)),
    clock: ContinuousClock(), uptime: uptime)
}
