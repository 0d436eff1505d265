import TernCore
import TernStorage
import TernTestKit
import Testing

@testable import TernDocumentAuthority

@Suite("intervals of bytes") struct ByteIntervalTests {
  /// All byte strings of up to three of these bytes.
  private static let universe: [[UInt8]] = {
    let alphabet: [UInt8] = [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF]
    var all: [[UInt8]] = [[]]
    for length in 1...3 {
      for text in all where text.count == length - 1 { all += alphabet.map { text + [$0] } }
    }
    return all
  }()

  private func holds(_ lower: [UInt8], _ upper: [UInt8]?, _ text: [UInt8]) -> Bool {
    !text.lexicographicallyPrecedes(lower)
      && (upper.map { text.lexicographicallyPrecedes($0) } ?? true)
  }

  private func holds(_ interval: ByteInterval, _ text: [UInt8]) -> Bool {
    holds(interval.lower, interval.upper, text)
  }

  private func interval(using random: inout SeededGenerator) -> ByteInterval {
    func bound() -> [UInt8] { Self.universe[random.roll(Self.universe.count)] }
    let (one, other) = (bound(), bound())
    if random.roll(4) == 0 { return ByteInterval(lower: one, upper: nil) }
    return one.lexicographicallyPrecedes(other)
      ? ByteInterval(lower: one, upper: other) : ByteInterval(lower: other, upper: one)
  }

  @Test("what is left of an interval is what the other does not hold", arguments: UInt64(1)...40)
  func subtracting(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let (one, other) = (interval(using: &random), interval(using: &random))
      let parts = one.subtracting(other)
      for text in Self.universe {
        let count = parts.count { holds($0, text) }
        let isLeft = holds(one, text) && !holds(other, text)
        #expect(count == (isLeft ? 1 : 0), "\(text) in \(one) without \(other)")
      }
      #expect(parts.count <= 2)
    }
  }

  @Test("complements hold the complements of whole values", arguments: UInt64(1)...40)
  func complemented(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Values are of one length here, so that none is the beginning of another.
    let values = Self.universe.filter { $0.count == 3 }
    for _ in 0..<20 {
      var interval = interval(using: &random)
      // A bound is a whole value or a beginning that no value goes beyond by itself.
      if interval.lower.isEmpty, interval.upper == nil {
        interval = ByteInterval(lower: [1], upper: nil)
      }
      let turned = interval.complemented
      for value in values where holds(interval, value) {
        #expect(holds(turned, value.map { ~$0 }), "\(value) in \(interval)")
      }
    }
  }

  @Test("a range between rows holds those and all that begin with them", arguments: UInt64(1)...40)
  func intersections(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func bound() -> [UInt8] { Self.universe[random.roll(Self.universe.count)] }
    for _ in 0..<20 {
      let whole = interval(using: &random)
      let range = KeyRange(from: whole.lower, to: whole.upper)
      let first = random.roll(3) == 0 ? nil : bound()
      let last = random.roll(3) == 0 ? nil : bound()
      let part = range.intersection(from: first, through: last)
      for text in Self.universe {
        let isBehind = first.map { !text.lexicographicallyPrecedes($0) } ?? true
        let isBefore =
          last.map { !$0.lexicographicallyPrecedes(text) || text.starts(with: $0) } ?? true
        let expected = holds(whole, text) && isBehind && isBefore
        #expect(
          holds(part.lower, part.upper, text) == expected,
          "\(text) in \(whole) from \(String(describing: first)) to \(String(describing: last))")
      }
    }
  }
}
