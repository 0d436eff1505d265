import TernCore
import TernTestKit
import Testing

@testable import TernAssembly

@Suite("variables and files of a configuration") struct VariableTests {
  @Test(
    "words of a variable join in camel case",
    arguments: [
      ("TERN_STORAGE_KIND", "storage", "kind"), ("TERN_CACHE_LIMIT_BYTES", "cache", "limitBytes"),
      ("TERN_LIMITS_MEMORY_BYTES_PER_ADDRESS", "limits", "memoryBytesPerAddress"),
      ("TERN_storage_Kind", "storage", "kind"), ("TERN_STORAGE__KIND", "storage", "kind"),
      ("TERN_AUTH_KEYS_", "auth", "keys"), ("TERN_LOG_A1_B2", "log", "a1B2"),
      ("TERN__STORAGE_KIND", "storage", "kind"),
    ])
  func names(variable: String, section: String, key: String) throws {
    let found = try #require(Configuration.setting(ofVariable: variable))
    #expect(found == (section, key))
  }

  @Test(
    "what names no section and key is none",
    arguments: [
      "TERN", "TERN_", "TERN_STORAGE", "TERN_STORAGE_", "TERN__", "TERN_KIND", "tern_STORAGE_KIND",
      "STORAGE_KIND", "", "TERN_STORAGES_KIND", " TERN_STORAGE_KIND",
    ])
  func noNames(variable: String) { #expect(Configuration.setting(ofVariable: variable) == nil) }

  @Test("every key has a variable", arguments: Configuration.sectionNames)
  func everyKey(section: String) throws {
    for key in ["kind", "limitBytes", "requestsPerAddress", "logAge"] {
      let words = key.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
      let variable = "TERN_\(section.uppercased())_\(words)"
      let found = try #require(Configuration.setting(ofVariable: variable))
      #expect(found == (section, key))
      var configuration = Configuration()
      #expect(configuration.apply(environment: [variable: "x"]) == [])
      var expected = Configuration()
      try expected.set(.text("x"), for: key, in: section, origin: "test")
      #expect(configuration == expected && configuration != Configuration())
    }
  }

  /// Any value that a file can hold.
  private func value(using random: inout SeededGenerator, depth: Int = 0) -> JSONValue {
    switch random.roll(depth < 3 ? 7 : 5) {
    case 0: .null
    case 1: .bool(random.roll(2) == 0)
    case 2: .integer(Int64(bitPattern: random.next()))
    case 3: .double(Double(random.roll(1_000)) / 8 + 0.0625)
    case 4: .string(["", "a", "\"\\\n", "é😀", "// no comment", "true"][random.roll(6)])
    case 5: .array((0..<random.roll(4)).map { _ in value(using: &random, depth: depth + 1) })
    default:
      .object(
        ["a", "b", "ç", ""].filter { _ in random.roll(2) == 0 }.map {
          .init($0, value(using: &random, depth: depth + 1))
        })
    }
  }

  private func configured(_ json: JSONValue) -> ConfigurationValue {
    switch json {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .array(let elements): .array(elements.map(configured))
    case .object(let members):
      .object(
        Dictionary(members.map { ($0.name, configured($0.value)) }, uniquingKeysWith: { $1 }))
    }
  }

  @Test("a file is read as it is written", arguments: UInt64(1)...40)
  func files(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for section in Configuration.sectionNames {
      let content = value(using: &random)
      let file = JSONValue.object([.init(section, .object([.init("x", content)]))])
      var expected = Configuration()
      try expected.set(configured(content), for: "x", in: section, origin: "test")
      #expect(try Configuration(json: file.json) == expected, "\(file.json)")
      // A mark, comments and commas change nothing.
      let edited = "\u{FEFF}// first\n" + file.json.dropLast(2) + ",}/* last */,}"
      #expect(try Configuration(json: edited) == expected)
    }
  }

  @Test("a section is an object", arguments: ["1", "null", "[]", "\"kind\"", "true"])
  func sections(text: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration(json: #"{"storage": \#(text)}"#)
    }
    guard case .wrongType("storage", "configuration", "an object", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("a section that is set key by key is what a file says at once")
  func keyByKey() throws {
    var configuration = Configuration()
    for section in Configuration.sectionNames {
      try configuration.set(1, for: "a", in: section, origin: "test")
      try configuration.set("b", for: "b", in: section, origin: "test")
      try configuration.set(2, for: "a", in: section, origin: "test")
    }
    let members = #"{"a": 2, "b": "b"}"#
    let text = Configuration.sectionNames.map { #""\#($0)": \#(members)"# }.joined(separator: ",")
    #expect(try Configuration(json: "{\(text)}") == configuration)
    #expect(throws: ConfigurationError.self) {
      try configuration.set(1, for: "a", in: "Storage", origin: "test")
    }
  }
}
