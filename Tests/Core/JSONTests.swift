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
      ("{1:2}", 1), (#""\x""#, 2), ("\"\n\"", 1), ("[1 2]", 3), ("]", 0),
    ])
  func malformed(json: String, offset: Int) {
    do throws(JSONError) {
      _ = try JSONValue(parsing: json)
      Issue.record("accepted \(json)")
    } catch {
      #expect(error.offset == offset, "\(json): \(error)")
    }
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
