import Foundation
import TernCommitLog
import TernLogPostgres
import TernPostgresTesting
import Testing

extension PostgresTests {
  /// A machine that is gone without a word, as its clients see it.
  enum Silence: CaseIterable, Sendable {
    /// Attempts to connect get no answer.
    case dropsAttempts
    /// Connections are taken, and nothing is said over them.
    case takesConnections
  }

  @Test("a host that is silent is left for the next one", arguments: Silence.allCases)
  func silentHosts(silence: Silence) async throws {
    let server = try PostgresServer.shared.get()
    let schema = try server.newSchema()
    let silent = try LocalSocket(listening: silence == .dropsAttempts ? 0 : 64)
    defer { silent.close() }
    // A queue that is full: the system drops further attempts.
    let waiting = try silence == .dropsAttempts ? LocalSocket(connectingTo: silent.port) : nil
    defer { waiting?.close() }
    let hosts = schema.replacing(
      "host=127.0.0.1 port=\(server.port)",
      with: "host=127.0.0.1,127.0.0.1 port=\(silent.port),\(server.port)"
        + " target_session_attrs=read-write")
    let log = PostgresLog(
      PostgresOptions(
        connection: hosts, connectTimeout: .seconds(4), operationTimeout: .seconds(60),
        firstRetryPause: .milliseconds(2), longestRetryPause: .milliseconds(50)),
      clock: ContinuousClock(), uptime: uptime)
    #expect(try await log.open(ShardID(1)).position == .start)
    await log.close()
  }
}
