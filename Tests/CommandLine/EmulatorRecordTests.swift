import TernCore
import TernTestKit
import Testing

@testable import tern

/// Writes logs and messages as their formats have them.
private enum Wire {
  static let blockBytes = 32_768

  static func log(_ records: [[UInt8]]) -> [UInt8] {
    var file: [UInt8] = []
    for record in records {
      var rest = record[...]
      var isFirst = true
      repeat {
        let left = blockBytes - file.count % blockBytes
        if left < 7 { file += [UInt8](repeating: 0, count: left) }
        let part = rest.prefix(blockBytes - file.count % blockBytes - 7)
        rest = rest.dropFirst(part.count)
        file += piece(isFirst ? (rest.isEmpty ? 1 : 2) : (rest.isEmpty ? 4 : 3), Array(part))
        isFirst = false
      } while !rest.isEmpty
    }
    return file
  }

  static func piece(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    let sum = RecordLog.masked(RecordLog.checksum([type] + body))
    return (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(8 * $0)) }
      + [UInt8(body.count & 255), UInt8(body.count >> 8), type] + body
  }

  static func varint(_ number: UInt64) -> [UInt8] {
    number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + varint(number >> 7)
  }

  static func text(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
    varint(field << 3 | 2) + varint(UInt64(bytes.count)) + bytes
  }

  static func group(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
    varint(field << 3 | 3) + bytes + varint(field << 3 | 4)
  }
}

/// Reads a log that comes in parts of a size.
private func records(_ bytes: [UInt8], by size: Int = 5_000) throws -> [[UInt8]] {
  var rest = bytes[...]
  var log = RecordLog {
    let part = Array(rest.prefix(size))
    rest = rest.dropFirst(part.count)
    return part
  }
  var records: [[UInt8]] = []
  while let record = try log.next() { records.append(record) }
  return records
}

@Suite("logs of records") struct RecordLogTests {
  private func random(_ count: Int, seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8(random.roll(256)) }
  }

  @Test("records of any size come back, whatever the parts of the file")
  func roundTrip() throws {
    let room = Wire.blockBytes - 7
    let sizes = [0, 1, 100, room - 8, 0, 3, room - 1, room, room + 1, 2 * room, 70_000, 5]
    let written = sizes.enumerated().map { random($0.element, seed: UInt64($0.offset)) }
    let file = Wire.log(written)
    for size in [1_000, 32_767, 32_768, 32_769, 1 << 20] {
      #expect(try records(file, by: size) == written, "in parts of \(size)")
    }
    #expect(try records([]) == [])
  }

  @Test("an end anywhere is noticed, but between records")
  func cut() throws {
    let written = [random(20, seed: 1), random(40_000, seed: 2), random(10, seed: 3)]
    let file = Wire.log(written)
    let ends = [27, file.count - 17, file.count]
    var positions = Swift.Set(0...60)
    positions.formUnion([10_000, 32_767, 32_768, 32_769, 32_775, 32_776, file.count - 1])
    for length in positions.union(ends).sorted() {
      let found = Result { try records(Array(file.prefix(length))) }
      guard case .success(let whole) = found else {
        #expect(!ends.contains(length))
        continue
      }
      // Fewer bytes than a head at the end are padding.
      #expect(whole == Array(written.prefix(whole.count)))
      #expect(ends.contains { $0 <= length && length < $0 + 7 } || length < 7, "\(length)")
    }
  }

  @Test("a wrong bit anywhere is noticed")
  func flippedBits() throws {
    let written = [random(20, seed: 1), random(30, seed: 2)]
    let file = Wire.log(written)
    for position in file.indices {
      for bit in 0..<8 {
        var damaged = file
        damaged[position] ^= 1 << UInt8(bit)
        let failure = failure { try records(damaged) }
        #expect(failure?.code == .usage, "bit \(bit) of byte \(position)")
      }
    }
  }

  @Test(
    "pieces in a wrong order are no record",
    arguments: [
      [3], [4], [2], [2, 1], [2, 2], [3, 4], [1, 4], [2, 3], [2, 3, 1], [5], [0, 1],
    ])
  func order(types: [UInt8]) {
    let file = types.flatMap { Wire.piece($0, [1, 2, 3]) }
    #expect(failure { try records(file) }?.code == .usage)
  }
}

