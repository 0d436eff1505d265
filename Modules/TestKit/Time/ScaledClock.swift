public import TernSync

/// The real clock, on which long waits take longer: a machine under load must not take a server
/// for unreachable that only had no time to answer.
public struct ScaledClock: Clock {
  /// A point on the real clock.
  public typealias Instant = ContinuousClock.Instant

  /// Waits of this length and longer decide about a server, not about the next try.
  public static let longWait = Duration.seconds(9)

  private let base = ContinuousClock()

  /// A clock like every other of its kind.
  public init() {}

  /// The present of the real clock.
  public var now: Instant { base.now }
  /// That of the real clock.
  public var minimumResolution: Duration { base.minimumResolution }

  /// Sleeps; for a long wait, fifty seconds more.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let isLong = now.duration(to: deadline) >= Self.longWait
    try await base.sleep(
      until: isLong ? deadline.advanced(by: .seconds(50)) : deadline, tolerance: tolerance)
  }
}

extension RuntimeEnvironment {
  /// The system's time and randomness, with a ``ScaledClock``.
  public static var patient: RuntimeEnvironment {
    RuntimeEnvironment(
      millisecondsSinceEpoch: system.millisecondsSinceEpoch, clock: ScaledClock(),
      randomBits: system.randomBits)
  }
}
