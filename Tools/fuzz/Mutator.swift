/// Makes inputs: samples of what is right, damaged.
struct Mutator {
  /// No input becomes longer.
  static let limitBytes = 16 << 10

  private let samples: [[UInt8]]
  private let words: [[UInt8]]
  private let seed: UInt64

  init(_ target: FuzzTarget, seed: UInt64) {
    samples = target.samples
    words = target.words.map { Array($0.utf8) }
    self.seed = seed
  }

  /// The input of a number; the first ones are the samples as they are.
  func input(_ number: UInt64) -> [UInt8] {
    if number < UInt64(samples.count) { return samples[Int(number)] }
    var dice = FuzzDice(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ number)
    var input = samples[dice.roll(samples.count)]
    for _ in 0...dice.roll(8) { damage(&input, &dice) }
    return Array(input.prefix(Self.limitBytes))
  }

  private func damage(_ input: inout [UInt8], _ dice: inout FuzzDice) {
    let place = dice.roll(input.count + 1)
    let range = place..<min(input.count, place + 1 + dice.roll(1 << dice.roll(8)))
    switch dice.roll(11) {
    case 0 where place < input.count: input[place] ^= 1 << UInt8(dice.roll(8))
    case 1 where place < input.count: input[place] = UInt8(dice.roll(256))
    case 2 where !range.isEmpty: input.removeSubrange(range)
    case 3 where !range.isEmpty: input.insert(contentsOf: input[range], at: dice.roll(input.count))
    case 4:
      let bytes = (0...dice.roll(8)).map { _ in UInt8(dice.roll(256)) }
      input.insert(contentsOf: bytes, at: place)
    case 5 where !words.isEmpty:
      input.insert(contentsOf: words[dice.roll(words.count)], at: place)
    case 6 where !words.isEmpty && !range.isEmpty:
      input.replaceSubrange(range, with: words[dice.roll(words.count)])
    case 7:
      let other = samples[dice.roll(samples.count)]
      input = Array(input[..<place] + other[dice.roll(other.count + 1)...])
    case 8: input.removeSubrange(place...)
    case 9 where place < input.count:
      // The ends of ranges, where counts and lengths go wrong.
      let ends: [UInt8] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF]
      for index in place..<min(input.count, place + 1 + dice.roll(8)) {
        input[index] = ends[dice.roll(ends.count)]
      }
    case 10 where !range.isEmpty && input.count < Self.limitBytes:
      // Depth: the same again and again.
      let piece = Array(input[range])
      let times = min(dice.roll(200), (Self.limitBytes - input.count) / piece.count)
      input.insert(contentsOf: (0..<max(0, times)).flatMap { _ in piece }, at: place)
    default: break
    }
  }
}

/// Numbers that follow from a seed: SplitMix64.
struct FuzzDice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// One of `count` numbers from 0.
  mutating func roll(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}
