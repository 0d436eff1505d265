import TernTestKit
import Testing

@testable import TernCore

@Suite("Order and equality of texts")
struct TextOrderTests {
  /// Texts that share beginnings of every length around the eight bytes that are compared at once.
  private func texts(_ random: inout SeededGenerator) -> [String] {
    let stems = (0..<4).map { _ in borderText(12, using: &random) }
    return (0..<60).map { _ in
      stems[random.roll(4)] + borderText(random.roll(4), using: &random)
    }
  }

  @Test("the order of UTF-16 is that of code units", arguments: UInt64(1)...6)
  func utf16(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let texts = texts(&random)
    for left in texts {
      for right in texts {
        let expected = order(Array(left.utf16), Array(right.utf16))
        #expect(left.compareUTF16(right).signum() == expected, "\(left.debugDescription)")
      }
    }
  }

  @Test("the order of UTF-8 is that of bytes, and equality with it", arguments: UInt64(21)...26)
  func utf8(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let texts = texts(&random)
    for left in texts {
      for right in texts {
        let expected = order(Array(left.utf8), Array(right.utf8))
        #expect(left.compareUTF8(right).signum() == expected, "\(left.debugDescription)")
        #expect(left.hasSameBytes(as: right) == (expected == 0))
        #expect((ExactText(left) < ExactText(right)) == (expected < 0))
        #expect((ExactText(left) == ExactText(right)) == (expected == 0))
      }
    }
  }

  @Test("a sorting prefix never contradicts the order", arguments: UInt64(41)...46)
  func prefixes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let texts = texts(&random)
    for left in texts {
      for right in texts where left.sortingPrefix != right.sortingPrefix {
        #expect((left.sortingPrefix < right.sortingPrefix) == (left.compareUTF16(right) < 0))
      }
    }
  }

  @Test("texts that Unicode holds for one are two entries of a set")
  func equivalence() {
    let spellings = ["\u{E9}", "e\u{301}", "\u{1E9B}\u{323}", "\u{17F}\u{323}\u{307}"]
    #expect(Set(spellings.map { ExactText($0) }).count == 4)
    #expect(Set(spellings.map { JSONValue.string($0) }).count == 4)
    #expect(Set(spellings.map { TreeScalar.string($0) }).count == 4)
    #expect(Set(spellings.map { DocumentValue.string($0) }).count == 4)
    #expect(Set(spellings.map { JSONValue.object([.init($0, .null)]) }).count == 4)
  }

  @Test("a key's order agrees with numbers first, then code units", arguments: UInt64(61)...68)
  func keys(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let keys = (0..<70).map { _ in TreeKey(unchecked: Self.name(&random)) }
    for left in keys {
      for right in keys {
        let expected = NaiveKey(left.text).order(NaiveKey(right.text))
        let told = "\(left.text.debugDescription), \(right.text.debugDescription)"
        #expect(left.compare(right).signum() == expected, "\(told)")
        #expect((left < right) == (expected < 0), "\(told)")
        #expect((left == right) == (expected == 0), "\(told)")
        if expected == 0 { #expect(left.hashValue == right.hashValue, "\(told)") }
      }
      #expect(left.integer.map(Int64.init) == NaiveKey(left.text).number, "\(left.text)")
    }
  }

  /// Numbers around the borders of 32 bits, with and without zeros in front, and other texts.
  private static func name(_ random: inout SeededGenerator) -> String {
    let numbers: [Int64] = [
      0, 1, 9, 10, 2_147_483_646, 2_147_483_647, 2_147_483_648, 4_294_967_296, 99_999_999_999,
    ]
    switch random.roll(4) {
    case 0: return borderText(3, using: &random)
    case 1: return "key" + borderText(10, using: &random)
    default:
      let sign = random.roll(2) == 0 ? "-" : ""
      let zeros = String(repeating: "0", count: [0, 0, 0, 1, 2, 12][random.roll(6)])
      let tail = random.roll(8) == 0 ? "x" : ""
      return sign + zeros + String(numbers[random.roll(numbers.count)]) + tail
    }
  }

  /// The order of names as the reference tells it, without any short cut.
  private struct NaiveKey {
    let text: String
    let number: Int64?

    init(_ text: String) {
      self.text = text
      let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
      let isNumber = !digits.isEmpty && digits.allSatisfy { 0x30...0x39 ~= $0 }
      number = isNumber ? Int64(text).flatMap { Int32(exactly: $0) }.map(Int64.init) : nil
    }

    func order(_ other: NaiveKey) -> Int {
      switch (number, other.number) {
      case (let a?, let b?) where a != b: return a < b ? -1 : 1
      case (_?, nil): return -1
      case (nil, _?): return 1
      case (_?, _?) where text.utf8.count != other.text.utf8.count:
        return text.utf8.count < other.text.utf8.count ? -1 : 1
      default: return TernCoreTests.order(Array(text.utf16), Array(other.text.utf16))
      }
    }
  }
}

@Suite("Order of scalars")
struct ScalarOrderTests {
  static let scalars: [TreeScalar] = [
    .serverValue(.timestamp), false, true, .double(-.infinity), .integer(.min), -0x1p63,
    .integer(.min + 1), -1, -0.5, .double(-5e-324), -0.0, 0, 0.0, .double(5e-324), 0.5, 1, 1.0,
    .integer(1 << 53), 0x1p53, .integer(1 << 53 + 1), .integer(.max - 1), .integer(.max), 0x1p63,
    .double(.infinity), "", "\0", "a", "\u{FFFF}", "\u{10000}",
  ]

  @Test("the order is total, and equality and hashes follow it", arguments: Self.scalars)
  func total(middle: TreeScalar) {
    #expect(middle.compare(middle) == 0)
    for left in Self.scalars {
      #expect(left.compare(middle).signum() == -middle.compare(left).signum(), "\(left)")
      #expect((left == middle) == (left.compare(middle) == 0), "\(left)")
      if left == middle { #expect(left.hashValue == middle.hashValue, "\(left)") }
      for right in Self.scalars where left.compare(middle) <= 0 && middle.compare(right) <= 0 {
        #expect(left.compare(right) <= 0, "\(left), \(right)")
      }
    }
  }

  @Test("what is not a number is compared with integers, and equals none of them")
  func notANumber() {
    let nan = TreeScalar.double(.nan)
    for other: TreeScalar in [0, .integer(.min), .integer(.max)] {
      #expect(nan != other)
      #expect(nan.compare(other) < 0)
      #expect(other.compare(nan) > 0)
    }
  }
}
