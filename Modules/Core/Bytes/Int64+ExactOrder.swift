extension Int64 {
  /// Negative, zero or positive without rounding the integer: 2^53 + 1 is above 2^53 as a double.
  ///
  /// - Parameter double: Any IEEE number; what is not a number is below all integers.
  func compareExactly(_ double: Double) -> Int {
    if double.isNaN { return 1 }
    if double >= 0x1p63 { return -1 }
    if double < -0x1p63 { return 1 }
    let whole = Int64(double)
    if self != whole { return self < whole ? -1 : 1 }
    let rest = double - Double(whole)
    return rest > 0 ? -1 : (rest < 0 ? 1 : 0)
  }
}
