import TernSync

extension RuntimeEnvironment {
  /// Measures microseconds on ``clock``, which does not jump, from now on.
  func microseconds() -> @Sendable () -> Int64 { Self.microseconds(clock) }

  private static func microseconds(_ clock: any Clock<Duration>) -> @Sendable () -> Int64 {
    func start(_ clock: some Clock<Duration>) -> @Sendable () -> Int64 {
      let start = clock.now
      return {
        let passed = start.duration(to: clock.now).components
        return passed.seconds * 1_000_000 + passed.attoseconds / 1_000_000_000_000
      }
    }
    return start(clock)
  }
}
