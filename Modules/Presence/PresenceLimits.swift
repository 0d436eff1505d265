/// How long the absence of a session is tolerated, and how much it may leave behind.
public struct PresenceLimits: Hashable, Sendable {
  /// A session that is silent for longer is taken for dead. Clients ping well within it.
  /// Default 60 seconds.
  public var silence: Duration
  /// How long after a restart the sessions of the run before may still be taken up by their
  /// successors before their deferred writes fire. Default 30 seconds.
  public var grace: Duration
  /// The most deferred writes of one session. Default 1,000.
  public var deferredWrites: Int
  /// The most bytes in the deferred writes of one session. Default 16 MiB.
  public var deferredBytes: Int

  /// The defaults, but for what is given.
  public init(
    silence: Duration = .seconds(60), grace: Duration = .seconds(30),
    deferredWrites: Int = 1_000, deferredBytes: Int = 16 << 20
  ) {
    self.silence = silence
    self.grace = grace
    self.deferredWrites = deferredWrites
    self.deferredBytes = deferredBytes
  }
}
