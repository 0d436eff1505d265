import Dispatch
import Synchronization
import TernCommitLog

/// One connection and the thread that works with it: operations run one after the other, and the
/// connection is made again when it is lost.
///
/// Its executor is a queue with a thread, since all work blocks on the socket. Callers wait without
/// a thread. The actor's isolation makes operations strictly sequential, which libpq requires.
actor PostgresWorker {
  /// The parts that a log shares with its workers.
  struct Context: Sendable {
    let options: PostgresOptions
    let conditions: PostgresConnection.Conditions
    let migrations: [PostgresMigration]
  }

  private nonisolated let executor: QueueExecutor
  /// The number of operations that wait or run.
  ///
  /// Its limit bounds the memory that an unreachable database can cost.
  private nonisolated let waiting = Mutex(0)
  private nonisolated let context: Context
  private var connection: PostgresConnection?
  /// The present pause between attempts to connect, in milliseconds; 0 after a success.
  private var pause: Int64 = 0
  private var nextAttempt = Int64.min
  private var hosts = PostgresHosts()

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  init(_ name: String, context: Context) {
    executor = QueueExecutor(label: "tern.postgres.\(name)")
    self.context = context
  }

  /// Runs an operation that changes nothing; again over another connection if one is lost.
  ///
  /// - Parameter body: May run several times. It gets the deadline of the whole operation.
  /// - Throws: ``CommitLogError/unavailable(reason:)`` when no attempt succeeds in time,
  ///   ``CommitLogError/denied(reason:)``, ``CommitLogError/incompatible(version:)``,
  ///   ``CommitLogError/closed``.
  nonisolated func read<R: Sendable>(
    _ body: @Sendable (PostgresConnection, _ deadline: Int64) throws(PostgresFailure) -> R
  ) async throws(CommitLogError) -> R {
    try await turn { deadline throws(CommitLogError) in
      try await self.perform(deadline: deadline, isRepeatable: true, body)
    }
  }

  /// Runs an operation that changes something; again only if it certainly changed nothing.
  ///
  /// - Throws: ``CommitLogError/unknownOutcome`` when the connection was lost after the statement
  ///   was sent; else the errors of ``read(_:)``.
  nonisolated func change<R: Sendable>(
    _ body: @Sendable (PostgresConnection, _ deadline: Int64) throws(PostgresFailure) -> R
  ) async throws(CommitLogError) -> R {
    try await turn { deadline throws(CommitLogError) in
      try await self.perform(deadline: deadline, isRepeatable: false, body)
    }
  }

  /// Ends the connection, after the operations that wait.
  func close() { connection = nil }

  /// Counts the operations that wait, and fixes the time by which this one ends.
  private nonisolated func turn<R: Sendable>(
    _ body: (_ deadline: Int64) async throws(CommitLogError) -> R
  ) async throws(CommitLogError) -> R {
    if context.conditions.isClosed() { throw .closed }
    let isTaken = waiting.withLock { count in
      guard count < PostgresLimits.waitingOperations else { return false }
      count += 1
      return true
    }
    guard isTaken else { throw .unavailable(reason: "too many operations wait for the database") }
    defer { waiting.withLock { $0 -= 1 } }
    return try await body(
      context.conditions.uptime() + context.options.operationTimeout.milliseconds)
  }

  /// Performs an operation on the worker's thread, repeating it where that is safe.
  ///
  /// The loop ends by success, by an error that no repetition helps against, or at the deadline. An
  /// error that leaves the connection usable, such as a violated condition, keeps it.
  private func perform<R: Sendable>(
    deadline: Int64, isRepeatable: Bool,
    _ body: (PostgresConnection, _ deadline: Int64) throws(PostgresFailure) -> R
  ) throws(CommitLogError) -> R {
    while true {
      let current: PostgresConnection
      do throws(PostgresFailure) { current = try connected(deadline: deadline) } catch {
        throw error.ofRead
      }
      do throws(PostgresFailure) { return try body(current, deadline) } catch {
        if error.endsConnection { connection = nil }
        let mayRepeat = isRepeatable || !error.mayHaveChanged
        guard mayRepeat, error.isRetriable, context.conditions.uptime() < deadline else {
          throw isRepeatable ? error.ofRead : error.ofChange
        }
        // A refusal comes at once; the next attempt waits as one to connect does.
        connection = nil
        postpone()
      }
    }
  }

  /// Returns the connection; makes one, with growing pauses between attempts, when there is none.
  ///
  /// - Throws: The reason of the last attempt that was not cut short by the deadline, so that
  ///   operators see the cause rather than a timeout.
  private func connected(deadline: Int64) throws(PostgresFailure) -> PostgresConnection {
    if let connection, connection.isAlive { return connection }
    connection = nil
    var reason: String?
    while true {
      try pause(until: nextAttempt, reason: reason ?? "no answer in time", deadline: deadline)
      do throws(PostgresFailure) {
        let made = try connect(deadline: deadline)
        connection = made
        (pause, nextAttempt) = (0, .min)
        return made
      } catch {
        guard error.isRetriable else { throw error }
        // An attempt that the deadline ends says less than those before it.
        if reason == nil || context.conditions.uptime() < deadline { reason = error.text }
        postpone()
      }
    }
  }

  private func postpone() {
    let options = context.options
    pause = min(
      max(pause * 2, options.firstRetryPause.milliseconds), options.longestRetryPause.milliseconds)
    nextAttempt = context.conditions.uptime() + pause
  }

  /// Blocks the worker's thread until the next attempt is due.
  private func pause(
    until moment: Int64, reason: String, deadline: Int64
  ) throws(PostgresFailure) {
    while true {
      if context.conditions.isClosed() { throw .closed }
      let now = context.conditions.uptime()
      guard now < deadline else { throw .unreachable(reason) }
      guard now < moment else { return }
      PostgresConnection.block(milliseconds: Int32(min(moment - now, deadline - now, 50)))
    }
  }

  /// Makes a connection whose session is set up and whose schema is that of this library.
  ///
  /// The keepalive settings detect a dead peer within 25 seconds. `target_session_attrs` skips
  /// hosts that are standbys. The operator's connection string takes precedence over all of these;
  /// only the order of hosts comes after it.
  private func connect(deadline: Int64) throws(PostgresFailure) -> PostgresConnection {
    let timeout = context.options.connectTimeout.milliseconds
    let order = hosts.order
    let made = try PostgresConnection(
      [
        ("application_name", "tern"), ("client_encoding", "UTF8"),
        ("target_session_attrs", "read-write"), ("keepalives_idle", "10"),
        ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("dbname", context.options.connection),
      ] + PostgresHosts.settings(order), conditions: context.conditions)
    do throws(PostgresFailure) {
      let count = order.isEmpty ? made.hosts.count : order.count
      try made.finishConnecting(
        patience: PostgresHosts.share(of: timeout, hosts: count), deadline: deadline)
      try setUp(made, deadline: min(deadline, context.conditions.uptime() + timeout))
    } catch {
      hosts.noteFailure(at: made.host, of: made.hosts)
      // Nothing of the caller's was sent yet.
      if case .lost(let reason) = error { throw .unreachable(reason) }
      throw error
    }
    hosts.reset()
    return made
  }

  /// Sets isolation and timeouts of a new session, and prepares the schema.
  ///
  /// The timeouts make the database give up before this node does: a statement of a node that is
  /// gone does not hold the lock of the shard's row for long.
  private func setUp(
    _ made: PostgresConnection, deadline: Int64
  ) throws(PostgresFailure) {
    try made.run(.readCommitted, deadline: deadline)
    // Shorter than the operation's time, so that the answer of the database still arrives.
    let time = max(1, context.options.operationTimeout.milliseconds / 4 * 3)
    for name in ["statement_timeout", "idle_in_transaction_session_timeout"] {
      try made.run(.setting, [.text(name), .text("\(time)")], deadline: deadline)
    }
    try PostgresSchema(migrations: context.migrations).prepare(made, deadline: deadline)
  }
}

/// Runs the jobs of an actor on a queue of its own, because they block.
final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
