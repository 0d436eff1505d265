public import TernCommitLog

/// A way to make commit logs of one kind, for the checks of ``CommitLogContract``.
public struct CommitLogFixture: Sendable, CustomStringConvertible {
  /// The kind's name in test reports.
  public let description: String

  private let make: @Sendable () async throws -> CommitLogPlace

  /// A kind of log called `name`; `make` returns a new, empty place each time.
  public init(_ name: String, _ make: @escaping @Sendable () async throws -> CommitLogPlace) {
    description = name
    self.make = make
  }

  /// A new place without shards.
  public func place() async throws -> CommitLogPlace { try await make() }
}

/// The one place that keeps the logs of all nodes of a check, such as a database.
///
/// A check connects several times to play several nodes. What one of them has done must be visible
/// to the others at once.
public struct CommitLogPlace: Sendable {
  /// Returns a log of its own for one more node.
  public let connect: @Sendable () async throws -> any CommitLog
  /// Ends what keeps the logs and starts it again. Logs that are open find it again by themselves.
  ///
  /// A place that cannot be restarted leaves it empty.
  public let restart: @Sendable () async throws -> Void
  /// Frees what the place occupies.
  public let remove: @Sendable () async -> Void

  /// A place that nodes connect to.
  public init(
    connect: @escaping @Sendable () async throws -> any CommitLog,
    restart: @escaping @Sendable () async throws -> Void = {},
    remove: @escaping @Sendable () async -> Void = {}
  ) {
    self.connect = connect
    self.restart = restart
    self.remove = remove
  }
}

/// One promise of the contract of commit logs.
public struct CommitLogCheck: Sendable, CustomStringConvertible {
  /// The promise, in words.
  public let description: String

  private let body: @Sendable (CommitLogBench) async throws -> Void

  init(
    _ description: String, _ body: @escaping @Sendable (CommitLogBench) async throws -> Void
  ) {
    self.description = description
    self.body = body
  }

  /// Throws unless the logs of a new place keep the promise.
  ///
  /// The place is removed whether or not the check succeeds. The bench's own log is closed only
  /// after success.
  public func run(on fixture: CommitLogFixture) async throws {
    let place = try await fixture.place()
    do {
      let bench = CommitLogBench(place: place, log: try await place.connect())
      _ = try await bench.log.open(bench.shard)
      try await body(bench)
      await bench.log.close()
    } catch {
      await place.remove()
      throw error
    }
    await place.remove()
  }
}

/// The difference between a commit log's promise and its behavior.
public struct CommitLogFailure: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// A place, one node's log in it, and an open shard.
///
/// The shard is opened before the check begins. It has no leader, so its epoch is none.
struct CommitLogBench: Sendable {
  /// The place, to connect further nodes.
  let place: CommitLogPlace
  /// The log of the first node.
  let log: any CommitLog
  let shard = ShardID(3)

  /// A batch whose payload differs from that of the next identifiers. Made of whole pieces: byte by
  /// byte, the largest ones took most of the time of all checks.
  func draft(_ id: UInt128, bytes: Int = 8) -> LogBatch.Draft {
    let piece = (0..<min(bytes, 256)).map {
      UInt8(truncatingIfNeeded: $0 &+ Int(truncatingIfNeeded: id))
    }
    var payload: [UInt8] = []
    payload.reserveCapacity(bytes)
    while payload.count < bytes { payload += piece.prefix(bytes - payload.count) }
    return LogBatch.Draft(id: id, payload: payload)
  }

  /// Appends batches with these identifiers behind the newest, under the present epoch.
  ///
  /// - Throws: ``CommitLogFailure`` unless every append takes effect at once.
  func append(_ ids: ClosedRange<UInt128>, bytes: Int = 8) async throws {
    let state = try await log.open(shard)
    var position = state.position
    for id in ids {
      let outcome = try await log.append(
        draft(id, bytes: bytes), to: shard, after: position, epoch: state.epoch)
      position = position.next
      try expect(outcome, .appended(position), "the append of \(id)")
    }
  }

  /// Waits for a batch behind a position, under an epoch that stays.
  func waitForBatch(
    after position: UInt64 = 0, under epoch: LogEpoch = .none, on log: any CommitLog,
    timeout: Duration = .seconds(600)
  ) async throws(CommitLogError) {
    try await log.waitForChange(
      in: shard, after: LogPosition(position), under: epoch, timeout: timeout)
  }

  /// Returns the identifiers of the batches behind a position.
  func ids(after position: UInt64 = 0, limit: Int = 4_096) async throws -> [UInt128] {
    try await log.batches(in: shard, after: LogPosition(position), limit: limit).map(\.id)
  }

  /// Throws unless two values are equal.
  ///
  /// - Parameter what: The subject, for the message.
  func expect<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) throws {
    if found != wanted { throw CommitLogFailure("\(what): \(found), not \(wanted)") }
  }

  /// Throws unless `body` throws that error.
  func expectError<R>(
    _ expected: CommitLogError, _ what: String,
    _ body: () async throws(CommitLogError) -> R
  ) async throws {
    do throws(CommitLogError) { _ = try await body() } catch {
      return try expect(error, expected, what)
    }
    throw CommitLogFailure("\(what): nothing was thrown, not \(expected)")
  }
}
