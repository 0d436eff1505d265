/// The SHA-1 digest of a stream of bytes, as the tree's wire hashes need it.
///
/// It identifies content between parties that trust each other; it is no protection.
/// Source: FIPS 180-4.
///
/// Bytes are collected as words in place; ``update(word:)`` adds four at once.
package struct SHA1 {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
  )
  /// The current block as big-endian words.
  private var words = WordBlock()
  /// The bytes added so far.
  private var length: UInt64 = 0

  package init() {}

  @inline(__always)
  mutating func update(_ byte: UInt8) {
    let position = Int(truncatingIfNeeded: length & 63)
    words[position >> 2] = words[position >> 2] << 8 | UInt32(byte)
    length += 1
    if position == 63 { compress() }
  }

  @inline(__always)
  mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { update(byte) }
  }

  package mutating func update(_ text: String) {
    unsafe text.withBytes { bytes in unsafe update(UnsafeRawBufferPointer(bytes)) }
  }

  mutating func update(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in unsafe update(bytes) }
  }

  /// Adds the bytes of a word, the most significant first.
  ///
  /// The word may straddle two of the block: its head completes the current one, and its tail
  /// begins the next after the block, if full, has been folded in.
  @inline(__always)
  mutating func update(word: UInt32) {
    let shift = UInt32(truncatingIfNeeded: length & 3) * 8
    let position = Int(truncatingIfNeeded: length & 63) >> 2
    length += 4
    if shift == 0 {
      words[position] = word
      if position == 15 { compress() }
    } else {
      words[position] = words[position] << (32 - shift) | word >> shift
      if position == 15 { compress() }
      words[(position + 1) & 15] = word & (1 << shift - 1)
    }
  }

  // Safe: every load lies within the buffer.
  @inline(__always)
  private mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index + 4 <= bytes.count {
      let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
      update(word: UInt32(bigEndian: word))
      index += 4
    }
    while index < bytes.count {
      unsafe update(bytes[index])
      index += 1
    }
  }

  /// The 20 bytes of the digest of everything added so far.
  package consuming func digest() -> [UInt8] {
    let (a, b, c, d, e) = finish()
    return [a, b, c, d, e].flatMap { word in
      stride(from: UInt32(24), through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
    }
  }

  /// The digest as five words, each with its most significant byte first.
  ///
  /// Appends the padding of the standard: a one bit, zeros up to 56 bytes of the block, and the
  /// length in bits.
  consuming func finish() -> (UInt32, UInt32, UInt32, UInt32, UInt32) {
    let bits = length * 8
    update(0x80)
    while length & 3 != 0 { update(0) }
    while length & 63 != 56 { update(word: 0) }
    update(word: UInt32(truncatingIfNeeded: bits >> 32))
    update(word: UInt32(truncatingIfNeeded: bits))
    return state
  }

  /// Folds the block in. The schedule of 80 words is computed in a copy of the 16 words, in a ring.
  private mutating func compress() {
    var block = words
    var (a, b, c, d, e) = state
    @inline(__always)
    func step(_ index: Int, _ mix: UInt32, _ constant: UInt32) {
      if index >= 16 {
        let mixed =
          block[(index - 3) & 15] ^ block[(index - 8) & 15] ^ block[(index - 14) & 15]
          ^ block[index & 15]
        block[index & 15] = SHA1.rotate(mixed, 1)
      }
      let next = SHA1.rotate(a, 5) &+ mix &+ e &+ constant &+ block[index & 15]
      (e, d, c, b, a) = (d, c, SHA1.rotate(b, 30), a, next)
    }
    for index in 0..<20 { step(index, d ^ (b & (c ^ d)), 0x5A82_7999) }
    for index in 20..<40 { step(index, b ^ c ^ d, 0x6ED9_EBA1) }
    for index in 40..<60 { step(index, (b & c) | (d & (b | c)), 0x8F1B_BCDC) }
    for index in 60..<80 { step(index, b ^ c ^ d, 0xCA62_C1D6) }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
  }

  @inline(__always)
  private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 {
    word << bits | word >> (32 - bits)
  }
}
