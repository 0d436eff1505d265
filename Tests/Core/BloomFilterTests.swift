import Testing

@testable import TernCore

@Suite("Filters of document names")
struct BloomFilterTests {
  struct Size: Sendable, CustomStringConvertible {
    let count: Int
    let errorRate: Double
    let bits: Int
    let bytes: Int
    let padding: Int
    let hashes: Int
    var description: String { "\(count) at \(errorRate)" }
  }

  @Test(
    "has the size servers choose",
    arguments: [
      Size(count: 1, errorRate: 0.01, bits: 11, bytes: 2, padding: 5, hashes: 8),
      Size(count: 1, errorRate: 1e-4, bits: 23, bytes: 3, padding: 1, hashes: 16),
      Size(count: 500, errorRate: 0.01, bits: 4_793, bytes: 600, padding: 7, hashes: 7),
      Size(count: 500, errorRate: 1e-4, bits: 9_587, bytes: 1_199, padding: 5, hashes: 13),
      Size(count: 5_000, errorRate: 0.01, bits: 47_933, bytes: 5_992, padding: 3, hashes: 7),
      Size(count: 5_000, errorRate: 1e-4, bits: 95_857, bytes: 11_983, padding: 7, hashes: 13),
      Size(count: 50_000, errorRate: 0.01, bits: 479_263, bytes: 59_908, padding: 1, hashes: 7),
      Size(count: 50_000, errorRate: 1e-4, bits: 958_519, bytes: 119_815, padding: 1, hashes: 13),
      Size(count: 500, errorRate: 1, bits: 0, bytes: 0, padding: 0, hashes: 0),
      Size(count: 0, errorRate: 0.01, bits: 0, bytes: 0, padding: 0, hashes: 0),
    ])
  func size(_ size: Size) {
    let found = BloomFilter.size(count: size.count, errorRate: size.errorRate)
    #expect(found.bitCount == size.bits)
    #expect(found.hashCount == size.hashes)
    #expect((found.bitCount + 7) / 8 == size.bytes)
    #expect((found.bitCount + 7) / 8 * 8 - found.bitCount == size.padding)
  }

  private func name(_ number: Int) -> String {
    "projects/p/databases/(default)/documents/coll/doc\(number)"
  }

  @Test("holds what was put in, and little else", arguments: [0.01, 1e-4])
  func holds(errorRate: Double) {
    let filter = BloomFilter(of: (0..<500).map(name), errorRate: errorRate)
    #expect((0..<500).allSatisfy { filter.mightContain(name($0)) })
    let mistakes = (500..<5_500).count { filter.mightContain(name($0)) }
    #expect(Double(mistakes) / 5_000 <= errorRate * 3)
    #expect(
      BloomFilter(
        bitmap: filter.bitmap, padding: filter.padding, hashCount: filter.hashCount) == filter)
  }

  @Test("reads the filters of recorded conversations")
  func recorded() throws {
    let collection = "projects/test-project/databases/(default)/documents/collection/"
    let one = try #require(
      BloomFilter(
        bitmap: [0x02, 0x10, 0x00, 0x02, 0x90, 0x00, 0x00, 0x80, 0x04, 0x04, 0x80, 0x00, 0x04],
        padding: 4, hashCount: 10))
    #expect(one.mightContain(collection + "a"))
    #expect(!one.mightContain(collection + "b"))
    let special = try #require(
      BloomFilter(
        bitmap: [0x20, 0x80, 0x00, 0x20, 0x80, 0x08, 0x20, 0x00, 0x08, 0x20, 0x02, 0x08, 0x00],
        padding: 4, hashCount: 10))
    #expect(special.mightContain(collection + "ÀÒ∑"))
    #expect(!special.mightContain(collection + "AO"))
  }

  @Test("holds nothing when it is empty")
  func empty() throws {
    let filter = try #require(BloomFilter(bitmap: [], padding: 0, hashCount: 0))
    #expect(filter.isEmpty)
    #expect(!filter.mightContain(""))
    #expect(!filter.mightContain(name(1)))
    #expect(BloomFilter(of: [], errorRate: 0.01) == filter)
  }

  @Test("refuses parts that make no filter")
  func refusals() {
    #expect(BloomFilter(bitmap: [1], padding: 8, hashCount: 1) == nil)
    #expect(BloomFilter(bitmap: [1], padding: -1, hashCount: 1) == nil)
    #expect(BloomFilter(bitmap: [1], padding: 0, hashCount: 0) == nil)
    #expect(BloomFilter(bitmap: [1], padding: 0, hashCount: -1) == nil)
    #expect(BloomFilter(bitmap: [], padding: 1, hashCount: 1) == nil)
    #expect(BloomFilter(bitmap: [1], padding: 0, hashCount: .max) == nil)
    #expect(BloomFilter(bitmap: [], padding: 0, hashCount: 1)?.isEmpty == true)
  }

  @Test(
    "digests as RFC 1321, appendix A.5 does",
    arguments: [
      ("", "d41d8cd98f00b204e9800998ecf8427e"),
      ("a", "0cc175b9c0f1b6a831c399e269772661"),
      ("abc", "900150983cd24fb0d6963f7d28e17f72"),
      ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
      ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
      (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "d174ab98d277d9f5a5611c2c9f419d9f"
      ),
      (
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "57edf4a22be3c955ac49da2e2107b67a"
      ),
    ])
  func digest(text: String, expected: String) {
    let digest = MD5.digest(text)
    var hex = ""
    for number in [digest.first, digest.second] {
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        let byte = String(UInt8(truncatingIfNeeded: number >> shift), radix: 16)
        hex += byte.utf8.count == 1 ? "0" + byte : byte
      }
    }
    #expect(hex == expected)
  }
}
