/// A set of document names, smaller than the names, that may hold more than was put in.
///
/// Source: documents reference, section 5.9.
///
/// The server sends it with an existence filter, so that a client finds out which documents were
/// deleted. Bit *i* of a name is (first + *i* × second) modulo the number of bits, with the two
/// halves of the MD5 digest of the full resource name.
package struct BloomFilter: Hashable, Sendable {
  /// The bits, eight to a byte, lowest first.
  package let bitmap: [UInt8]
  /// The unused bits of the last byte, 0...7.
  package let padding: Int
  /// The number of bits set for each name.
  package let hashCount: Int

  /// The most bits that may stand for a name; a peer's filter of more would cost its reader time.
  package static let hashCountLimit = 1_024

  /// - Returns: `nil` when the parts do not make a filter.
  package init?(bitmap: [UInt8], padding: Int, hashCount: Int) {
    guard (0...7).contains(padding), 0...BloomFilter.hashCountLimit ~= hashCount else {
      return nil
    }
    guard bitmap.isEmpty ? padding == 0 : hashCount > 0 else { return nil }
    self.bitmap = bitmap
    self.padding = padding
    self.hashCount = hashCount
  }

  init(unchecked bitmap: [UInt8], padding: Int, hashCount: Int) {
    self.bitmap = bitmap
    self.padding = padding
    self.hashCount = hashCount
  }

  /// An empty filter says nothing about any name.
  package var isEmpty: Bool { bitmap.isEmpty }

  /// Returns true when a name may be in the filter; `false` is certain.
  ///
  /// - Parameter name: The full resource name of a document.
  ///
  /// The cost is one digest and at most ``hashCount`` lookups.
  package func mightContain(_ name: String) -> Bool {
    guard !isEmpty else { return false }
    let digest = MD5.digest(name)
    let bitCount = UInt64(bitmap.count * 8 - padding)
    for index in 0..<UInt64(hashCount) {
      let bit = Int((digest.first &+ index &* digest.second) % bitCount)
      if bitmap[bit >> 3] & 1 << UInt8(bit & 7) == 0 { return false }
    }
    return true
  }
}
