/// A small generator whose whole state is its seed.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// Changes, drops, doubles or cuts bytes of a frame.
  mutating func damage(_ frame: [UInt8]) -> [UInt8] {
    var bytes = frame
    for _ in 0..<(1 + next() % 3) where !bytes.isEmpty {
      let index = Int(next() % UInt64(bytes.count))
      switch next() % 5 {
      case 0: bytes[index] = UInt8(truncatingIfNeeded: next())
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(bytes[index], at: index)
      case 3: bytes[index] = Array(#"{}[]",:.-0e\u"#.utf8)[Int(next() % 12)]
      default: bytes.removeSubrange(index...)
      }
    }
    return bytes
  }
}
