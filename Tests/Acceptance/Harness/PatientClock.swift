/// The real clock, on which long waits take longer: a machine under load must not take a server
/// for unreachable that only had no time to answer.
struct PatientClock: Clock {
  typealias Instant = ContinuousClock.Instant

  private let base = ContinuousClock()

  var now: Instant { base.now }
  var minimumResolution: Duration { base.minimumResolution }

  /// Sleeps; from nine seconds on, fifty more.
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let isLong = now.duration(to: deadline) >= .seconds(9)
    try await base.sleep(
      until: isLong ? deadline.advanced(by: .seconds(50)) : deadline, tolerance: tolerance)
  }
}
