import TernTestKit
import Testing

@testable import TernCore

@Suite("JSON against what it says")
struct JSONModelTests {
  private func randomValue(depth: Int, using random: inout SeededGenerator) -> JSONValue {
    let doubles = [0.5, -0.25, 1e300, 5e-324, -1.7976931348623157e308, 0.1, 123_456.789]
    switch random.roll(depth > 0 ? 8 : 6) {
    case 0: return .null
    case 1: return .bool(random.roll(2) == 0)
    case 2: return .integer(Int64(bitPattern: random.next()) >> Int64(random.roll(64)))
    case 3: return .double(doubles[random.roll(doubles.count)])
    case 4, 5: return .string(borderText(12, using: &random))
    case 6:
      return .array((0..<random.roll(4)).map { _ in randomValue(depth: depth - 1, using: &random) })
    default:
      return .object(
        (0..<random.roll(4)).map { _ in
          .init(borderText(3, using: &random), randomValue(depth: depth - 1, using: &random))
        })
    }
  }

  @Test("values read back, with white space anywhere", arguments: UInt64(1)...80)
  func roundTrips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let value = randomValue(depth: 3, using: &random)
      #expect(try JSONValue(parsing: value.json) == value)
      let spaced = spread(value, using: &random)
      #expect(try JSONValue(parsing: spaced) == value, "\(spaced)")
      let remarked = Array("/*\"*/\(spaced)// [".utf8)
      #expect(try JSONValue(parsing: remarked, JSONOptions(allowsComments: true)) == value)
    }
  }

  /// The text of a value with white space where it may stand.
  private func spread(_ value: JSONValue, using random: inout SeededGenerator) -> String {
    let space = [" ", "", "\n", "\t\r ", ""][random.roll(5)]
    switch value {
    case .array(let elements):
      let parts = elements.map { spread($0, using: &random) }
      return space + "[" + space + parts.joined(separator: ",") + space + "]" + space
    case .object(let members):
      let parts = members.map { member in
        JSONValue.string(member.name).json + space + ":" + spread(member.value, using: &random)
      }
      return space + "{" + space + parts.joined(separator: space + "," + space) + "}" + space
    default: return space + value.json + space
    }
  }

  @Test("a text that is cut short is none, wherever it is cut", arguments: UInt64(1)...30)
  func cuts(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let elements = (0..<3).map { _ in randomValue(depth: 2, using: &random) }
    let bytes = JSONValue.array(elements).bytes
    for count in 0..<bytes.count {
      let error = #expect(throws: JSONError.self) {
        try JSONValue(parsing: Array(bytes[..<count]))
      }
      #expect((0...count).contains(error?.offset ?? -1), "cut after \(count)")
      var reader = JSONReader(Array(bytes[..<count]))
      #expect(throws: JSONError.self) { try reader.skip() }
    }
  }

  @Test(
    "bytes that are changed give a value or an error within the text", arguments: UInt64(1)...30)
  func damage(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = JSONValue.array((0..<3).map { _ in randomValue(depth: 2, using: &random) }).bytes
    for _ in 0..<200 {
      var damaged = bytes
      for _ in 0...random.roll(2) {
        damaged[random.roll(damaged.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      for options in [JSONOptions.standard, .unambiguous, .edited] {
        do throws(JSONError) {
          let value = try JSONValue(parsing: damaged, options)
          #expect(throws: Never.self) { _ = try JSONValue(parsing: value.bytes) }
        } catch {
          #expect((0...damaged.count).contains(error.offset), "\(error)")
        }
      }
    }
  }

  @Test("what is skipped is the text of what is read", arguments: UInt64(1)...40)
  func skipping(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let elements = (0..<random.roll(6)).map { _ in randomValue(depth: 2, using: &random) }
      let bytes = Array(spread(.array(elements), using: &random).utf8)
      var (reading, skipping) = (JSONReader(bytes), JSONReader(bytes))
      try reading.beginArray()
      try skipping.beginArray()
      for element in elements {
        #expect(try reading.nextElement() && skipping.nextElement())
        #expect(try reading.value() == element)
        let text = skipping.text(in: try skipping.skip())
        #expect(try JSONValue(parsing: text) == element)
        #expect(reading.offset == skipping.offset)
      }
      #expect(try !reading.nextElement() && !skipping.nextElement())
      try reading.finish()
      try skipping.finish()
    }
  }

  /// Decimal texts: short and long, with zeros at either end and exponents of any size.
  private func decimal(using random: inout SeededGenerator) -> String {
    func digits(_ most: Int) -> String {
      String(
        String.UnicodeScalarView(
          (0...random.roll(most)).map { _ in
            Unicode.Scalar(UInt8(ascii: "0") + UInt8(random.roll(10)))
          }))
    }
    var text = random.roll(2) == 0 ? "-" : ""
    text += random.roll(4) == 0 ? "0" : "\(1 + random.roll(9))" + String(digits(20).dropLast())
    if random.roll(3) > 0 { text += "." + digits(25) }
    if random.roll(2) == 0 {
      text += ["e", "E", "e+", "e-", "E-0"][random.roll(5)] + "\(random.roll(330))"
    }
    return text
  }

  @Test("numbers are the nearest doubles, or the very integers", arguments: UInt64(1)...40)
  func numbers(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let text = decimal(using: &random)
      let double = try #require(Double(text), "\(text)")
      let read = try? JSONValue(parsing: text)
      if let integer = Int64(text), text != "-0" {
        #expect(read == .integer(integer), "\(text)")
      } else if double.isFinite {
        guard case .double(let value) = read else {
          Issue.record("\(text) is read as \(String(describing: read))")
          continue
        }
        #expect(value.bitPattern == double.bitPattern, "\(text)")
      } else {
        #expect(read == nil, "\(text) is beyond every double")
      }
    }
  }

  @Test(
    "an exponent makes up for any number of zeros", arguments: [99_999, 100_000, 100_001, 150_000])
  func longNumbers(zeros: Int) throws {
    let small = "0." + String(repeating: "0", count: zeros) + "1e\(zeros + 1)"
    #expect(try JSONValue(parsing: small) == .double(1))
    let large = "1" + String(repeating: "0", count: zeros) + "e-\(zeros)"
    #expect(try JSONValue(parsing: large) == .double(1))
    #expect(try JSONValue(parsing: "0e\(zeros)") == .double(0))
    #expect(throws: JSONError(.invalidNumber, at: 0)) { try JSONValue(parsing: "1e\(zeros)") }
  }

  @Test(
    "numbers that are none",
    arguments: [
      "-", "+1", "01", "-01", "00", ".5", "1.", "1.e1", "1e", "1e+", "0x1", "1_0", "--1", "1e1.5",
      "Infinity", "NaN", "1e309", "-1e400", "١",
    ])
  func malformedNumbers(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: "[\(text)]") }
  }

  @Test("nesting is allowed up to the limit", arguments: [127, 128, 129])
  func nesting(levels: Int) {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      let text =
        String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)
      var reader = JSONReader(Array(text.utf8))
      if levels <= 128 {
        #expect(throws: Never.self) { _ = try JSONValue(parsing: text) }
        #expect(throws: Never.self) { try reader.skip() }
      } else {
        let offset = open.utf8.count * 128
        let error = JSONError(.tooDeep(limit: 128), at: offset)
        #expect(throws: error) { try JSONValue(parsing: text) }
        #expect(throws: error) { try reader.skip() }
      }
    }
  }

  @Test("duplicates are told by their bytes, in each object on its own")
  func duplicates() throws {
    func read(_ text: String) throws -> JSONValue {
      try JSONValue(parsing: Array(text.utf8), .unambiguous)
    }
    _ = try read(#"{"a":{"a":1,"b":[{"a":1},{"a":2}]},"b":1}"#)
    _ = try read("{\"\u{E9}\":1,\"e\u{301}\":2}")
    for text in [#"{"a":1,"a":1}"#, #"{"a":1,"b":{"c":1},"a":1}"#, #"{"a":1,"\u0061":2}"#] {
      let error = #expect(throws: JSONError.self) { try read(text) }
      #expect(error?.reason == .duplicateName)
    }
    let standard = try JSONValue(parsing: #"{"a":1,"a":2}"#)
    #expect(standard["a"] == .integer(2))
  }

  @Test("the weight of a text grows with its values and its bytes")
  func weight() {
    func weight(_ text: String) -> Int { JSONWeight.bytes(Array(text.utf8)) }
    #expect(weight("[1,2,3]") > weight("[1,2]"))
    #expect(weight(#"["a,b{c[d"]"#) == weight(#"["abbbccd"]"#))
    #expect(weight(#"["a\",\"b"]"#) == weight(#"["a\"x\"b"]"#))
    #expect(weight(#"{"a":[{}]}"#) > weight(#"{"a":"[{}]"}"#))
  }

  @Test(
    "a place counts lines and scalars, and ends with the text",
    arguments: [
      (0, 1, 1), (1, 1, 2), (3, 1, 3), (7, 1, 4), (8, 2, 1), (9, 3, 1), (10, 3, 2), (99, 3, 2),
    ])
  func positions(offset: Int, line: Int, column: Int) {
    // One byte, two bytes, four bytes, two ends of lines, one byte.
    let text = "a\u{E9}\u{1F600}\n\nb"
    let position = TextPosition(ofByte: offset, in: text.utf8)
    #expect((position.line, position.column) == (line, column))
    #expect("\(position)" == "line \(line), column \(column)")
  }
}
