import TernTestKit
import Testing

@testable import TernCore

@Suite("bytes in order")
struct OrderedBytesTests {
  private func bytes(_ values: DocumentValue..., isDescending: Bool = false) -> [UInt8] {
    var out: [UInt8] = []
    for value in values { OrderedBytes.append(value, isDescending: isDescending, to: &out) }
    return out
  }

  private func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.span.compareBytes(right.span).signum()
  }

  @Test("the examples of the format document")
  func examples() {
    #expect(bytes(1) == [0x30, 0xBF, 0xF0, 0, 0, 0, 0, 0, 0])
    #expect(bytes(.double(1)) == bytes(1))
    #expect(bytes(.double(-0.0)) == bytes(0))
    #expect(
      bytes(.integer(1 << 53 + 1)) == [0x30, 0xC3, 0x40, 0, 0, 0, 0, 0, 0, 0, 1])
    #expect(bytes("a") == [0x60, 0x61, 0, 1])
    #expect(bytes("a\0") == [0x60, 0x61, 0, 0xFF, 0, 1])
    #expect(bytes(true, isDescending: true) == [0xDE])
  }

  @Test("integers and doubles interleave exactly where doubles leave out integers")
  func numbers() {
    var numbers: [DocumentValue] = [.double(.nan), .double(-.infinity), .double(.infinity)]
    for exponent in [0, 1, 52, 53, 54, 60, 62] {
      for distance in Int64(-3)...3 {
        let integer = Int64(1) << exponent + distance
        for sign in [Int64(1), -1] {
          numbers += [.integer(sign * integer), .double(Double(sign * integer))]
        }
      }
    }
    for double in [0x1p63, 0x1.fffffffffffffp62, 0.1, 0.5, 1e300, .leastNonzeroMagnitude] {
      numbers += [.double(double), .double(-double)]
    }
    numbers += [.integer(.max), .integer(.max - 1), .integer(.min), .integer(.min + 1)]
    for left in numbers {
      for right in numbers {
        #expect(order(bytes(left), bytes(right)) == left.compare(right).signum())
      }
    }
  }

  @Test(
    "random values sort by their bytes, upwards and downwards",
    arguments: 1...20 as ClosedRange<UInt64>)
  func randomValues(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let values = (0..<60).map { _ in randomDocumentValue(depth: 3, using: &random) }
    for left in values {
      for right in values {
        let expected = left.compare(right).signum()
        let (a, b) = (bytes(left), bytes(right))
        #expect(order(a, b) == expected, "seed \(seed): \(left), \(right)")
        let (c, d) = (bytes(left, isDescending: true), bytes(right, isDescending: true))
        #expect(order(c, d) == -expected, "seed \(seed): \(left), \(right) downwards")
        if expected != 0 { #expect(!b.starts(with: a), "seed \(seed): \(left), \(right)") }
      }
    }
  }

  @Test("lists of values sort like their bytes in a row", arguments: 1...20 as ClosedRange<UInt64>)
  func lists(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let directions = (0..<3).map { _ in Bool.random(using: &random) }
    let lists = (0..<40).map { _ in
      (0..<3).map { _ in randomDocumentValue(depth: 1, using: &random) }
    }
    func encode(_ list: [DocumentValue]) -> [UInt8] {
      var out: [UInt8] = []
      for (value, isDescending) in zip(list, directions) {
        OrderedBytes.append(value, isDescending: isDescending, to: &out)
      }
      return out
    }
    for left in lists {
      for right in lists {
        var expected = 0
        for (index, isDescending) in directions.enumerated() where expected == 0 {
          expected = left[index].compare(right[index]).signum() * (isDescending ? -1 : 1)
        }
        #expect(order(encode(left), encode(right)) == expected, "seed \(seed)")
      }
    }
  }

  @Test("keys sort by their bytes")
  func keys() {
    let keys: [DocumentKey] = [
      "a/__id-3__", "a/__id07__", "a/__id7__", "a/__id7__/b/c", "a/__id10__", "a/__id__", "a/_",
      "a/b", "a/b\0", "a/b/c/d", "a/bb", "a-/b", "ab/c", "a/\u{FFFF}", "a/\u{10000}",
      "__id5__/x", "a/__id9223372036854775807__",
    ]
    for left in keys {
      for right in keys {
        var (a, b): ([UInt8], [UInt8]) = ([], [])
        OrderedBytes.append(left, to: &a)
        OrderedBytes.append(right, to: &b)
        #expect(order(a, b) == left.compare(right).signum(), "\(left), \(right)")
      }
    }
  }
}
