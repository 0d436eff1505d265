/// Makes child names that sort by the time they were made, the auto-ids of lists.
///
/// Twenty characters: eight for milliseconds since 1970, twelve random. Names of one generator
/// always ascend: in the same millisecond, or when the clock steps back, the last name is
/// counted up instead. Source: realtime reference, section 2.4.
public struct PushIDGenerator: Sendable {
  private static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
  private static let randomLength = 12

  private var lastMilliseconds: Int64 = -1
  /// Twelve digits of base 64, most significant first.
  private var digits = [UInt8](repeating: 0, count: randomLength)

  /// Makes a generator that has not named anything yet.
  public init() {}

  /// Makes the next name.
  ///
  /// - Parameters:
  ///   - milliseconds: The server-adjusted clock, 0..<2^48; values outside are clamped.
  ///   - randomBits: Answers 64 random bits; asked twice when the millisecond is new.
  public mutating func next(milliseconds: Int64, randomBits: () -> UInt64) -> TreeKey {
    let milliseconds = min(max(milliseconds, 0), 1 << 48 - 1)
    if milliseconds > lastMilliseconds {
      lastMilliseconds = milliseconds
      draw(randomBits)
    } else if !increment() {
      // All 72 bits are used up: borrow the next millisecond.
      lastMilliseconds = min(lastMilliseconds + 1, 1 << 48 - 1)
      draw(randomBits)
    }
    let time = PushIDGenerator.characters(ofMilliseconds: lastMilliseconds)
    let random = digits.map { PushIDGenerator.alphabet[Int($0)] }
    return TreeKey(unchecked: String(decoding: time + random, as: UTF8.self))
  }

  /// The first eight characters of a name made at `milliseconds`, 0..<2^48.
  static func characters(ofMilliseconds milliseconds: Int64) -> [UInt8] {
    (0..<8).map { position in
      let shift = 6 * (7 - position)
      return alphabet[Int(milliseconds >> shift) & 63]
    }
  }

  private mutating func draw(_ randomBits: () -> UInt64) {
    for half in 0..<2 {
      var bits = randomBits()
      for index in 0..<6 {
        digits[half * 6 + index] = UInt8(truncatingIfNeeded: bits & 63)
        bits >>= 6
      }
    }
  }

  /// Counts the digits up by one; `false` when all of them were at their end.
  private mutating func increment() -> Bool {
    for index in digits.indices.reversed() {
      if digits[index] < 63 {
        digits[index] += 1
        return true
      }
      digits[index] = 0
    }
    return false
  }
}
