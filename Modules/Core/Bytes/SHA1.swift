/// The SHA-1 digest of a stream of bytes, as the tree's wire hashes need it.
///
/// It identifies content between parties that trust each other; it is no protection.
/// Source: FIPS 180-4.
package struct SHA1 {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
  )
  /// The current block as big-endian words; then, while compressing, the last sixteen words.
  private var words = InlineArray<16, UInt32>(repeating: 0)
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
    unsafe text.withBytes { bytes in
      for index in bytes.indices { unsafe update(bytes[index]) }
    }
  }

  /// The 20 bytes of the digest of everything added so far.
  package consuming func digest() -> [UInt8] {
    let bits = length * 8
    update(0x80)
    while length & 63 != 56 { update(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      update(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20)
    for word in [state.0, state.1, state.2, state.3, state.4] {
      for shift in stride(from: UInt32(24), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return bytes
  }

  private mutating func compress() {
    var (a, b, c, d, e) = state
    for index in 0..<80 {
      if index >= 16 { extend(index) }
      let (mix, constant) = SHA1.round(index, b, c, d)
      let next = SHA1.rotate(a, 5) &+ mix &+ e &+ constant &+ words[index & 15]
      (e, d, c, b, a) = (d, c, SHA1.rotate(b, 30), a, next)
    }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
  }

  @inline(__always)
  private mutating func extend(_ index: Int) {
    let mixed =
      words[(index - 3) & 15] ^ words[(index - 8) & 15] ^ words[(index - 14) & 15]
      ^ words[index & 15]
    words[index & 15] = SHA1.rotate(mixed, 1)
  }

  @inline(__always)
  private static func round(
    _ index: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32
  ) -> (mix: UInt32, constant: UInt32) {
    switch index {
    case ..<20: ((b & c) | (~b & d), 0x5A82_7999)
    case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
    case ..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
    default: (b ^ c ^ d, 0xCA62_C1D6)
    }
  }

  @inline(__always)
  private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 {
    word << bits | word >> (32 - bits)
  }
}
