/// The limits on a session's absence and on its onDisconnect operations.
public struct PresenceLimits: Hashable, Sendable {
  /// A session that is silent for longer is taken for dead. Clients ping well within it.
  /// Default 60 seconds.
  public var silence: Duration
  /// The time after a restart in which sessions of the previous run may be resumed before their
  /// onDisconnect operations fire. Default 30 seconds.
  public var grace: Duration
  /// The most deferred writes of one session. Default 1,000.
  public var deferredWrites: Int
  /// The most bytes in the deferred writes of one session. Default 16 MiB.
  public var deferredBytes: Int
  /// The most bytes in the deferred writes of all sessions, which stay in memory. Default 256 MiB.
  public var deferredBytesInAll: Int

  /// The defaults, but for what is given.
  public init(
    silence: Duration = .seconds(60), grace: Duration = .seconds(30),
    deferredWrites: Int = 1_000, deferredBytes: Int = 16 << 20,
    deferredBytesInAll: Int = 256 << 20
  ) {
    self.silence = silence
    self.grace = grace
    self.deferredWrites = deferredWrites
    self.deferredBytes = deferredBytes
    self.deferredBytesInAll = deferredBytesInAll
  }
}
