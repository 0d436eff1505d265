import TernSync

/// A clock by which waiting takes a tenth of the time: for sessions that are disturbed often.
struct HurriedClock: Clock {
  private let base = ContinuousClock()

  var now: ContinuousClock.Instant { base.now }
  var minimumResolution: Duration { base.minimumResolution }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let left = base.now.duration(to: deadline)
    try await base.sleep(until: base.now.advanced(by: left / 10), tolerance: tolerance)
  }

  typealias Instant = ContinuousClock.Instant
}

extension Ambient {
  /// The system's time of day and chances, and waits that are soon over.
  static var hurried: Ambient {
    Ambient(
      millisecondsSinceEpoch: Ambient.system.millisecondsSinceEpoch, clock: HurriedClock(),
      randomBits: Ambient.system.randomBits)
  }
}
