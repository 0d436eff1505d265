import Synchronization

/// Every choice of a world, from one seed.
package struct Chance: RandomNumberGenerator, Sendable {
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
  private let chance: Mutex<Chance>

  init(seed: UInt64) { chance = Mutex(Chance(seed: seed)) }

  func next() -> UInt64 { chance.withLock { $0.next() } }
}

/// Virtual time: milliseconds since the world began, moved by the world alone.
final class WorldClock: Sendable {
  private let milliseconds = Atomic<Int64>(0)

  var now: Int64 { milliseconds.load(ordering: .relaxed) }

  func move(to time: Int64) { milliseconds.store(time, ordering: .relaxed) }
}

/// What one machine takes for the time of day; it jumps.
final class WallClock: Sendable {
  /// The middle of November 2023, for no reason but that it is a usual time of day.
  private static let start: Int64 = 1_700_000_000_000
  private let clock: WorldClock
  private let offset = Atomic<Int64>(0)

  init(_ clock: WorldClock) { self.clock = clock }

  var now: Int64 { Self.start + clock.now + offset.load(ordering: .relaxed) }

  func jump(to milliseconds: Int64) { offset.store(milliseconds, ordering: .relaxed) }
}
