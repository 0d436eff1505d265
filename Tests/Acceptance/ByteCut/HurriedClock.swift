import TernSync
import TernTestKit

/// A clock by which waiting takes a tenth of the time: for sessions that are disturbed often.
///
/// Long waits are as long as by ``ScaledClock``: they decide that a server is gone.
struct HurriedClock: Clock {
  typealias Instant = ContinuousClock.Instant

  private let patient = ScaledClock()

  var now: Instant { patient.now }
  var minimumResolution: Duration { patient.minimumResolution }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let left = now.duration(to: deadline)
    let isLong = left >= ScaledClock.longWait
    try await patient.sleep(
      until: isLong ? deadline : now.advanced(by: left / 10), tolerance: tolerance)
  }
}

extension RuntimeEnvironment {
  /// The system's time of day and chances, and waits that are soon over.
  static var hurried: RuntimeEnvironment {
    RuntimeEnvironment(
      millisecondsSinceEpoch: RuntimeEnvironment.system.millisecondsSinceEpoch,
      clock: HurriedClock(),
      randomBits: RuntimeEnvironment.system.randomBits)
  }
}
