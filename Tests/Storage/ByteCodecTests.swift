import TernStorage
import TernTestKit
import Testing

@Suite("Numbers and byte strings in a row")
struct ByteCodecTests {
  static let numbers: [UInt64] =
    [0, 1, 127, 128, 255, 256, .max, .max - 1]
    + (1..<10).flatMap { groups -> [UInt64] in
      let border = UInt64(1) << UInt64(7 * groups)
      return [border - 1, border, border + 1]
    }

  @Test(
    "numbers in groups of seven bits read back, in as few bytes as they need", arguments: numbers)
  func variable(number: UInt64) {
    var writer = ByteWriter()
    writer.append(variable: number)
    let bits = max(1, 64 - number.leadingZeroBitCount)
    #expect(writer.bytes.count == (bits + 6) / 7)
    var reader = ByteReader(writer.bytes)
    #expect(reader.variable() == number && reader.isAtEnd)
    for count in 0..<writer.bytes.count {
      var cut = ByteReader(Array(writer.bytes[..<count]))
      #expect(cut.variable() == nil)
    }
  }

  @Test(
    "a number of more bits than there are is none",
    arguments: [
      [UInt8](repeating: 0xFF, count: 9) + [0x02], [UInt8](repeating: 0xFF, count: 9) + [0x7F],
      [UInt8](repeating: 0x80, count: 9) + [0x02], [UInt8](repeating: 0x80, count: 10) + [0x01],
      [UInt8](repeating: 0x80, count: 10) + [0x00],
    ])
  func overlong(bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    #expect(reader.variable() == nil)
  }

  @Test("numbers of fixed width have the most significant byte first")
  func fixed() {
    var writer = ByteWriter()
    writer.append(bigEndian: UInt8(0xAB))
    writer.append(bigEndian: UInt16(0x0102))
    writer.append(bigEndian: Int32(-2))
    writer.append(bigEndian: UInt64(0x0102_0304_0506_0708))
    writer.append(bigEndian: UInt128(1) << 120 | 7)
    writer.append(bigEndian: Int128(-1))
    #expect(writer.bytes.prefix(7) == [0xAB, 1, 2, 0xFF, 0xFF, 0xFF, 0xFE])
    #expect(writer.bytes.count == 1 + 2 + 4 + 8 + 16 + 16)
    var reader = ByteReader(writer.bytes)
    #expect(reader.bigEndian(UInt8.self) == 0xAB)
    #expect(reader.bigEndian(UInt16.self) == 0x0102)
    #expect(reader.bigEndian(Int32.self) == -2)
    #expect(reader.bigEndian(UInt64.self) == 0x0102_0304_0506_0708)
    #expect(reader.bigEndian(UInt128.self) == UInt128(1) << 120 | 7)
    #expect(reader.bigEndian(Int128.self) == -1)
    #expect(reader.isAtEnd && reader.byte() == nil)
    #expect(reader.bigEndian(UInt8.self) == nil && reader.bigEndian(UInt128.self) == nil)
  }

  @Test(
    "what was written in a row is read in a row, and nothing behind a cut",
    arguments: UInt64(1)...30)
  func rows(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var writer = ByteWriter()
    let parts = (0..<5).map { _ in (0..<random.roll(200)).map { _ in UInt8(random.roll(256)) } }
    let numbers = (0..<5).map { _ in random.next() >> UInt64(random.roll(64)) }
    for (part, number) in zip(parts, numbers) {
      writer.append(counted: part)
      writer.append(variable: number)
      writer.append(bigEndian: number)
    }
    var reader = ByteReader([9, 9] + writer.bytes, from: 2)
    for (part, number) in zip(parts, numbers) {
      #expect(reader.counted() == part)
      #expect(reader.variable() == number)
      #expect(reader.bigEndian() == number)
    }
    #expect(reader.isAtEnd)
    var cut = ByteReader(Array(writer.bytes.dropLast(1 + random.roll(writer.bytes.count))))
    var count = 0
    while cut.counted() != nil, cut.variable() != nil, let _: UInt64 = cut.bigEndian() {
      count += 1
    }
    #expect(count < 5)
  }

  @Test(
    "a count beyond the bytes is none",
    arguments: [
      [1], [2, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [UInt8](repeating: 0xFF, count: 9) + [1],
    ])
  func counts(bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    #expect(reader.counted() == nil)
  }

  @Test(
    "a checksum notices every changed bit of key and value",
    arguments: [0, 1, 3, 4, 7, 8, 15, 16, 17, 40])
  func checksums(count: Int) {
    let key = [UInt8](0..<7)
    let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
    let record = RecordChecksum.record(of: value, key: key)
    #expect(record.count == count + RecordChecksum.bytes)
    #expect(RecordChecksum.value(of: record, key: key) == value)
    for index in record.indices {
      for bit in 0..<8 {
        var damaged = record
        damaged[index] ^= 1 << UInt8(bit)
        #expect(RecordChecksum.value(of: damaged, key: key) == nil, "byte \(index), bit \(bit)")
      }
    }
    for other in [[], Array(key.dropLast()), key + [0], Array(key.reversed())] {
      #expect(RecordChecksum.value(of: record, key: other) == nil)
    }
    for count in 0..<record.count {
      #expect(RecordChecksum.value(of: Array(record[..<count]), key: key) == nil)
    }
    // A byte that moves from the value to the key is noticed too.
    if let first = value.first {
      #expect(
        RecordChecksum.record(of: Array(value.dropFirst()), key: key + [first]).prefix(4)
          != record.prefix(4))
    }
  }
}
