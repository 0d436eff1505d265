#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Time and chance, handed to everything that needs them.
///
/// No part of Tern reads a clock or draws a random number on its own: a program passes
/// ``system``, a test or a simulation passes its own and decides what time it is.
public struct RuntimeEnvironment: Sendable {
  /// Wall-clock time, in milliseconds since the Unix epoch; may jump in either direction.
  public let millisecondsSinceEpoch: @Sendable () -> Int64
  /// The clock that timers sleep on; it only moves forward.
  public let clock: any Clock<Duration>
  /// Draws 64 random bits.
  public let randomBits: @Sendable () -> UInt64

  /// Makes an ambient from its three sources.
  public init(
    millisecondsSinceEpoch: @escaping @Sendable () -> Int64,
    clock: any Clock<Duration>,
    randomBits: @escaping @Sendable () -> UInt64
  ) {
    self.millisecondsSinceEpoch = millisecondsSinceEpoch
    self.clock = clock
    self.randomBits = randomBits
  }

  /// The time and randomness of this machine.
  public static let system = RuntimeEnvironment(
    millisecondsSinceEpoch: { wallClockMilliseconds() },
    clock: ContinuousClock(),
    randomBits: {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    })
}

extension RuntimeEnvironment {
  /// Measures milliseconds on ``clock``, which does not jump, from now on.
  public func stopwatch() -> @Sendable () -> Int64 { Self.stopwatch(clock) }

  private static func stopwatch(_ clock: any Clock<Duration>) -> @Sendable () -> Int64 {
    func start(_ clock: some Clock<Duration>) -> @Sendable () -> Int64 {
      let start = clock.now
      return {
        let passed = start.duration(to: clock.now).components
        return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
      }
    }
    return start(clock)
  }
}

extension RuntimeEnvironment {
  /// Draws a 128-bit id.
  public func randomID() -> UInt128 {
    UInt128(randomBits()) << 64 | UInt128(randomBits())
  }

  /// Draws a number in `0..<1`.
  public func randomUnit() -> Double {
    Double(randomBits() >> 11) * 0x1p-53
  }
}

private func wallClockMilliseconds() -> Int64 {
  var now = timespec()
  _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
  return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
}
