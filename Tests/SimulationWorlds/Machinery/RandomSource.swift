import Synchronization

/// Every choice of a world, from one seed.
package struct RandomSource: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Chances that are the same for the same seed.
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number in `0..<limit`.
  package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  /// A number in a range of milliseconds.
  package mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  /// Says yes as often as `part` of all times, 0...1.
  package mutating func happens(_ part: Double) -> Bool { Double(next() >> 11) * 0x1p-53 < part }

  /// One of several; `nil` when there are none.
  package mutating func pick<Choices: RandomAccessCollection>(
    _ choices: Choices
  ) -> Choices.Element? {
    if choices.isEmpty { return nil }
    return choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
  }
}

/// Random bits for the parts under test, which draw them from anywhere.
final class BitSource: Sendable {
  private let chance: Mutex<RandomSource>

  init(seed: UInt64) { chance = Mutex(RandomSource(seed: seed)) }

  func next() -> UInt64 { chance.withLock { $0.next() } }
}

/// Virtual time: milliseconds since the world began, moved by the world alone.
final class WorldClock: Sendable {
  private let milliseconds = Atomic<Int64>(0)

  var now: Int64 { milliseconds.load(ordering: .relaxed) }

  func move(to time: Int64) { milliseconds.store(time, ordering: .relaxed) }
}

/// The wall clock of one machine: it jumps, and may stand still or run backward.
final class WallClock: Sendable {
  /// The middle of November 2023, an ordinary time of day.
  private static let start: Int64 = 1_700_000_000_000
  private let clock: WorldClock
  private let course = Mutex(Course())

  private struct Course {
    /// The reading at `since`, in milliseconds after `start`.
    var reading: Int64 = 0
    var since: Int64 = 0
    /// 1 for a clock that goes right, 0 for one that stands still, -1 for one that runs backwards.
    var pace: Int64 = 1
  }

  init(_ clock: WorldClock) { self.clock = clock }

  var now: Int64 {
    let elapsed = clock.now
    return course.withLock { Self.start + $0.reading + (elapsed - $0.since) * $0.pace }
  }

  /// Sets the clock to the right time and so much more, from which it goes on at a pace.
  func jump(to milliseconds: Int64, pace: Int64 = 1) {
    let now = clock.now
    course.withLock { $0 = Course(reading: now + milliseconds, since: now, pace: pace) }
  }
}
