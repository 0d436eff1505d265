import TernTestKit
import Testing

@testable import TernCore

@Suite("JSON in and out")
struct JSONTests {
  @Test(
    "value form turns lists into arrays",
    arguments: [
      (#"{"0":"a","1":"b"}"#, #"["a","b"]"#),
      (#"{"1":"a","2":"b"}"#, #"[null,"a","b"]"#),
      (#"{"2":"a"}"#, #"{"2":"a"}"#),
      (#"{"1":"a"}"#, #"[null,"a"]"#),
      (#"{"0":"a","01":"b"}"#, #"{"0":"a","01":"b"}"#),
      (#"{"0":"a","3":"b"}"#, #"["a",null,null,"b"]"#),
      (#"{"0":"a","4":"b"}"#, #"{"0":"a","4":"b"}"#),
      (#"[null,"x"]"#, #"[null,"x"]"#),
      (#"{"-1":1,"0":2}"#, #"{"-1":1,"0":2}"#),
      (#"{"-0":1,"1":2}"#, #"{"-0":1,"1":2}"#),
      (#"{"x":[1,{"0":true}],".priority":3}"#, #"{"x":[1,[true]]}"#),
      (#"{"a":{},"b":[],"c":null}"#, "null"),
      (#"{".value":null,".priority":1}"#, "null"),
      (#"{".value":7,".priority":1}"#, "7"),
    ])
  func arrays(input: String, output: String) throws {
    #expect(try TreeNode(json: input).json(.value) == output)
  }

  @Test(
    "export form reads back as it was",
    arguments: [
      #"{"0":"a","1":"b"}"#, #"{".value":7,".priority":"x"}"#, #"{"a":{"b":1,".priority":2.5}}"#,
      #"{".sv":"timestamp"}"#, #"{"n":{".sv":{"increment":-3}}}"#,
      #"{".value":{".sv":"timestamp"},".priority":{".sv":"timestamp"}}"#, "9223372036854775807",
      "-9223372036854775808", "-0.0", "0.1", "5e-324", "1.7976931348623157e+308", "true", #""é\n""#,
      "1e+16", "123456789012345680000",
    ])
  func export(json: String) throws {
    let node = try TreeNode(json: json)
    #expect(try TreeNode(json: node.json(.export)) == node)
    if !json.hasPrefix("1234") { #expect(node.json(.export) == json) }
  }

  @Test(
    "numbers keep their value",
    arguments: [
      ("1", TreeScalar.integer(1)), ("-7", .integer(-7)), ("0", .integer(0)),
      ("9223372036854775808", .double(0x1p63)), ("-9223372036854775809", .double(-0x1p63)),
      ("1.0", .double(1)), ("2.47", .double(2.47)), ("1e2", .double(100)),
      ("123456789.123456789", .double(123_456_789.123_456_789)),
      ("0.30000000000000004", .double(0.1 + 0.2)), ("1E-7", .double(1e-7)),
      ("8.41e21", .double(8.41e21)), ("2.2250738585072014e-308", .double(0x1p-1022)),
    ])
  func numbers(json: String, scalar: TreeScalar) throws {
    #expect(try TreeNode(json: json).scalar == scalar)
    let isInteger = if case .integer = try TreeNode(json: json).scalar { true } else { false }
    let expected = if case .integer = scalar { true } else { false }
    #expect(isInteger == expected)
  }

  @Test("whole doubles are written without a fraction")
  func wholeDoubles() {
    #expect(TreeNode(.double(1)).json(.export) == "1")
    #expect(TreeNode(.double(-250)).json(.export) == "-250")
    #expect(TreeNode(.double(0)).json(.export) == "0")
    #expect(TreeNode(.double(0x1p53)).json(.export) == "9007199254740992")
  }

  @Test("random doubles survive the way out and in")
  func doubles() throws {
    var random = SeededGenerator(seed: 42)
    for _ in 0..<20_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      let back = try TreeNode(json: TreeNode(.double(value)).json(.export)).scalar
      #expect(back?.number?.bitPattern == value.bitPattern, "seed 42: \(value)")
    }
  }

  @Test("characters are escaped wherever in a text they stand")
  func escapesAnywhere() throws {
    let special = (0..<0x20).map { UInt8($0) } + Array("\"\\".utf8) + [0x7F, UInt8(ascii: "!")]
    for character in special {
      for length in [1, 7, 8, 9, 16, 23] {
        for place in 0..<length {
          var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
          bytes[place] = character
          // What stands behind must not hide it, nor be taken for it.
          if place + 1 < length { bytes[place + 1] = 0xC3 }
          if place + 2 < length { bytes[place + 2] = 0xA9 }
          let text = String(decoding: bytes, as: UTF8.self)
          let written = TreeNode(.string(text)).json(.export)
          let isEscaped = character < 0x20 || character == 0x22 || character == 0x5C
          #expect(written.contains("\\") == isEscaped, "\(bytes)")
          #expect(try TreeNode(json: written).scalar == .string(text), "\(bytes)")
        }
      }
    }
  }

  @Test("escapes")
  func escapes() throws {
    let text = try TreeNode(json: #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800x""#).scalar
    #expect(text == .string("\"\\/\u{8}\u{C}\n\r\té😀\u{FFFD}x"))
    #expect(TreeNode(.string("a\"\\\n\u{1}")).json(.export) == #""a\"\\\n\u0001""#)
  }

  @Test("keys with half of a character are refused where users write, for two of them may be one")
  func loneSurrogates() throws {
    for text in [#"{"a\ud800":1}"#, #"{"\udfff":1}"#, #"{"x":{"\ud800\ud800":1}}"#] {
      #expect(throws: TreeError.self) { try TreeNode(json: text) }
    }
    #expect(try TreeNode(json: #"{"\ud83d\ude00":"\ud800"}"#) == ["😀": "\u{FFFD}"])
    #expect(try TreeNode(json: #"{"\ufffd":1}"#) == ["\u{FFFD}": 1])
  }

  @Test(
    "malformed text names the place",
    arguments: [
      ("", 0), ("{", 1), ("[1,]", 3), (#"{"a":1,}"#, 7), ("01", 0), ("1.", 0), ("-", 0), ("1e", 0),
      ("tru", 3), ("nulL", 3), (#""abc"#, 4), ("1 2", 2), ("1e999", 0), (#"{"a" 1}"#, 5),
      ("{1:2}", 1), (#""\x""#, 1), ("\"\n\"", 1), ("[1 2]", 3), ("]", 0),
    ])
  func malformed(json: String, offset: Int) {
    do throws(JSONError) {
      _ = try JSONValue(parsing: json)
      Issue.record("accepted \(json)")
    } catch {
      #expect(error.offset == offset, "\(json): \(error)")
    }
  }

  @Test(
    "malformed text is reported with what was expected",
    arguments: [
      ("{bad", "expected a member's name in double quotes, found b"),
      (#"{"a":1,}"#, "expected a member's name in double quotes, found }"),
      ("[1,]", "expected a value, found ]"), ("[1 2]", "expected ',' or ']', found 2"),
      (#"{"a" 1}"#, "expected ':' after the name, found 1"),
      (#"{"a":1"#, "expected ',' or '}', but the text ends"),
      ("", "expected a value, but the text ends"),
      ("nulL", "expected true, false or null, found L"),
      ("1 2", "something follows the value, found 2"),
      ("/ 1", "expected a value, found /"),
      ("\"\n\"", "a string holds a bare control character; write it as \\n or \\u000a"),
    ])
  func expectations(json: String, words: String) {
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: json) }
    #expect(error.map { "\($0.reason)" } == words)
  }

  @Test("places count lines and characters")
  func places() throws {
    let text = "{\n  \"é😀\": x}"
    let error = try #require(throws: JSONError.self) { try JSONValue(parsing: text) }
    let position = TextPosition(ofByte: error.offset, in: text.utf8)
    #expect(position.line == 2 && position.column == 9)
    #expect("\(position)" == "line 2, column 9")
  }

  @Test("options accept more, or less")
  func options() throws {
    let edited = Array("/* x **/ {// y\n\"a\": [1, 2,], \"b\": \"c\nd\",\n}//".utf8)
    #expect(throws: JSONError.self) { try JSONValue(parsing: edited) }
    #expect(
      try JSONValue(parsing: edited, .edited)
        == .object([.init("a", .array([.integer(1), .integer(2)])), .init("b", .string("c\nd"))]))
    let reasons: [(text: String, reason: JSONError.Reason, offset: Int)] = [
      (#"{"a":{"b":1,"b":2}}"#, .duplicateName, 12), (#""\ud800""#, .loneSurrogate, 1),
      ("[/*/]", .unfinishedComment, 1), ("[1,,]", .expected(.value, found: 0x2C), 3),
    ]
    for (text, reason, offset) in reasons {
      #expect(throws: JSONError(reason, at: offset), "\(text)") {
        try JSONValue(parsing: Array(text.utf8), .edited)
      }
    }
    #expect(try JSONValue(parsing: Array(#"[{"a":1},{"a":2}]"#.utf8), .edited) != .null)
    let shallow = JSONOptions(depthLimit: 2)
    #expect(throws: JSONError(.tooDeep(limit: 2), at: 2)) {
      try JSONValue(parsing: Array("[[[]]]".utf8), shallow)
    }
  }

  @Test("a text that comes in parts has the offsets and places of the whole")
  func parts() throws {
    var reader = JSONReader(Array("{\n\"a\":".utf8))
    try reader.beginObject()
    #expect(try reader.nextKey() == "a")
    reader.append(Array(" 12,\n \"é\": 3 x".utf8))
    #expect(try reader.number() == .integer(12))
    #expect(try reader.nextKey() == "é" && reader.nameOffset == 12)
    reader.append([])
    #expect(try reader.number() == .integer(3))
    let error = try #require(throws: JSONError.self) { try reader.nextKey() }
    #expect(error == JSONError(.expected(.commaOrBrace, found: UInt8(ascii: "x")), at: 20))
    let position = reader.position(at: error.offset)
    #expect(position.line == 3 && position.column == 9)
  }

  @Test("bytes that are not UTF-8 are refused")
  func encoding() {
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xC3, 0x28, 0x22]) }
  }

  @Test("nesting has a limit")
  func nesting() {
    #expect(throws: JSONError.self) {
      try JSONValue(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 100_000))
    }
  }

  @Test(
    "trees that break a rule are refused",
    arguments: [
      (#"{"a.b":1}"#, TreeError.invalidKey("a.b")), (#"{"":1}"#, .emptyKey),
      (#"{".x":1}"#, .invalidKey(".x")), (#"{"a":1,".priority":true}"#, .invalidPriority),
      (#"{"a":1,".priority":{"b":1}}"#, .invalidPriority), (#"{".value":{"a":1}}"#, .invalidLeaf),
      (#"{".value":1,"a":2}"#, .invalidLeaf), (#"{".sv":"date"}"#, .invalidServerValue),
      (#"{".sv":{"increment":"1"}}"#, .invalidServerValue),
      (#"{".sv":"timestamp","a":1}"#, .invalidServerValue),
    ])
  func rules(json: String, error: TreeError) {
    #expect(throws: error) { try TreeNode(json: json) }
  }

  @Test("the tolerant reader skips names it does not know")
  func tolerant() throws {
    var reader = JSONReader(Array(#"{".new":{"x":[1]},"a":1}"#.utf8))
    #expect(try TreeNode(reading: &reader, .tolerant) == ["a": 1])
  }

  @Test("unsorted and repeated members: the last one wins")
  func repeated() throws {
    #expect(try TreeNode(json: #"{"b":1,"a":2,"b":3}"#) == ["a": 2, "b": 3])
  }
}
