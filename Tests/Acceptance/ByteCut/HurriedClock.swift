import TernSync
import TernTestKit

/// A clock by which waiting takes a tenth of the time: for sessions that are disturbed often.
///
/// Long waits are as long as by ``PatientClock``: they decide that a server is gone.
struct HurriedClock: Clock {
  typealias Instant = ContinuousClock.Instant

  private let patient = PatientClock()

  var now: Instant { patient.now }
  var minimumResolution: Duration { patient.minimumResolution }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let left = now.duration(to: deadline)
    let isLong = left >= PatientClock.longWait
    try await patient.sleep(
      until: isLong ? deadline : now.advanced(by: left / 10), tolerance: tolerance)
  }
}

extension Ambient {
  /// The system's time of day and chances, and waits that are soon over.
  static var hurried: Ambient {
    Ambient(
      millisecondsSinceEpoch: Ambient.system.millisecondsSinceEpoch, clock: HurriedClock(),
      randomBits: Ambient.system.randomBits)
  }
}
