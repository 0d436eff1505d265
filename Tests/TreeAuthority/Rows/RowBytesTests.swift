import TernCore
import TernStorage
import TernTestKit
import Testing

@testable import TernTreeAuthority
@testable import TernTreeRows

@Suite("bytes of rows") struct RowBytesTests {
  private func decoded(_ bytes: [UInt8]) -> TreeScalar? { RowValue.decode(bytes.span) }

  @Test("integers take the fewest bytes, and come back")
  func integers() {
    for bits in 0..<64 {
      for offset in [-1, 0, 1] as [Int64] {
        for sign in [1, -1] as [Int64] {
          let power = bits == 63 ? Int64.max : Int64(1) << Int64(bits)
          let number = (sign * power).addingReportingOverflow(offset).partialValue
          let bytes = RowValue.encode(.integer(number))
          #expect(decoded(bytes) == .integer(number))
          // One byte less does not hold it.
          let count = bytes.count - 1
          if count > 1 {
            let most = Int64(1) << Int64(8 * (count - 1) - 1)
            #expect(number >= most || number < -most, "\(number) in \(count) bytes")
          }
        }
      }
    }
    #expect(RowValue.encode(0) == [3, 0] && RowValue.encode(-1) == [3, 0xFF])
    #expect(RowValue.encode(.integer(.min)) == [3, 0x80, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test(
    "other values come back with every bit",
    arguments: [
      .bool(true), .bool(false), .double(0), .double(-0.0), .double(.leastNonzeroMagnitude),
      .double(.greatestFiniteMagnitude), .double(1), "", "\u{0}", "é😀", .string("e\u{301}"),
    ] as [TreeScalar])
  func values(scalar: TreeScalar) throws {
    let found = try #require(decoded(RowValue.encode(scalar)))
    switch (scalar, found) {
    case (.double(let a), .double(let b)): #expect(a.bitPattern == b.bitPattern)
    case (.string(let a), .string(let b)): #expect(a.utf8.elementsEqual(b.utf8))
    default: #expect(scalar == found)
    }
  }

  @Test(
    "bytes that are no value are none",
    arguments: [
      [], [0], [1, 0], [2, 1], [3], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0], [4], [4, 0, 0, 0, 0, 0, 0, 0],
      [4, 0, 0, 0, 0, 0, 0, 0, 0, 0], [6], [0xFF],
    ] as [[UInt8]])
  func noValues(bytes: [UInt8]) { #expect(decoded(bytes) == nil) }

  // MARK: - Keys

  private static let names = [
    "-2147483649", "-2147483648", "-2147483647", "-10", "-9", "-1", "-0", "-00", "-01", "0", "00",
    "000", "1", "01", "001", "9", "09", "10", "2147483647", "02147483647", "2147483648",
    "9999999999", "12345678901", "-", "--1", "1a", "+1", " 1", "a", "aa", "ab", "b", "a b", "é",
    "e\u{301}", "\u{FFFF}", "\u{E000}", "\u{10000}", "\u{10FFFF}", "\u{D7FF}", "z\u{E000}z",
    "z\u{10000}z", "~", "!", "abcdefg", "abcdefgh", "abcdefg\u{10000}", "abcdefg\u{E000}",
  ]

  private func bytes(_ keys: [TreeKey]) -> [UInt8] {
    var bytes: [UInt8] = []
    RowKey.append(TreePath(keys), to: &bytes)
    return bytes
  }

  @Test("bytes sort as paths do", arguments: UInt64(1)...20)
  func order(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func key() -> TreeKey { TreeKey(unchecked: Self.names[random.roll(Self.names.count)]) }
    for _ in 0..<500 {
      let shared = (0..<random.roll(2)).map { _ in key() }
      let left = shared + (0..<random.roll(3)).map { _ in key() }
      let right = shared + (0..<random.roll(3)).map { _ in key() }
      let expected = TreePath(left) < TreePath(right)
      #expect(
        bytes(left).lexicographicallyPrecedes(bytes(right)) == expected, "\(left) and \(right)")
    }
  }

  @Test("segments come back from their bytes", arguments: names)
  func segments(name: String) {
    let key = TreeKey(unchecked: name)
    let bytes = bytes([key, "x", .priority])
    var offset = 0
    #expect(RowKey.segment(of: bytes.span, at: &offset) == key)
    #expect(RowKey.segment(of: bytes.span, at: &offset) == "x")
    #expect(RowKey.segment(of: bytes.span, at: &offset)?.isPriority == true)
    #expect(offset == bytes.count)
    #expect(RowKey.segment(of: bytes.span, at: &offset) == nil)
  }

  @Test("a segment that is cut is none", arguments: names)
  func cut(name: String) {
    let whole = bytes([TreeKey(unchecked: name)])
    for length in 0..<whole.count {
      var offset = 0
      let part = Array(whole.prefix(length))
      let found = RowKey.segment(of: part.span, at: &offset)
      #expect(found == nil, "\(length) of \(whole.count) bytes")
    }
  }

  @Test(
    "any bytes are segments or none, and an offset never leaves them", arguments: UInt64(1)...40)
  func anyBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let bytes = (0..<random.roll(24)).map { _ in
        [0x00, 0x01, 0x08, 0x10, 0x61, 0xFF, UInt8(random.roll(256))][random.roll(7)]
      }
      var offset = 0
      while offset < bytes.count {
        let before = offset
        guard RowKey.segment(of: bytes.span, at: &offset) != nil else { break }
        #expect(offset > before && offset <= bytes.count)
      }
    }
  }

  // MARK: - Records

  @Test("records come back, and none that is cut or longer does", arguments: UInt64(1)...20)
  func records(seed: UInt64) throws {
    var random = RandomTree(seed: seed)
    let entries = (0..<random.random.roll(4)).map { _ in random.set() }
    let rows = TreeRows(prefix: [1, 2, 3])
    let bytes = TreeRecord(of: entries, in: rows).encode()
    let record = try #require(TreeRecord(bytes))
    #expect(record.prefix == rows.prefix && record.assignments == entries)
    #expect(record.encode() == bytes)
    for length in 0..<bytes.count { #expect(TreeRecord(Array(bytes.prefix(length))) == nil) }
    #expect(TreeRecord(bytes + [0]) == nil)
  }

  @Test("a record with a wrong byte is another record or none", arguments: UInt64(1)...10)
  func damagedRecords(seed: UInt64) {
    var random = RandomTree(seed: seed)
    let bytes = TreeRecord(of: [random.set(), random.set()], in: TreeRows(prefix: [7])).encode()
    for position in bytes.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] where bytes[position] != value {
        var damaged = bytes
        damaged[position] = value
        // Reading it ends, and what was read can be written.
        if let record = TreeRecord(damaged) {
          #expect(!record.encode().isEmpty, "byte \(position)")
        }
      }
    }
  }
}
