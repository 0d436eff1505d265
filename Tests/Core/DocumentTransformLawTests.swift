import TernTestKit
import Testing

@testable import TernCore

@Suite("Laws of transforms")
struct DocumentTransformLawTests {
  private static let moment = DocumentMoment.commit(DocumentVersion(microseconds: 1_234_567))

  private func apply(_ transform: DocumentTransform, _ base: DocumentValue?) -> DocumentValue {
    transform.applied(to: base, replacing: nil, at: Self.moment)
  }

  private func values(_ count: Int, using random: inout SeededGenerator) -> [DocumentValue] {
    (0..<count).map { _ in randomDocumentValue(depth: 1, using: &random) }
  }

  @Test("a union holds what was there and what was added, once", arguments: UInt64(1)...40)
  func unions(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let base = values(random.roll(8), using: &random)
    // More than sixteen operands are looked up another way.
    let added = values(random.roll(2) == 0 ? random.roll(8) : 17 + random.roll(8), using: &random)
    let result = try #require(apply(.arrayUnion(added), .array(base)).array)
    #expect(Array(result.prefix(base.count)) == base, "what was there stays, in its order")
    for value in added { #expect(result.contains { $0.isEquivalent(to: value) }) }
    let new = result.dropFirst(base.count)
    for (index, value) in zip(new.indices, new) {
      #expect(!result[..<index].contains { $0.isEquivalent(to: value) })
      #expect(added.contains(value))
    }
    #expect(apply(.arrayUnion(added), .array(result)) == .array(result))
    let either = apply(.arrayRemove(added), .array(result))
    #expect(either == apply(.arrayRemove(added), .array(base)))
  }

  @Test("what was removed is gone, and nothing else", arguments: UInt64(1)...40)
  func removals(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let base = values(random.roll(12), using: &random)
    let unwanted = values(
      random.roll(2) == 0 ? random.roll(5) : 17 + random.roll(5), using: &random)
    let result = apply(.arrayRemove(unwanted), .array(base))
    #expect(
      result == .array(base.filter { value in !unwanted.contains { $0.isEquivalent(to: value) } }))
    #expect(apply(.arrayRemove(unwanted), result) == result)
  }

  @Test(
    "transforms of what is no array, or no number, begin anew",
    arguments: [
      nil, .null, "x", true, ["a": 1], .vector([1]), .bytes([1]),
    ] as [DocumentValue?])
  func otherBases(base: DocumentValue?) {
    #expect(apply(.arrayUnion([1, 2, 1.0]), base) == [1, 2])
    #expect(apply(.arrayRemove([1]), base) == [])
    #expect(apply(.increment(.double(0.5)), base) == 0.5)
    #expect(apply(.maximum(.integer(-3)), base) == -3)
    #expect(apply(.minimum(.integer(3)), base) == 3)
  }

  static let numbers: [DocumentNumber] = [
    .integer(0), .integer(1), .integer(-1), .integer(.max), .integer(.min), .integer(1 << 53 + 1),
    .double(0), .double(-0.0), .double(0.5), .double(0x1p53), .double(0x1p63), .double(-0x1p63),
    .double(.infinity), .double(-.infinity), .double(.nan),
  ]

  @Test(
    "extremes are one of the two, and the order of both does not matter", arguments: Self.numbers)
  func extremes(number: DocumentNumber) {
    for other in Self.numbers {
      let (most, least) = (
        apply(.maximum(number), other.value), apply(.minimum(number), other.value)
      )
      #expect(most.isEquivalent(to: apply(.maximum(other), number.value)))
      #expect(least.isEquivalent(to: apply(.minimum(other), number.value)))
      if number.isNaN || other.isNaN {
        #expect(most == .double(.nan) && least == .double(.nan))
        continue
      }
      for result in [most, least] { #expect(result == number.value || result == other.value) }
      #expect(least.compare(most) <= 0)
      if number.value.isEquivalent(to: other.value) {
        #expect(most == other.value && least == other.value, "the stored one stays")
      }
      #expect(apply(.maximum(number), most) == most)
    }
  }

  @Test(
    "increments of whole numbers stay in range and are undone within it", arguments: Self.numbers)
  func increments(number: DocumentNumber) throws {
    guard case .integer(let step) = number else { return }
    for base: Int64 in [0, 5, -5, .max, .min, .max - 1, .min + 1] {
      let sum = try #require(apply(.increment(number), .integer(base)).integer)
      let (exact, overflow) = base.addingReportingOverflow(step)
      #expect(sum == (overflow ? (step < 0 ? .min : .max) : exact))
      if !overflow, step != .min {
        #expect(apply(.increment(.integer(-step)), .integer(sum)) == .integer(base))
      }
    }
  }

  @Test("a server's time is cut to milliseconds, a device's is pending over what was there")
  func timestamps() {
    let version = DocumentVersion(microseconds: 1_999)
    let committed = DocumentTransform.serverTimestamp.applied(
      to: 1, replacing: 2, at: .commit(version))
    #expect(committed == .timestamp(DocumentTimestamp(uncheckedMicroseconds: 1_000)))
    let time = DocumentTimestamp(uncheckedMicroseconds: 7)
    let pending = DocumentTransform.serverTimestamp.applied(to: 1, replacing: 2, at: .device(time))
    #expect(pending.displayed(.none) == .null)
    #expect(pending.displayed(.estimate) == .timestamp(time))
    #expect(pending.displayed(.previous) == 2)
    #expect(DocumentValue.map(["t": pending]).displayed(.previous) == ["t": 2])
  }
}
