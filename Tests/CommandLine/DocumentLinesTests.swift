import TernCore
import TernTestKit
import Testing

@testable import tern

/// Hands out a text in parts of a size.
private func parts(_ bytes: [UInt8], of size: Int) -> () -> [UInt8] {
  var rest = bytes[...]
  return {
    let part = Array(rest.prefix(size))
    rest = rest.dropFirst(part.count)
    return part
  }
}

@Suite("lines of a file of documents") struct DocumentLinesTests {
  private func lines(_ text: String, by size: Int) throws -> [String] {
    var source = LineSource(refill: parts(Array(text.utf8), of: size))
    var lines: [String] = []
    while let line = try source.next() { lines.append(String(decoding: line, as: UTF8.self)) }
    #expect(source.number == lines.count)
    #expect(source.offset == text.utf8.count)
    return lines
  }

  @Test(
    "a file is taken apart at its line ends, whatever the parts",
    arguments: [
      ("", []), ("a", ["a"]), ("a\n", ["a"]), ("\n", [""]), ("\n\n", ["", ""]),
      ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]), ("a\rb\n", ["a\rb"]), ("\r\n", [""]),
      ("a\n\nb", ["a", "", "b"]), ("é\n😀", ["é", "😀"]), ("\r", [""]),
    ] as [(String, [String])])
  func splitting(text: String, expected: [String]) throws {
    for size in [1, 2, 3, 100] { #expect(try lines(text, by: size) == expected, "by \(size)") }
  }

  @Test("a line has a limit", arguments: [-1, 0, 1])
  func longLines(over: Int) throws {
    let line = [UInt8](repeating: 0x61, count: LineSource.lineBytes + over)
    var source = LineSource(refill: parts([0x0A] + line, of: 1 << 16))
    #expect(try source.next() == [])
    let failure = failure { _ = try source.next() }
    #expect((failure == nil) == (over <= 0))
    if let failure {
      #expect(failure == Failure(.usage, "line 2: more than \(LineSource.lineBytes) bytes"))
    }
  }

  private func writes(
    _ text: String, merging: Bool = false, from first: Int = 1
  ) throws -> [DocumentMutation] {
    var lines = DocumentLines(
      plainText, merging: merging, from: first, refill: parts(Array(text.utf8), of: 7))
    var writes: [DocumentMutation] = []
    while let write = try lines.next() { writes.append(write) }
    return writes
  }

  private static let file = """
    {"path": "c/a", "fields": {"n": 1}}

      \t
    {"fields": {"n": {"m": 2}, "t": {"timestampValue": "1970-01-01T00:00:00Z"}}, "path": "c/b"}
    {"path": "c/d/e/f", "fields": {}, "extra": true}
    """

  @Test("each line is a write; empty ones are none")
  func documents() throws {
    let time = DocumentValue.timestamp(DocumentTimestamp(uncheckedMicroseconds: 0))
    let fields: [(String, [DocumentInput.Field])] = [
      ("c/a", [.init("n", 1)]),
      ("c/b", [.init("n", .value(["m": 2])), .init("t", .value(time))]), ("c/d/e/f", []),
    ]
    let expected = try fields.map { try DocumentMutation.set(DocumentKey($0.0), to: $0.1) }
    #expect(try writes(Self.file) == expected)
    let merged = try fields.map { try DocumentMutation.merge(DocumentKey($0.0), with: $0.1) }
    #expect(try writes(Self.file, merging: true) == merged)
  }

  @Test("lines before the first one that counts are not even read", arguments: 1...6)
  func fromLine(first: Int) throws {
    let bad = "}{\n" + Self.file.split(separator: "\n", maxSplits: 1)[1]
    let count = first == 1 ? nil : [2: 2, 3: 2, 4: 2, 5: 1, 6: 0][first]
    guard let count else {
      #expect(failure { try writes(bad) }?.message.hasPrefix("line 1: not JSON") == true)
      return
    }
    #expect(try writes(bad, from: first).count == count)
  }

  @Test(
    "a wrong line is named with what is wrong",
    arguments: [
      ("x", "not JSON at column 1"), (#"{"path": "c/a", "fields": }"#, "not JSON at column 27"),
      ("[]", "a line is {"), ("{}", "a line is {"), (#"{"path": "c/a"}"#, "a line is {"),
      (#"{"path": 1, "fields": {}}"#, "a line is {"),
      (#"{"path": "c", "fields": {}}"#, "c is a collection"),
      (#"{"path": "", "fields": {}}"#, "path \"\""),
      (#"{"path": "c/a", "fields": []}"#, "the fields of a document are a JSON object"),
      (#"{"path": "c/a", "fields": {"a": [[1]]}}"#, "array"),
      (#"{"path": "c/a", "fields": {"__a__": 1}}"#, "__a__"),
      (#"{"path": "c/a", "fields": {"": 1}}"#, "no name"),
      (#"{"path": "c/a", "fields": {"a": {"bytesValue": "%"}}}"#, "a is no bytesValue"),
    ])
  func mistakes(line: String, message: String) {
    let failure = failure { try writes(#"{"path": "c/a", "fields": {}}"# + "\n\n" + line) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.hasPrefix("line 3: ") == true, "\(String(describing: failure))")
    #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
  }
}
