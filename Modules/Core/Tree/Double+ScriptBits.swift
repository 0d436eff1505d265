extension Double {
  /// The bits of this number as the stock client in JavaScript works them out for a hash.
  ///
  /// It takes the exponent to be the floor of `log(v) / ln 2`, both rounded to doubles. For a
  /// number just below a power of two the quotient may be that power's exponent already, and for a
  /// power of two less than its exponent. The logarithm is worked out here from the distance to the
  /// power, because only there the rounding matters.
  var scriptBits: UInt64 {
    guard isNormal, (-1_000...1_000).contains(Int(exponent)) else { return bitPattern }
    let fraction = bitPattern & Self.fractionMask
    // The distance to the next power of two, in units of half the last bit of that power.
    let distance = fraction == 0 ? 0 : (1 << 52) - fraction
    guard distance < Self.farDistance else { return bitPattern }
    let power = fraction == 0 ? Int(exponent) : Int(exponent) + 1
    let relative = Double(distance) * 0x1p-53
    let product = Double(power) * Self.ln2
    let error = (-product).addingProduct(Double(power), Self.ln2)
    let logarithm =
      product + (error + Double(power) * Self.ln2Rest - relative - relative * relative / 2)
    let found = Int((logarithm / Self.ln2).rounded(.down))
    guard found != Int(exponent) else { return bitPattern }
    let sign = bitPattern & (1 << 63)
    // What is left for the fraction is negative then, or one power too much; its lowest bits count.
    let rest = fraction == 0 ? 0 : UInt64(bitPattern: -Int64(distance / 2)) & Self.fractionMask
    return sign | UInt64(found + 1_023) << 52 | rest
  }

  private static let fractionMask: UInt64 = (1 << 52) - 1
  /// From so far below a power on, no rounding reaches it.
  private static let farDistance: UInt64 = 1 << 14
  /// The natural logarithm of 2, and what is missing of it.
  private static let ln2 = 0x1.62e42fefa39efp-1
  private static let ln2Rest = 0x1.abc9e3b39803fp-56
}
