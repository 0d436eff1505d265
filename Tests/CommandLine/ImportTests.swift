import TernCore
import Testing

@testable import tern

/// Runs a text through the importer, handing it over in parts of `partBytes`.
private func batches(
  _ text: String, keyField: String? = nil, leaves: Int = 1_000, partBytes: Int = 3
) throws -> [[TreeMerge.Entry]] {
  var rest = ArraySlice(text.utf8)
  var tokens = JSONTokens {
    let part = Array(rest.prefix(partBytes))
    rest = rest.dropFirst(part.count)
    return part
  }
  var batcher = ImportBatcher(
    keyField: keyField, limits: ImportBatcher.Limits(leaves: leaves, bytes: 1 << 20))
  var batches: [[TreeMerge.Entry]] = []
  while let token = try tokens.next() {
    if let batch = try batcher.take(token) { batches.append(batch) }
  }
  if let batch = batcher.finish() { batches.append(batch) }
  return batches
}

/// The tree after all batches.
private func tree(_ batches: [[TreeMerge.Entry]]) throws -> TreeNode {
  var tree = TreeNode.empty
  for batch in batches { tree.apply(.merge(.root, try TreeMerge(batch))) }
  return tree
}

@Suite("import") struct ImportTests {
  static let text = """
    {"a": [1, "zwei", {"x": true, "y": null}], "b": {"c": {"d": -1.5e3, "e": "\\u00e9\\n"}},
     "leer": {}, "p": {".value": 3, ".priority": "hoch"}, "q": {"z": 1, ".priority": 2}}
    """

  @Test("whatever the size of batches and parts, the tree is the same", arguments: 1...9)
  func sameTree(leaves: Int) throws {
    let expected = try TreeNode(json: Self.text)
    #expect(try tree(batches(Self.text, leaves: leaves, partBytes: leaves)) == expected)
    if leaves < 3 { #expect(try batches(Self.text, leaves: leaves).count > 2) }
  }

  @Test("a leaf is imported as the whole tree")
  func leaf() throws {
    #expect(try batches(" 7 ") == [[TreeMerge.Entry(path: .root, node: TreeNode(.integer(7)))]])
    #expect(try batches("null").isEmpty)
  }

  @Test("a byte order mark is no part of a file")
  func mark() throws {
    #expect(try batches("\u{FEFF} 7") == batches("7"))
    let other = #expect(throws: JSONSyntaxError.self) { try batches("\u{FE40}7") }
    #expect(other?.position == TextPosition() && other?.reason == .expected(.value, found: 0xEF))
    var parts = ["\u{FEFF}{}\n\u{FEFF}", ""].map { Array($0.utf8) }[...]
    var lines = LineSource { parts.popFirst() ?? [] }
    #expect(try lines.next() == Array("{}".utf8))
    #expect(try lines.next() == Array("\u{FEFF}".utf8))
    #expect(try lines.next() == nil)
  }

  @Test("members of an array are named by a field, with forbidden characters escaped")
  func keyField() throws {
    let text = #"{"r": [{"n": [{"q": 1}], "code": "A.1"}, {"code": 7, "n": 2}]}"#
    for leaves in [1, 100] {
      #expect(
        try tree(batches(text, keyField: "code", leaves: leaves))
          == TreeNode(
            json: #"{"r": {"A%2E1": {"n": [{"q": 1}], "code": "A.1"}, "7": {"code": 7, "n": 2}}}"#))
    }
    #expect(throws: ImportError.missingField("code", path: "r/#1")) {
      _ = try batches(#"{"r": [{"code": "a"}, {"n": 1}]}"#, keyField: "code")
    }
    #expect(escapedKey("a/b%c\u{1}é") == "a%2Fb%25c%01é")
  }

  @Test("a broken rule is reported with its place")
  func rules() throws {
    #expect(throws: ImportError.rule(.invalidKey("b.c"), path: "a/b.c")) {
      _ = try batches(#"{"a": {"b.c": 1}}"#)
    }
    #expect(throws: ImportError.rule(.emptyKey, path: "a/")) {
      _ = try batches(#"{"a": {"": 1}}"#)
    }
    let deep = String(repeating: #"{"a":"#, count: 33) + "1" + String(repeating: "}", count: 33)
    #expect(throws: ImportError.self) { _ = try batches(deep) }
  }

  @Test(
    "what is not JSON is reported with its place",
    arguments: [
      ("{\"a\": }", 7), ("[1,]", 4), ("[1 2]", 4), ("\"abc", 5), ("tru", 4), ("01", 1), ("", 1),
      ("{} x", 4), ("{1: 2}", 2), ("[", 2), ("\"\\x\"", 2), ("[1.]", 2), ("[12", 4),
    ])
  func syntax(text: String, column: Int) {
    for partBytes in [1, 3, 100] {
      let error = #expect(throws: JSONSyntaxError.self) {
        _ = try batches(text, partBytes: partBytes)
      }
      #expect(error?.position.column == column, "\(text) in parts of \(partBytes)")
      let below = #expect(throws: JSONSyntaxError.self) {
        _ = try batches("\n\n" + text, partBytes: partBytes)
      }
      #expect(below?.position.line == 3 && below?.position.column == column, "\(text)")
    }
  }

  @Test("strings and numbers over many parts are whole, and too long ones are rejected")
  func longPieces() throws {
    let long = String(repeating: "ä\\n", count: 5_000)
    let text = "[\"\(long)\", 1234567.5, true]"
    let expected = try TreeNode(json: text)
    for partBytes in [1, 7, 64] {
      #expect(try tree(batches(text, partBytes: partBytes)) == expected)
    }
    var first = true
    var endless = JSONTokens {
      defer { first = false }
      return first ? [UInt8(ascii: "\"")] : [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
    }
    let error = #expect(throws: JSONSyntaxError.self) { _ = try endless.next() }
    #expect(error?.reason == .tooLong(limit: JSONTokens.tokenBytes))
  }
}
