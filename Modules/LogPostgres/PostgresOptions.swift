/// The options of a log in PostgreSQL.
public struct PostgresOptions: Hashable, Sendable {
  /// The connection, as libpq reads it: a URI such as
  /// `postgresql://user@host/database?sslmode=verify-full`, or keywords and values. Passwords,
  /// service files, several hosts and TLS are libpq's own; what is not given comes from its
  /// environment variables and files.
  public var connection: String
  /// The time for which an attempt to connect waits for a host. Of several hosts each has a share
  /// of it, at least a second; one that is silent is left for the next. Setting up the session may
  /// take as long again. Default 5 s.
  public var connectTimeout: Duration
  /// The most time that an operation takes, with waiting for its turn and for a connection. The
  /// database ends a statement after three quarters of it. Default 10 s.
  public var operationTimeout: Duration
  /// The interval at which the log is asked for new batches and another epoch. Default 10 ms.
  public var pollInterval: Duration
  /// The pause after the first attempt to connect that fails; each further one doubles it. Default
  /// 50 ms.
  public var firstRetryPause: Duration
  /// The longest pause between attempts to connect. Default 1 s.
  public var longestRetryPause: Duration

  /// The defaults, but for what is given.
  public init(
    connection: String, connectTimeout: Duration = .seconds(5),
    operationTimeout: Duration = .seconds(10), pollInterval: Duration = .milliseconds(10),
    firstRetryPause: Duration = .milliseconds(50), longestRetryPause: Duration = .seconds(1)
  ) {
    self.connection = connection
    self.connectTimeout = connectTimeout
    self.operationTimeout = operationTimeout
    self.pollInterval = pollInterval
    self.firstRetryPause = firstRetryPause
    self.longestRetryPause = longestRetryPause
  }
}

/// The sizes that a log in PostgreSQL keeps to, besides those of every log.
public enum PostgresLimits {
  /// The most operations that wait for one of a log's connections; more are refused as unavailable.
  public static let waitingOperations = 1_024
  /// The most batches, and the most bytes of each of them, that are read together with the head of
  /// the log.
  static let batchesPerLook = 32
  static let bytesPerLook = 64 << 10
  /// The most rows of one statement that changes the checkpoint.
  static let rowsPerStatement = 1_024
  /// The most bytes of the keys and values of such a statement, unless one row alone has more.
  static let bytesPerStatement = 4 << 20
  /// The most ranges that are removed before rows are put.
  static let rangesPerStep = 256
  /// The most buckets of rows with long keys that one page of the checkpoint is read from.
  static let bucketsPerPage = 64
  /// The rows at which an advance of the checkpoint leaves ranges to transactions of their own.
  static let rowsPerAdvance = 100_000
  /// The most rows that one of those removes.
  static let rowsPerRemoval = 10_000
  /// The rows below which it never goes, however long the database takes.
  static let fewestRowsPerRemoval = 16
  /// The rows that a bucket or a range counts as when it is removed, in addition to its own.
  static let rowsOfBucket = 100
  /// The attempts to take a lease whose state changes meanwhile.
  static let leaseAttempts = 8
}

extension Duration {
  /// Whole milliseconds; the largest number for what does not fit.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflow ? Int64.max >> 1 : product + attoseconds / 1_000_000_000_000_000
  }
}
