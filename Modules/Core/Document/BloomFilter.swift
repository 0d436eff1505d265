/// A set of document names, smaller than the names, that may hold more than was put in.
///
/// Source: documents reference, section 5.9.
package struct BloomFilter: Hashable, Sendable {
  /// The bits, eight to a byte, lowest first.
  package let bitmap: [UInt8]
  /// How many bits of the last byte are not used, 0...7.
  package let padding: Int
  /// How many bits stand for a name.
  package let hashCount: Int

  /// - Returns: `nil` when the parts do not make a filter.
  package init?(bitmap: [UInt8], padding: Int, hashCount: Int) {
    guard (0...7).contains(padding), hashCount >= 0 else { return nil }
    guard bitmap.isEmpty ? padding == 0 : hashCount > 0 else { return nil }
    self.bitmap = bitmap
    self.padding = padding
    self.hashCount = hashCount
  }

  /// An empty filter says nothing about any name.
  package var isEmpty: Bool { bitmap.isEmpty }
}
