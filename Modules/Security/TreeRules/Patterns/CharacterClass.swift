/// A set of Unicode scalars that one position of a pattern accepts.
///
/// Negation applies after the folding of case: `[^a]` with the flag `i` excludes `A` as well.
/// Ranges may overlap and are in the order of the source.
struct CharacterClass: Sendable {
  /// Ranges of scalar values; ``isNegated`` does not change them.
  private(set) var ranges: [ClosedRange<UInt32>] = []
  var isNegated = false
  var ignoresCase = false

  init() {}

  init(_ scalar: Unicode.Scalar) {
    insert(scalar.value...scalar.value)
  }

  mutating func insert(_ range: ClosedRange<UInt32>) {
    ranges.append(range)
  }

  /// Adds all characters of another class, such as `\D` inside of brackets; the other's flag for
  /// letter case is ignored.
  mutating func insert(_ other: CharacterClass) {
    ranges += other.isNegated ? other.complement : other.ranges
  }

  /// Returns true when the class holds `scalar`, regardless of letter case if the pattern says so.
  func contains(_ scalar: Unicode.Scalar) -> Bool {
    var isMember = holds(scalar)
    if ignoresCase, !isMember {
      isMember = scalar.caseVariants.contains(where: holds)
    }
    return isMember != isNegated
  }

  /// The ASCII characters it holds, one bit each, the first 64 in the first word.
  var asciiBits: (UInt64, UInt64) {
    var words = (UInt64(0), UInt64(0))
    func insert(_ code: UInt32) {
      if code < 64 { words.0 |= 1 << UInt64(code) } else { words.1 |= 1 << UInt64(code - 64) }
    }
    for range in ranges where range.lowerBound < 128 {
      for code in range.lowerBound...min(range.upperBound, 127) {
        insert(code)
        let isLetter = (0x61...0x7A).contains(code | 0x20)
        if ignoresCase, isLetter { insert(code ^ 0x20) }
      }
    }
    return isNegated ? (~words.0, ~words.1) : words
  }

  private func holds(_ scalar: Unicode.Scalar) -> Bool {
    ranges.contains { $0.contains(scalar.value) }
  }

  /// The ranges of all scalar values outside of ``ranges``, ascending.
  private var complement: [ClosedRange<UInt32>] {
    var next: UInt32 = 0
    var result: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
      next = max(next, range.upperBound + 1)
    }
    if next <= 0x10FFFF { result.append(next...0x10FFFF) }
    return result
  }
}

extension CharacterClass {
  /// Everything but the ends of lines.
  static let dot = negated(of: [0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])

  /// The class for `\d`, `\w`, `\s` and their capitals; ASCII, as the service has it.
  static func shorthand(_ letter: Unicode.Scalar) -> CharacterClass? {
    switch letter {
    case "d": of(digits)
    case "D": negated(of: digits)
    case "w": of(word)
    case "W": negated(of: word)
    case "s": of(blanks)
    case "S": negated(of: blanks)
    default: nil
    }
  }

  private static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
  private static let word: [ClosedRange<UInt32>] = [
    0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A,
  ]
  private static let blanks: [ClosedRange<UInt32>] = [0x09...0x0D, 0x20...0x20]

  private static func of(_ ranges: [ClosedRange<UInt32>]) -> CharacterClass {
    var result = CharacterClass()
    result.ranges = ranges
    return result
  }

  private static func negated(of ranges: [ClosedRange<UInt32>]) -> CharacterClass {
    var result = of(ranges)
    result.isNegated = true
    return result
  }
}

extension Unicode.Scalar {
  /// The same letter in lower and upper case where that is one scalar.
  ///
  /// Nothing outside ASCII is taken for an ASCII letter: `k` is not the Kelvin sign.
  fileprivate var caseVariants: [Unicode.Scalar] {
    if isASCII {
      let isLetter = ("a"..."z").contains(self) || ("A"..."Z").contains(self)
      return isLetter ? [Unicode.Scalar(UInt8(value) ^ 0x20)] : []
    }
    return [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { mapping in
      guard mapping.unicodeScalars.count == 1, let other = mapping.unicodeScalars.first,
        other.isASCII == isASCII
      else { return nil }
      return other
    }
  }
}
