/// Makes ids for new documents: twenty characters, each of 62 equally likely.
///
/// Source: documents reference, section 1.2.
public enum DocumentIDGenerator {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// Makes an id.
  ///
  /// - Parameter randomBits: Answers 64 random bits; asked as often as needed, about three times.
  public static func next(randomBits: () -> UInt64) -> String {
    var id: [UInt8] = []
    while id.count < 20 {
      var bits = randomBits()
      for _ in 0..<8 where id.count < 20 {
        let byte = Int(bits & 0xFF)
        bits >>= 8
        // 248 is the largest multiple of 62 in a byte; what lies above would favour some letters.
        if byte < 248 { id.append(alphabet[byte % 62]) }
      }
    }
    return String(decoding: id, as: UTF8.self)
  }
}