@Suite("messages of an export") struct EntityReaderTests {
  private func read(_ bytes: [UInt8]) throws -> [String] {
    var reader = EntityReader(bytes[...])
    var found: [String] = []
    while let (field, value) = try reader.next() {
      switch value {
      case .number(let number): found.append("\(field)=\(number)")
      case .bits(let bits): found.append("\(field):\(bits)")
      case .bytes(let bytes): found.append("\(field)\(Array(bytes))")
      case .group(let bytes):
        found.append("\(field)(\(try read(Array(bytes)).joined(separator: " ")))")
      }
    }
    return found
  }

  @Test(
    "fields of every type are read",
    arguments: [
      ([], []), ([0x08, 0x05], ["1=5"]), ([0x08, 0xAC, 0x02], ["1=300"]),
      ([0x0D, 1, 0, 0, 0], ["1:1"]),
      ([0x09, 0, 0, 0, 0, 0, 0, 0, 0x80], ["1:9223372036854775808"]),
      ([0x12, 2, 7, 8], ["2[7, 8]"]), ([0x12, 0], ["2[]"]),
      ([0x0B, 0x10, 5, 0x0C, 0x18, 1], ["1(2=5)", "3=1"]), ([0x0B, 0x0C], ["1()"]),
      ([0x0B, 0x13, 0x0A, 1, 9, 0x14, 0x0C], ["1(2(1[9]))"]),
      ([0x08] + [UInt8](repeating: 0xFF, count: 9) + [0x01], ["1=18446744073709551615"]),
    ] as [([UInt8], [String])])
  func fields(bytes: [UInt8], expected: [String]) throws { #expect(try read(bytes) == expected) }

  @Test(
    "what is no message is damaged",
    arguments: [
      [0x08], [0x08, 0x80], [0x08] + [UInt8](repeating: 0x80, count: 10), [0x0D, 1, 2, 3],
      [0x09, 1, 2, 3, 4, 5, 6, 7], [0x12, 3, 1, 2], [0x12], [0x0B], [0x0B, 0x10, 5],
      [0x0B, 0x14], [0x0C], [0x0E], [0x0F], [0x0B, 0x0F, 0x0C],
      [0x12] + [UInt8](repeating: 0xFF, count: 9) + [0x01],
    ] as [[UInt8]])
  func damaged(bytes: [UInt8]) { #expect(failure { try read(bytes) }?.code == .usage) }

  @Test("groups lie in one another to a limit", arguments: [99, 101, 102, 50_000])
  func depth(levels: Int) {
    var reader = EntityReader(
      ([UInt8](repeating: 0x0B, count: levels) + [UInt8](repeating: 0x0C, count: levels))[...])
    let failure = failure { _ = try reader.next() }
    #expect((failure == nil) == (levels <= 101), "\(levels)")
  }

  @Test("any bytes are a message or damaged", arguments: UInt64(1)...50)
  func anyBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let database = DocumentDatabase(unchecked: "demo")
    for _ in 0..<100 {
      let bytes = (0..<random.roll(60)).map { _ in
        UInt8(random.roll(random.roll(2) == 0 ? 256 : 32))
      }
      let failures = [
        failure { try read(bytes) }, failure { try ExportedDocument(bytes, for: database) },
      ]
      for failure in failures.compactMap(\.self) { #expect(failure.code == .usage) }
    }
  }

  @Test("maps lie in one another to a limit", arguments: [50, 51])
  func maps(levels: Int) throws {
    var value: [UInt8] = Wire.varint(1 << 3) + [1]
    var meaning: [UInt8] = []
    for _ in 0..<levels {
      let property = meaning + Wire.text(3, Array("m".utf8)) + Wire.text(5, value)
      value = Wire.text(3, Wire.text(14, property))
      meaning = [0x08, 19]
    }
    let key = Wire.text(
      14, Wire.group(1, Wire.text(2, Array("c".utf8)) + Wire.text(4, Array("d".utf8))))
    let property = meaning + Wire.text(3, Array("top".utf8)) + Wire.text(5, value)
    let record = Wire.text(13, key) + Wire.text(14, property)
    let failure = failure { try ExportedDocument(record, for: DocumentDatabase(unchecked: "demo")) }
    #expect((failure == nil) == (levels <= 50))
  }
}
