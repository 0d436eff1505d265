/// Functions of real numbers that the standard library lacks, to about 13 digits.
///
/// The standard library has no such functions without Foundation or a C library, and both may
/// differ in the last digit from platform to platform. These give the same result everywhere.
enum RealFunctions {
  /// The number of terms of the series below; the rest is smaller than the last digit.
  private static let terms = 14
  private static let naturalLogarithmOf2 = 0.693_147_180_559_945_309_417
  /// The largest whole exponent that is multiplied out, exactly where the result is exact.
  private static let largestWholeExponent = 0x1p31

  /// A number to a power, with the exceptional cases of IEEE 754.
  static func power(_ base: Double, _ exponent: Double) -> Double {
    if exponent == 0 || base == 1 { return 1 }
    if base.isNaN || exponent.isNaN { return .nan }
    if exponent.isInfinite { return infinitePower(base.magnitude, exponent) }
    let isWhole = exponent.rounded(.towardZero) == exponent
    if isWhole, exponent.magnitude <= largestWholeExponent {
      let magnitude = multiplied(base, UInt64(exponent.magnitude))
      return exponent < 0 ? 1 / magnitude : magnitude
    }
    if base == 0 { return exponent < 0 ? .infinity : 0 }
    if base.isInfinite { return exponent < 0 ? 0 : .infinity }
    if exponent == 0.5, base > 0 { return base.squareRoot() }
    if base < 0, !isWhole { return .nan }
    // A whole exponent beyond 2³¹ that a double holds may be odd; beyond 2⁵³ it is even.
    let isOdd = exponent.truncatingRemainder(dividingBy: 2) != 0
    let magnitude = exponential(exponent * logarithm(base.magnitude))
    return base < 0 && isOdd ? -magnitude : magnitude
  }

  /// Returns the power with an infinite exponent: 0, 1 or infinity, by the size of the base.
  private static func infinitePower(_ base: Double, _ exponent: Double) -> Double {
    if base == 1 { return 1 }
    return (base > 1) == (exponent > 0) ? .infinity : 0
  }

  /// Returns a whole power by repeated squaring; 32 rounds at most.
  private static func multiplied(_ base: Double, _ exponent: UInt64) -> Double {
    var (result, square, rest) = (1.0, base, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result *= square }
      square *= square
      rest >>= 1
    }
    return result
  }

  /// The natural logarithm of a finite number above zero.
  ///
  /// The series of the inverse hyperbolic tangent converges for the significand, and the exponent
  /// is added as a multiple of the logarithm of 2.
  static func logarithm(_ number: Double) -> Double {
    let ratio = (number.significand - 1) / (number.significand + 1)
    // Significands are 1 to 2: the ratio is at most a third.
    var (sum, power) = (0.0, ratio)
    for term in 0..<2 * terms {
      sum += power / Double(2 * term + 1)
      power *= ratio * ratio
    }
    return 2 * sum + Double(number.exponent) * naturalLogarithmOf2
  }

  /// e to the power of a number.
  ///
  /// The exponent is split off first, so that the series runs over at most half of the logarithm of
  /// 2. The bounds are those of the largest double and of the smallest one above zero.
  static func exponential(_ number: Double) -> Double {
    if number > 710 { return .infinity }
    if number < -746 { return 0 }
    let exponent = (number / naturalLogarithmOf2).rounded()
    let rest = number - exponent * naturalLogarithmOf2
    var (sum, term) = (1.0, 1.0)
    for index in 1...terms {
      term *= rest / Double(index)
      sum += term
    }
    // In two steps, because the smallest numbers have fewer digits.
    let half = (exponent / 2).rounded(.down)
    return Double(sign: .plus, exponent: Int(exponent - half), significand: sum)
      * Double(sign: .plus, exponent: Int(half), significand: 1)
  }

  /// The sine of an angle of at most half a turn in either direction, in radians.
  static func sine(_ angle: Double) -> Double {
    var angle = angle
    if angle > .pi / 2 { angle = .pi - angle }
    if angle < -.pi / 2 { angle = -.pi - angle }
    var (sum, term) = (angle, angle)
    for index in 1...terms {
      term *= -angle * angle / Double(2 * index * (2 * index + 1))
      sum += term
    }
    return sum
  }

  /// The cosine of an angle of at most a quarter turn in either direction, in radians.
  static func cosine(_ angle: Double) -> Double { sine(.pi / 2 - angle.magnitude) }

  /// The angle, in radians, whose sine is a number of 0...1.
  static func arcSine(_ sine: Double) -> Double {
    // Halved three times, until the series is short.
    var (value, factor) = (sine, 1.0)
    for _ in 0..<3 {
      value /= (2 * (1 + (1 - value * value).squareRoot())).squareRoot()
      factor *= 2
    }
    var (sum, coefficient, power) = (value, 1.0, value)
    for index in 1...terms {
      coefficient *= Double(2 * index - 1) / Double(2 * index)
      power *= value * value
      sum += coefficient * power / Double(2 * index + 1)
    }
    return factor * sum
  }
}
