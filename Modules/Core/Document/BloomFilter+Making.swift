extension BloomFilter {
  /// Puts names into a filter of the size that servers choose.
  ///
  /// - Parameters:
  ///   - names: Full resource names of documents.
  ///   - errorRate: How often a name that was not put in may seem to be, 0 < rate <= 1; at 1, or
  ///     without names, the filter is empty. Rates below 1e-300 count as that.
  /// - Complexity: O(*n* · log(1/rate)); memory of -ln(rate) / 0.48 bits a name.
  package init(of names: some Collection<String>, errorRate: Double) {
    let size = BloomFilter.size(count: names.count, errorRate: errorRate)
    var bitmap = [UInt8](repeating: 0, count: (size.bitCount + 7) / 8)
    for name in names where size.bitCount > 0 {
      let digest = MD5.digest(name)
      for index in 0..<UInt64(size.hashCount) {
        let bit = Int((digest.first &+ index &* digest.second) % UInt64(size.bitCount))
        bitmap[bit >> 3] |= 1 << UInt8(bit & 7)
      }
    }
    self.init(
      unchecked: bitmap, padding: bitmap.count * 8 - size.bitCount, hashCount: size.hashCount)
  }

  /// Returns the size of a filter in bits, and the number of hash functions for each name.
  ///
  /// The bits are the smallest prime of at least -count · ln(rate) / ln(2)². Source: documents
  /// reference, section 5.9.
  static func size(count: Int, errorRate: Double) -> (bitCount: Int, hashCount: Int) {
    precondition(errorRate > 0 && errorRate <= 1, "an error rate is in 0 < rate <= 1")
    if count == 0 || errorRate == 1 { return (0, 0) }
    let ln2 = 0.693_147_180_559_945_3
    let wanted = -Double(count) * naturalLogarithm(max(errorRate, 1e-300)) / (ln2 * ln2)
    let bitCount = smallestPrime(from: Int(wanted.rounded(.up)))
    let hashCount = (Double(bitCount) / Double(count) * ln2).rounded()
    return (bitCount, min(max(Int(hashCount), 1), hashCountLimit))
  }

  /// - Complexity: O(√*n*) for each of the few numbers that are tried.
  private static func smallestPrime(from number: Int) -> Int {
    var candidate = max(number, 2)
    while !isPrime(candidate) { candidate += 1 }
    return candidate
  }

  private static func isPrime(_ number: Int) -> Bool {
    var divisor = 2
    while divisor * divisor <= number {
      if number % divisor == 0 { return false }
      divisor += 1
    }
    return true
  }

  /// The standard library has none; this one is exact to the last few bits.
  private static func naturalLogarithm(_ number: Double) -> Double {
    let ratio = (number.significand - 1) / (number.significand + 1)
    var power = ratio
    var sum = 0.0
    // The ratio is at most 1/3, so that further terms are below the precision of a double.
    for term in 0..<18 {
      sum += power / Double(2 * term + 1)
      power *= ratio * ratio
    }
    return Double(number.exponent) * 0.693_147_180_559_945_3 + 2 * sum
  }
}
