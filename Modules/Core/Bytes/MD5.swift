/// The MD5 digest of a run of bytes, as filters of document names and rules for documents need it.
///
/// It spreads names over bits; it is no protection. Source: RFC 1321.
package enum MD5 {
  /// The rotations of each step, in bits, for the four rounds.
  private static let turns: [UInt32] = [
    7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21,
  ]

  /// The whole part of 2³² · |sin(i + 1)|.
  private static let sines: [UInt32] = [
    0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A, 0xA830_4613,
    0xFD46_9501, 0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE, 0x6B90_1122, 0xFD98_7193,
    0xA679_438E, 0x49B4_0821, 0xF61E_2562, 0xC040_B340, 0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D,
    0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8, 0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED,
    0xA9E3_E905, 0xFCEF_A3F8, 0x676F_02D9, 0x8D2A_4C8A, 0xFFFA_3942, 0x8771_F681, 0x6D9D_6122,
    0xFDE5_380C, 0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70, 0x289B_7EC6, 0xEAA1_27FA,
    0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665, 0xF429_2244,
    0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92, 0xFFEF_F47D, 0x8584_5DD1,
    0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1, 0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB,
    0xEB86_D391,
  ]

  /// The digest as two numbers: its first and its last eight bytes, the lowest byte first.
  static func digest(_ text: String) -> (first: UInt64, second: UInt64) { digest(text.utf8) }

  /// The 16 bytes of the digest.
  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    let (first, second) = digest(bytes)
    return [first, second].flatMap { half in
      (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(8 * $0)) }
    }
  }

  /// Takes bytes one by one and folds each block of 64 as it fills, so that no copy of the input is
  /// made.
  @inline(__always)
  private static func digest(_ bytes: some Sequence<UInt8>) -> (first: UInt64, second: UInt64) {
    var state = State()
    var word: UInt32 = 0
    var length: UInt64 = 0
    var block = WordBlock()
    func add(_ byte: UInt8) {
      word |= UInt32(byte) << UInt32(8 * (length & 3))
      length += 1
      guard length & 3 == 0 else { return }
      block[Int(truncatingIfNeeded: (length - 1) >> 2 & 15)] = word
      word = 0
      if length & 63 == 0 { state.fold(in: &block) }
    }
    for byte in bytes { add(byte) }
    let bits = length * 8
    add(0x80)
    while length & 63 != 56 { add(0) }
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      add(UInt8(truncatingIfNeeded: bits >> shift))
    }
    return (
      UInt64(state.b) << 32 | UInt64(state.a), UInt64(state.d) << 32 | UInt64(state.c)
    )
  }

  private struct State {
    var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (
      0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476
    )

    /// Folds one block into the state. Words are in little-endian order.
    mutating func fold(in block: inout WordBlock) {
      var (a, b, c, d) = (a, b, c, d)
      for step in 0..<64 {
        let (mix, index) = State.round(step, b, c, d)
        let sum = a &+ mix &+ MD5.sines[step] &+ block[index]
        let turn = MD5.turns[(step >> 4) * 4 + (step & 3)]
        (a, d, c, b) = (d, c, b, b &+ (sum << turn | sum >> (32 - turn)))
      }
      (self.a, self.b, self.c, self.d) = (self.a &+ a, self.b &+ b, self.c &+ c, self.d &+ d)
    }

    /// Returns the mixing function of a step and the word that it takes.
    private static func round(
      _ step: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32
    ) -> (mix: UInt32, index: Int) {
      switch step >> 4 {
      case 0: ((b & c) | (~b & d), step)
      case 1: ((d & b) | (~d & c), (5 * step + 1) & 15)
      case 2: (b ^ c ^ d, (3 * step + 5) & 15)
      default: (c ^ (b | ~d), (7 * step) & 15)
      }
    }
  }
}
