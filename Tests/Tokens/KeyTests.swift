import TernCore
import Testing

@testable import TernTokens

@Suite("token keys") struct KeyTests {
  private func reading(_ text: String) async throws(TokenKeyError) -> TokenKeys {
    try await TokenKeys.reading(Array(text.utf8))
  }

  @Test("a file is a secret, blocks of PEM, or a key set")
  func kinds() async throws {
    #expect(try await TokenKeys.reading(TestKeys.secret + [0x0A]).keys.map(\.algorithm) == [.hs256])
    let blocks = try await reading(TestKeys.rsaPublic + "\n" + TestKeys.p256Public)
    #expect(blocks.keys.map(\.algorithm) == [.rs256, .es256])
    #expect(blocks.keys.allSatisfy { !$0.canSign })
    let pair = try await reading(TestKeys.p256Private + TestKeys.rsaPrivate)
    #expect(pair.keys.map(\.algorithm) == [.es256, .rs256])
    #expect(pair.keys.allSatisfy { $0.canSign })
    #expect(Set((blocks.keys + pair.keys).map(\.mark)).count == 4)
  }

  @Test("a secret with a line break at its end is the same secret")
  func lineBreak() async throws {
    let plain = try await TokenKeys.reading(TestKeys.secret)
    let broken = try await TokenKeys.reading(TestKeys.secret + [0x0D, 0x0A])
    #expect(plain.keys.map(\.mark) == broken.keys.map(\.mark))
  }

  @Test("of a key set those keys are taken that sign with a known algorithm")
  func keySet() async throws {
    let secret = Base64URL.encode(TestKeys.secret)
    let set = """
      {"keys": [
        {"kty": "oct", "k": "\(secret)", "kid": "a", "alg": "HS256"},
        {"kty": "oct", "k": "\(secret)", "kid": "b", "alg": "HS512"},
        {"kty": "oct", "k": "\(secret)", "kid": "c", "use": "enc"},
        {"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"},
        {"kty": "OKP", "crv": "Ed25519", "x": "AA"}
      ]}
      """
    let keys = try await reading(set)
    #expect(keys.keys.map(\.name) == ["a"])
    let single = try await reading(#"{"kty": "oct", "k": "\#(secret)"}"#)
    #expect(single.keys.map(\.algorithm) == [.hs256])
  }

  @Test("what is no key is refused, and says why")
  func refusals() async throws {
    let half = TestKeys.rsaPublic.split(separator: "\n").dropLast().joined(separator: "\n")
    let bad: [String] = [
      "", " \n", "short", "{", "{}", #"{"keys": 1}"#, #"{"keys": []}"#,
      #"{"keys": [{"kty": "oct"}]}"#, #"{"keys": [{"kty": "oct", "k": "AA"}]}"#,
      #"{"keys": [{"kty": "oct", "k": "%"}]}"#, #"{"keys": [{"kty": "RSA", "n": "AQAB"}]}"#,
      #"{"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}]}"#,
      #"{"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]}"#,
      #"{"keys": [], "keys": []}"#, half,
      "-----BEGIN PUBLIC KEY-----\nAA\n-----END PUBLIC KEY-----",
      "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----",
    ]
    for text in bad {
      await #expect(throws: TokenKeyError.self, "\(text)") { try await reading(text) }
    }
    let many = Array(repeating: #"{"kty": "oct"}"#, count: TokenKeys.most + 1)
    await #expect(throws: TokenKeyError.tooMany(limit: TokenKeys.most)) {
      try await reading(#"{"keys": [\#(many.joined(separator: ","))]}"#)
    }
  }

  @Test("a public key makes no tokens")
  func cannotSign() async throws {
    let keys = try await reading(TestKeys.rsaPublic)
    #expect(throws: TokenKeyError.cannotSign) { try TokenIssuer(keys) }
  }

  @Test("base64url is read in one way only")
  func base64() {
    for bytes in [[], [0], [255, 254], [1, 2, 3], Array(0...255)] as [[UInt8]] {
      #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
    }
    for text in ["A", "AB", "AA=", "AA==", "A A", "A+/A", "AAB", "AA\n", "ÄA"] {
      #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
    }
  }
}
