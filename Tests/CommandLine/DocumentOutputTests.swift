import TernCore
import TernTestKit
import Testing

@testable import tern

@Suite("documents as text") struct DocumentOutputTests {
  private let typed = DocumentText(DocumentDatabase(unchecked: "demo"), isTyped: true)

  @Test(
    "values are read as they are written",
    arguments: [
      "null", "true", "-1", "1.5", "1e30", #""x""#, "[]", "{}", #"[1,"a",{"b":[2]}]"#,
      #"{"timestampValue":"2026-11-21T09:00:00.000001Z"}"#, #"{"bytesValue":"AAE="}"#,
      #"{"referenceValue":"cities/SF"}"#, #"{"geoPointValue":{"latitude":1.5,"longitude":-2.0}}"#,
      #"{"doubleValue":"NaN"}"#, #"{"doubleValue":"-Infinity"}"#, "-9223372036854775808",
    ])
  func values(text: String) throws {
    let value = try plainText.value(text, "value")
    // What was read is written so that it reads back the same, in both forms.
    #expect(try plainText.value(plainText.line(value), "value") == value)
    #expect(try typed.value(typed.line(value), "value") == value)
    let fields: DocumentMap = ["f": value]
    #expect(try plainText.fields(plainText.line(fields)) == fields)
    #expect(try typed.fields(typed.line(fields)) == fields)
  }

  @Test(
    "what is no value says where and what one is",
    arguments: [
      (#"{"timestampValue":"x"}"#, false, "value: it is no timestampValue; one is {\"timestamp"),
      (#"{"a":{"bytesValue":"%"}}"#, false, "value: a is no bytesValue; one is {\"bytesValue\""),
      (#"{"a":{"b c":{"geoPointValue":1}}}"#, false, "value: a.`b c` is no geoPointValue"),
      (#"{"booleanValue":1}"#, false, "value: it is no booleanValue"),
      ("1", true, "value: it must name its type"),
      (#"{"mapValue":{"fields":{"a":1}}}"#, true, "value: a must name its type"),
      ("{", false, "value: not JSON at line 1, column 2"),
      ("hello", false, "a text needs quotes: '\"hello\"'"),
    ])
  func mistakes(text: String, isTyped: Bool, message: String) {
    let failure = failure { try (isTyped ? typed : plainText).value(text, "value") }
    #expect(failure?.code == .usage)
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }

  @Test("fields are an object")
  func fields() {
    for text in ["1", "[]", "null", "\"x\""] {
      let failure = failure { try plainText.fields(text) }
      #expect(failure?.message == "fields: the fields of a document are a JSON object", "\(text)")
    }
    #expect(failure { try plainText.fields("x") }?.message.contains("fields are a JSON") == true)
  }

  // MARK: - Writes of the queue

  private func mutation(
    _ inputs: [DocumentInput.Field], isMerge: Bool = false
  ) throws -> DocumentMutation {
    let key = try DocumentKey("c/d")
    return try isMerge ? .merge(key, with: inputs) : .set(key, to: inputs)
  }

  @Test("a batch of the queue is a line of words")
  func batchWords() throws {
    let set = try mutation([.init("a", 1)])
    let other = DocumentMutation.delete(try DocumentKey("x/y"))
    let cases: [(BatchLine, String)] = [
      (BatchLine(state: "pending", id: 7, mutations: [set]), "pending d7 set c/d"),
      (
        BatchLine(state: "rejected", id: 8, mutations: [other, set], reason: "notFound"),
        "rejected d8 2 writes of documents, x/y first: notFound"
      ),
      (
        BatchLine(state: "pending", id: 9, mutations: []),
        "pending d9 nothing: it stands where a damaged batch was"
      ),
      (
        BatchLine(
          state: "pending", id: 1, mutations: [try mutation([.init("a", 1)], isMerge: true)]),
        "pending d1 update c/d"
      ),
    ]
    for (line, text) in cases { #expect(line.line(plainText, asJSON: false) == text) }
  }

  @Test("a batch of the queue is an object with all of its writes")
  func batchJSON() throws {
    let merge = try mutation(
      [
        .init("a", 1), .init("gone", .delete), .init("t", .transform(.serverTimestamp)),
        .init("n", .transform(.increment(try #require(DocumentNumber(.integer(2)))))),
        .init("u", .transform(.arrayUnion([.string("x")]))),
      ], isMerge: true)
    let line = BatchLine(state: "rejected", id: 3, mutations: [merge], reason: "no")
    let json = try JSONValue(parsing: line.line(plainText, asJSON: true))
    #expect(json["state"] == .string("rejected") && json["id"] == .string("d3"))
    #expect(json["reason"] == .string("no"))
    guard case .array(let writes)? = json["writes"], let write = writes.first else {
      Issue.record("\(json.json)")
      return
    }
    #expect(write["write"] == .string("update") && write["path"] == .string("c/d"))
    #expect(write["fields"] == .object([.init("a", .integer(1))]))
    #expect(write["mask"] == .array([.string("a"), .string("gone")]))
    #expect(write["transforms"]?["t"] == .object([.init("server-time", .bool(true))]))
    #expect(write["transforms"]?["n"] == .object([.init("increment", .integer(2))]))
    #expect(write["transforms"]?["u"] == .object([.init("array-union", .array([.string("x")]))]))
    let delete = BatchLine(
      state: "pending", id: 1, mutations: [.delete(try DocumentKey("a/b"))])
    #expect(
      delete.line(plainText, asJSON: true)
        == #"{"state":"pending","id":"d1","writes":[{"write":"delete","path":"a/b"}],"reason":null}"#
    )
  }

  // MARK: - Writes of the tree

  @Test("a write of the tree's queue is a line of words or an object")
  func treeWrites() throws {
    let set = TreeWrite.set(try TreePath("a/b"), 1)
    let merge = TreeWrite.merge(
      try TreePath("r"),
      try TreeMerge([
        .init(path: try TreePath("x"), node: 1), .init(path: try TreePath("y/z"), node: .empty),
      ]))
    #expect(writeLine("pending", 4, set, nil, asJSON: false) == "pending 4 /a/b")
    #expect(writeLine("rejected", 5, merge, "no", asJSON: false) == "rejected 5 2 paths at /r: no")
    let nothing = TreeWrite.merge(.root, try TreeMerge([]))
    #expect(
      writeLine("pending", 6, nothing, nil, asJSON: false)
        == "pending 6 nothing: it stands where a damaged write was")
    #expect(
      writeLine("rejected", 5, merge, "no", asJSON: true)
        == #"{"state":"rejected","id":5,"values":{"r/x":1,"r/y/z":null},"reason":"no"}"#)
    #expect(
      writeLine("pending", 4, set, nil, asJSON: true)
        == #"{"state":"pending","id":4,"values":{"a/b":1},"reason":null}"#)
  }

  @Test(
    "numbers of writes are those of the tree, or with d of documents",
    arguments: [
      ("7", "tree 7"), ("d7", "documents 7"), ("0", "tree 0"), ("d", nil), ("", nil), ("-1", nil),
      ("dd7", nil), ("7d", nil), ("18446744073709551615", "tree 18446744073709551615"),
      ("18446744073709551616", nil), ("D7", nil), ("d-1", nil),
    ] as [(String, String?)])
  func numbers(text: String, expected: String?) {
    let found: String? =
      switch PendingNumber(argument: text) {
      case .tree(let number)?: "tree \(number)"
      case .documents(let number)?: "documents \(number)"
      case nil: nil
      }
    #expect(found == expected)
  }
}
