import TernCore
import Testing

@testable import TernAssembly

/// The integers of every size, as a part may read them.
private struct Integers: Decodable, Equatable {
  var int8: Int8?
  var int16: Int16?
  var int32: Int32?
  var int64: Int64?
  var uint8: UInt8?
  var uint16: UInt16?
  var uint32: UInt32?
  var uint64: UInt64?
  var uint: UInt?
  var float: Float?
}

private struct Nested: Decodable, Equatable {
  struct Rule: Decodable, Equatable {
    var name: String
    var weight: Double?
  }

  enum Mode: String, Decodable { case fast, safe }

  var mode: Mode?
  var rules: [Rule]?
  var byName: [String: Rule]?
  var grid: [[Int]]?
}

@Suite("what a part reads of its section") struct DecodingTests {
  private func read<Options: Decodable>(
    _ type: Options.Type, _ value: ConfigurationValue
  ) throws(ConfigurationError) -> Options {
    try SectionReader(section: "part", ownKeys: ["kind"]).read(type, from: value)
  }

  private static let bounds: [(key: String, least: String, most: String)] = [
    ("int8", "-128", "127"), ("int16", "-32768", "32767"),
    ("int32", "-2147483648", "2147483647"),
    ("int64", "-9223372036854775808", "9223372036854775807"), ("uint8", "0", "255"),
    ("uint16", "0", "65535"), ("uint32", "0", "4294967295"),
    ("uint64", "0", "18446744073709551615"),
    ("uint", "0", "18446744073709551615"),
  ]

  @Test("an integer fits its type or names the range", arguments: bounds.map(\.key))
  func integers(key: String) throws {
    let (_, least, most) = try #require(Self.bounds.first { $0.key == key })
    for text in [least, most] {
      _ = try read(Integers.self, [key: .text(text)])
      if let number = Int64(text) { _ = try read(Integers.self, [key: .integer(number)]) }
    }
    let error = ConfigurationError.wrongType(
      key: key, section: "part", expected: "an integer in \(least)...\(most)",
      found: "\"99999999999999999999\"")
    #expect(throws: error) { try read(Integers.self, [key: .text("99999999999999999999")]) }
    // The neighbors outside.
    for (text, step) in [(least, Int64(-1)), (most, 1)] {
      guard let number = Int64(text), case (let next, false) = number.addingReportingOverflow(step)
      else { continue }
      for value in [ConfigurationValue.integer(next), .text("\(next)")] {
        #expect(throws: ConfigurationError.self) { try read(Integers.self, [key: value]) }
      }
    }
  }

