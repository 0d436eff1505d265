import Testing

@testable import tern

@Suite("secrets of clusters") struct ClusterSecretTests {
  /// Source: RFC 4231, test cases 2 and 6.
  @Test(
    "codes are HMAC-SHA256",
    arguments: [
      (
        Array("Jefe".utf8), "what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        [UInt8](repeating: 0xAA, count: 131),
        "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ])
  func codes(key: [UInt8], message: String, code: String) {
    let bytes = ClusterSecret(key).code(of: Array(message.utf8))
    let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(text == code)
  }
}
