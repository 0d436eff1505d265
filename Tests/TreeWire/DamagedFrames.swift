import TernTestKit

extension SeededGenerator {
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
