/// The SHA-1 digest of a stream of bytes, as the tree's wire hashes need it.
///
/// It identifies content between parties that trust each other; it is no protection.
/// Source: FIPS 180-4.
struct SHA1 {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
  )
  private var block: [UInt8] = []
  private var schedule = [UInt32](repeating: 0, count: 80)
  private var length: UInt64 = 0

  init() {
    block.reserveCapacity(64)
  }

  mutating func update(_ byte: UInt8) {
    block.append(byte)
    if block.count == 64 { compress() }
  }

  mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { update(byte) }
  }

  /// The 20 bytes of the digest of everything added so far.
  consuming func digest() -> [UInt8] {
    let bits = (length + UInt64(block.count)) * 8
    update(0x80)
    while block.count != 56 { update(0) }
    for shift in stride(from: 56, through: 0, by: -8) {
      update(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    return [state.0, state.1, state.2, state.3, state.4].flatMap { word in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }

  private mutating func compress() {
    for index in 0..<16 {
      schedule[index] =
        UInt32(block[index * 4]) << 24 | UInt32(block[index * 4 + 1]) << 16
        | UInt32(block[index * 4 + 2]) << 8 | UInt32(block[index * 4 + 3])
    }
    for index in 16..<80 {
      schedule[index] = SHA1.rotate(
        schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16], 1)
    }
    var (a, b, c, d, e) = state
    for index in 0..<80 {
      let (mix, constant) = SHA1.round(index, b, c, d)
      let next = SHA1.rotate(a, 5) &+ mix &+ e &+ constant &+ schedule[index]
      (e, d, c, b, a) = (d, c, SHA1.rotate(b, 30), a, next)
    }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
    length += 64
    block.removeAll(keepingCapacity: true)
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
