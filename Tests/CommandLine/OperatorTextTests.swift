import Foundation
import Logging
import TernCore
import TernTestKit
import Testing

@testable import tern

@Suite("text for operators") struct OperatorTextTests {
  @Test(
    "sizes keep four digits at least, and lose none that they show",
    arguments: [
      (0, "0 B"), (10_239, "10239 B"), (10_240, "10 KiB"), (10_485_759, "10239 KiB"),
      (10_485_760, "10 MiB"), (1 << 34, "16 GiB"), (10 << 40, "10 TiB"), (1 << 60, "1048576 TiB"),
    ] as [(Int64, String)])
  func sizes(bytes: Int64, text: String) { #expect(StatusText.size(bytes) == text) }

  @Test(
    "times have two units",
    arguments: [
      (0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3_599, "59 min 59 s"), (3_600, "1 h 0 min"),
      (86_399, "23 h 59 min"), (86_400, "1 d 0 h"), (90_061, "1 d 1 h"), (8_640_000, "100 d 0 h"),
    ] as [(Int64, String)])
  func times(seconds: Int64, text: String) { #expect(StatusText.time(seconds) == text) }

  private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }

  @Test("a status that says little has a line, and one that says much has many")
  func status() throws {
    #expect(StatusText(try json("{}")).lines == ["state        unknown, version unknown"])
    let text = StatusText(
      try json(
        #"""
        {"state": "serving", "reasons": ["disk", 1, "memory"], "version": "1.0",
         "uptimeMilliseconds": 61999, "process": {"pid": 7, "residentBytes": 10240,
         "descriptors": 12}, "memory": {"usedBytes": 1, "limitBytes": 20480},
         "store": {"kind": "lmdb", "bytes": 5, "freeBytes": 6},
         "ledger": {"version": 9, "firstVersion": 2, "logBytes": 3},
         "sessions": {"tree": 1, "documents": 2, "listens": 3, "queries": 4},
         "totals": {"requests": 1, "writes": 2, "rejections": 3, "denials": 4, "rateLimited": 5},
         "queues": [{"name": "a", "length": 1}, {"length": 2}, {"name": "b"}]}
        """#))
    #expect(text.state == "serving (disk, memory)")
    #expect(
      text.lines == [
        "state        serving (disk, memory), version 1.0", "up           1 min 1 s",
        "process      pid 7, 10 KiB resident, 12 descriptors", "clients hold 1 B of 20 KiB",
        "store        lmdb, 5 B, 6 B free", "ledger       version 9, log from 2, 3 B",
        "sessions     1 tree, 2 documents, 3 listens on 4 queries",
        "so far       1 requests, 2 writes, 3 rejected, 4 denied, 5 over a rate",
        "queues       a 1, b 0",
      ])
  }

  @Test("rates are a second's, and sums at the first look")
  func rates() throws {
    let first = try json(#"{"time": 1000, "totals": {"requests": 10, "writes": 4}}"#)
    let later = try json(#"{"time": 3000, "totals": {"requests": 30, "writes": 5}}"#)
    #expect(StatusText.rates(first, since: nil).hasPrefix("10 requests   4 writes   0 commits"))
    #expect(StatusText.rates(later, since: first).hasPrefix("10 requests/s   0 writes/s   0 com"))
    // A clock that stands still or goes back ends nothing.
    #expect(StatusText.rates(first, since: first).hasPrefix("0 requests/s"))
    #expect(StatusText.rates(first, since: later).hasPrefix("-20000 requests/s"))
  }

  @Test("a table pads every column but the last")
  func tables() {
    #expect(TextTable.lines([]) == [])
    #expect(
      TextTable.lines([["A", "BB", "C"], ["aaaa", "b", "c c"], ["é", "", "x"]])
        == ["A     BB  C", "aaaa  b   c c", "é         x"])
    #expect(TextTable.lines([["a"], ["b", "c"]]) == ["a", "b  c"])
  }

  @Test("connections are a table of what is told of them")
  func connections() throws {
    let found = [
      try json(
        #"""
        {"id": "c1", "protocol": "tree", "address": "::1", "listens": 2, "listenBytes": 1,
         "waitingBytes": 2, "queuedBytes": 4, "ageMilliseconds": 5999}
        """#), try json("{}"),
    ]
    #expect(
      ConnectionText.table(found) == [
        "ID  PROTOCOL  ADDRESS  DATABASE  USER  STATE  LISTENS  HOLDS  AGE",
        "c1  tree      ::1      -         -     -      2        7 B    5 s",
        "-   -         -        -         -     -      0        0 B    0 s",
      ])
  }

  @Test("a segment of a URL is ASCII without delimiters", arguments: UInt64(1)...20)
  func percentEncoding(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let alphabet = Array("aZ09-_.~ /?#%&=+é😀\u{0}:@")
    let text = String((0..<20).map { _ in alphabet[random.roll(alphabet.count)] })
    let encoded = text.percentEncoded
    #expect(encoded.removingPercentEncoding == text)
    #expect(encoded.utf8.allSatisfy { $0 < 0x80 })
    #expect(encoded.allSatisfy { !"/?#&=+ :@".contains($0) })
  }

  @Test("percentiles are times of answers")
  func figures() {
    let times = (1...200).reversed().map { Duration.milliseconds($0) }
    let figures = BenchFigures(times, over: .seconds(4))
    #expect(figures.count == 200 && figures.perSecond == 50 && figures.seconds == 4)
    #expect(figures[0] == 1 && figures[0.5] == 100 && figures[0.95] == 190)
    #expect(figures[0.99] == 198 && figures[1] == 200)
    let one = BenchFigures([.microseconds(1_234)], over: .milliseconds(1_234))
    #expect(one[0] == 1.23 && one[1] == 1.23 && one.seconds == 1.23 && one.perSecond == 0)
    let none = BenchFigures([], over: .zero)
    #expect(none[0.5] == 0 && none.perSecond == 0)
  }

  @Test("a reason is the server's words, else what it sent")
  func answers() {
    for (body, reason) in [
      (#"{"error": "no"}"#, "no"), (#"{"error": 1}"#, #"{"error": 1}"#), ("", "status 418"),
      ("<html>", "<html>"),
      (String(repeating: "x", count: 600), String(repeating: "x", count: 500)),
    ] {
      #expect(AdminClient.Answer(status: 418, body: Array(body.utf8)).reason == reason)
    }
  }

  // MARK: - The log

  @Test("the time of a line is that of Greenwich, with milliseconds")
  func logTimes() {
    for (seconds, text) in [
      (0, "1970-01-01T00:00:00.000Z"), (0.9996, "1970-01-01T00:00:00.999Z"),
      (1_582_977_599.25, "2020-02-29T11:59:59.250Z"), (-0.25, "1969-12-31T23:59:59.750Z"),
      (-1.5, "1969-12-31T23:59:58.500Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
    ] {
      #expect(LogTime.text(Date(timeIntervalSince1970: seconds)) == text)
    }
  }

  @Test("a record is a line of text, or of JSON that no metadata can change")
  func logLines() throws {
    let metadata: Logger.Metadata = ["b": "2", "a": "1 \"x\"", "message": "other", "time": "0"]
    let text = OperatorLogHandler.line("one\ntwo", .warning, ["b": "2", "a": "1"], at: "T", .text)
    #expect(text == "T warning tern: one a=1 b=2\ntern: two")
    let line = OperatorLogHandler.line("one\n\"two\"", .error, metadata, at: "T", .json)
    #expect(!line.contains("\n"))
    #expect(
      try JSONValue(parsing: line)
        == .object([
          .init("time", .string("T")), .init("level", .string("error")),
          .init("message", .string("one\n\"two\"")), .init("a", .string("1 \"x\"")),
          .init("b", .string("2")),
        ]))
  }
}

@Suite("JSON on several lines") struct IndentedJSONTests {
  private func value(using random: inout SeededGenerator, depth: Int = 0) -> JSONValue {
    switch random.roll(depth < 4 ? 6 : 3) {
    case 0: .integer(Int64(random.roll(100)))
    case 1: .string(["", "a b", "{\"x\": [1,2]}", "\\\"", "é:,\n", "\\"][random.roll(6)])
    case 2: .null
    case 3: .array((0..<random.roll(4)).map { _ in value(using: &random, depth: depth + 1) })
    default:
      .object(
        (0..<random.roll(4)).map { .init("k\($0):", value(using: &random, depth: depth + 1)) })
    }
  }

  @Test("it says the same, two spaces a level", arguments: UInt64(1)...50)
  func law(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let value = value(using: &random)
      let text = indented(json: value.json)
      #expect(try JSONValue(parsing: text) == value)
      var depth = 0
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        let content = line.drop { $0 == " " }
        if content.hasPrefix("}") || content.hasPrefix("]") { depth -= 1 }
        #expect(line.count - content.count == 2 * depth, "\(text)")
        if content.hasSuffix("{") || content.hasSuffix("[") { depth += 1 }
      }
    }
  }

  @Test("what is empty stays on a line")
  func empty() {
    #expect(indented(json: "{}") == "{}")
    #expect(indented(json: "[]") == "[]")
    #expect(indented(json: #"{"a":{},"b":[[]]}"#) == "{\n  \"a\": {},\n  \"b\": [\n    []\n  ]\n}")
  }
}
