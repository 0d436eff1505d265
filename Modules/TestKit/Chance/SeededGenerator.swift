/// A generator whose numbers follow from its seed, so that a run that fails can be repeated.
///
/// The numbers are those of SplitMix64.
///
/// The sequence is part of what tests rely on: a changed constant changes every seeded run. It is
/// no source of secrets.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// The sum of the seed and of one increment for each number drawn.
  private var state: UInt64

  /// Numbers that are the same for the same seed.
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number in `0..<count`.
  ///
  /// It is biased for counts that do not divide 2⁶⁴, which does not matter here.
  ///
  /// - Precondition: `count` is above 0.
  package mutating func roll(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}