  @Test(
    "an integer is no other type",
    arguments: [.string("1"), .double(1), .bool(true), .array([]), .object([:])]
      as [ConfigurationValue])
  func noIntegers(value: ConfigurationValue) {
    #expect(
      throws: ConfigurationError.wrongType(
        key: "int8", section: "part", expected: "an integer", found: value.typeName)
    ) { try read(Integers.self, ["int8": value]) }
  }

  @Test("null is a key that is left out")
  func null() throws {
    #expect(try read(Integers.self, ["int8": .null]) == Integers())
    #expect(try read(Nested.self, ["rules": .null, "mode": .null]) == Nested())
    #expect(throws: ConfigurationError.missingKey("rules.0.name", section: "part")) {
      try read(Nested.self, ["rules": [["weight": 1]]])
    }
  }

  @Test(
    "numbers are finite, from any spelling",
    arguments: [
      (.text("1.5"), 1.5), (.text("-2"), -2), (.integer(3), 3), (.double(0.25), 0.25),
      (.text("nan"), nil), (.text("inf"), nil), (.text("1e999"), nil), (.text(""), nil),
      (.string("1"), nil), (.bool(false), nil),
    ] as [(ConfigurationValue, Float?)])
  func numbers(value: ConfigurationValue, expected: Float?) {
    #expect((try? read(Integers.self, ["float": value]))?.float == expected)
  }

  @Test("objects, lists and enumerations lie in one another")
  func nested() throws {
    let value: ConfigurationValue = [
      "mode": .text("safe"), "rules": [["name": "a", "weight": 2], ["name": .text("b")]],
      "byName": ["x": ["name": "c"]], "grid": [[1, 2], []], "kind": "nested",
    ]
    let expected = Nested(
      mode: .safe, rules: [.init(name: "a", weight: 2), .init(name: "b", weight: nil)],
      byName: ["x": .init(name: "c", weight: nil)], grid: [[1, 2], []])
    #expect(try read(Nested.self, value) == expected)
  }

  @Test(
    "a mistake names the whole way to it",
    arguments: [
      (
        ["rules": [["name": "a"], ["name": 1]]],
        .wrongType(key: "rules.1.name", section: "part", expected: "a string", found: "a number")
      ),
      (
        ["rules": ["a"]],
        .wrongType(key: "rules.0", section: "part", expected: "an object", found: "a string")
      ),
      (["rules": [["nam": "a"]]], .missingKey("rules.0.name", section: "part")),
      (
        ["rules": [["name": "a", "wait": 1]]],
        .unknownKey("wait", section: "part.rules.0", known: ["name", "weight"])
      ),
      (
        ["byName": ["x": ["name": "a", "y": 1]]],
        .unknownKey("y", section: "part.byName.x", known: ["name", "weight"])
      ),
      (
        ["grid": [[1], [2, "x"]]],
        .wrongType(key: "grid.1.1", section: "part", expected: "an integer", found: "a string")
      ),
      (
        ["colour": 1],
        .unknownKey(
          "colour", section: "part", known: ["kind", "mode", "rules", "byName", "grid"])
      ),
    ] as [(ConfigurationValue, ConfigurationError)])
  func mistakes(value: ConfigurationValue, error: ConfigurationError) {
    #expect(throws: error) { try read(Nested.self, value) }
  }

  @Test("an unknown case of an enumeration is refused with its key")
  func enumeration() {
    let error = #expect(throws: ConfigurationError.self) { try read(Nested.self, ["mode": "slow"]) }
    guard case .refused("part", let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.hasPrefix("\"mode\": ") && reason.contains("slow"))
  }

  @Test("keys that belong to others are not looked at")
  func someKeys() throws {
    let reader = SectionReader(section: "part", ownKeys: [])
    let value: ConfigurationValue = ["int8": 1, "colour": "x"]
    #expect(try reader.read(Integers.self, ofKeys: ["int8"], from: value).int8 == 1)
    #expect(throws: ConfigurationError.self) { try reader.read(Integers.self, from: value) }
  }

  @Test(
    "values that say the same have the same text",
    arguments: [
      (.integer(9_000), .text("9000")), (.bool(true), .string("true")), (.null, .text("null")),
      (["a": 1, "b": [2, "c"]], ["b": [.text("2"), .text("c")], "a": .text("1")]),
    ] as [(ConfigurationValue, ConfigurationValue)])
  func canonical(one: ConfigurationValue, other: ConfigurationValue) {
    #expect(one.canonicalText == other.canonicalText)
    #expect(one != other)
  }

  @Test(
    "every error is one sentence that names what to correct",
    arguments: [
      (
        .unreadable(file: "f", reason: "gone"), "cannot read the configuration file f: gone"
      ),
      (.malformed(file: "f", at: TextPosition(), reason: "r"), "f:1:1: r"),
      (
        .unknownSection("s", known: ["a", "b"], origin: "flag x"),
        "flag x: there is no section \"s\"; known sections: a, b"
      ),
      (
        .unknownKey("k", section: "s", known: []), "s: unknown key \"k\"; known keys: none"
      ),
      (
        .unknownKind("k", section: "s", known: ["a"]),
        "s: unknown kind \"k\"; this program was built with: a"
      ),
      (
        .missingKind(section: "s", known: ["a"]),
        "s: no kind is given; this program was built with: a"
      ),
      (.missingKey("k", section: "s"), "s: the key \"k\" is missing"),
      (
        .wrongType(key: "k", section: "s", expected: "a string", found: "null"),
        "s: \"k\" must be a string, not null"
      ),
      (.refused(section: "s", reason: "no"), "s: no"),
    ] as [(ConfigurationError, String)])
  func descriptions(error: ConfigurationError, text: String) {
    #expect(error.description == text)
  }
}
