import TernTestKit
import Testing

@testable import TernCore

@Suite("Digests and base64")
struct ByteTests {
  @Test("base64 reads back what it wrote, padded or not", arguments: 0...67)
  func roundTrip(length: Int) {
    var random = SeededGenerator(seed: UInt64(length) + 1)
    let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let text = String(decoding: Base64.encode(bytes), as: UTF8.self)
    #expect(text.utf8.count == (length + 2) / 3 * 4)
    #expect(Base64.decode(text) == bytes)
    #expect(Base64.decode(String(text.prefix { $0 != "=" })) == bytes)
    let url = String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    #expect(Base64.decode(url) == bytes)
  }

  @Test(
    "vectors of RFC 4648",
    arguments: zip(
      ["", "f", "fo", "foo", "foob", "fooba", "foobar"],
      ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]))
  func vectors(plain: String, encoded: String) {
    #expect(Base64.encode(Array(plain.utf8)) == Array(encoded.utf8))
    #expect(Base64.decode(encoded) == Array(plain.utf8))
  }

  @Test(
    "texts that are no base64",
    arguments: [
      "A", "AAAAA", "Zg===", "=Zg", "Z=g=", "Zm9v Zm9v", "Zm9v\n", "Zg==Zg==", "Zé", "Zm.v",
    ])
  func malformed(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  /// Lengths on both sides of where padding needs a block of its own; made with hashlib.
  static let digests: [(Int, String, String)] = [
    (
      0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "d41d8cd98f00b204e9800998ecf8427e"
    ),
    (
      1, "084fed08b978af4d7d196a7446a86b58009e636b611db16211b65a9aadff29c5",
      "8666683506aacd900bbd5a74ac4edf68"
    ),
    (
      3, "6ab0dba1f4f1dfbb37b4f9eeb092c09fca4900ad32bdcd147d8dde35d6c87c35",
      "c9aee4810523ef8658121b8d492c6b41"
    ),
    (
      54, "160bbf14b458c877b7049e7cb5771dd653930f97d20bdd8ee795c16062906233",
      "eb5acae65a800805a13648f23dea0327"
    ),
    (
      55, "e7313d333c272e639f790978283f9eb392e843d0f29b7016828bb1daa4aac70b",
      "52c0e574e1198de5fe3f8f11440dcb1b"
    ),
    (
      56, "4324d65f3c103567f5589c710bc08f8523f929a9272e3af36fc968e52abc6c27",
      "46c9907fc908ee68b1e7b8e71286a518"
    ),
    (
      57, "35df609437dcfea3279283ab79fd554e2bf78f8f7ae2de532d8ee300b09e8f73",
      "1c805dd236c35cab25fcb1bc73802c51"
    ),
    (
      63, "81c80242132f230c3bd41b3e63bbcff16107339549214a99614ff26664625055",
      "a62f6d59e837867693f042f5b8f5a236"
    ),
    (
      64, "39e3d7b6b5d075d37d053ad89b24b41bef4f3c29760c84447cab3f3be1882241",
      "7160b8fb5e9e4023d549c3971fbaeead"
    ),
    (
      65, "aacca6ff74fdbb296d165a45cecfa04e5127bc008770fbbdd48006f2d2fae95e",
      "70bd662e7aefbda85a0f7244167b7897"
    ),
    (
      111, "67d9492e628fd376e0b2efec8ca2b99b123e202cf620deb270728df979b2f73e",
      "13f00cb15f0c3fe588d1c17cde14b38f"
    ),
    (
      112, "96b928cff8528dbb99602c709a65b846cb6467acb8b722f0d758e4dc27bfc508",
      "5fe6a9f76b541ec645559589da9a088a"
    ),
    (
      119, "9ce7368e4daf32341631b492e80359dc9f594b48453cd0dd5bf0b19279cc177e",
      "e84905d4214f4d1ca56c2cdcc152b143"
    ),
    (
      120, "7836b787757e95e58b3ca5aec90b1b004e8deba1e50e9675af9cabf1a13a04b5",
      "e3eb5a6c8669ea01a8c185b8abc8a5dc"
    ),
    (
      127, "a8d23e75d936f303d248888d9b165ee543f4cbafcad3c9dd2a79bd84faa11d07",
      "acce2474d6cc8302120d09c818d17ef7"
    ),
    (
      128, "d2742f1f4ac6bb7ca2b239ee18402ba8b3f9f8e652d2a72973c2b9ba11c08cf6",
      "10b2da1a82f16d99a81a7203fe9f02cb"
    ),
    (
      129, "307f8fc2c1622b92762e818d39a185d4d667ad49a4b07ceae1f4afa008a93ec4",
      "03fefbbcebe2959cf2270241aafe0250"
    ),
    (
      1000, "1e9bc38cbf860b9ec31918b065f9b52476c549a782e0e7990bed8ce3868d2371",
      "10046f077f2082ac19676b8079f1cb1a"
    ),
  ]

  @Test("SHA-256 and MD5 at the borders of blocks", arguments: Self.digests)
  func digest(length: Int, sha256: String, md5: String) {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
    #expect(Self.hex(SHA256Hash.digest(of: bytes)) == sha256)
    #expect(Self.hex(MD5.digest(of: bytes)) == md5)
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
