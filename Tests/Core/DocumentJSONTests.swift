import TernTestKit
import Testing

@testable import TernCore

@Suite("JSON of documents") struct DocumentJSONTests {
  private let database: DocumentDatabase

  init() throws { database = try DocumentDatabase(projectID: "p") }

  private func text(_ value: DocumentValue, _ form: DocumentValueJSON.Form) -> String {
    var writer = JSONWriter()
    DocumentValueJSON(form, in: database).write(value, to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private func value(_ text: String, _ form: DocumentValueJSON.Form) throws -> DocumentValue {
    try DocumentValueJSON(form, in: database).value(JSONValue(parsing: text))
  }

  /// The value as a server has it: nothing in it is pending.
  private func settled(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .pendingTimestamp: .null
    case .array(let elements): .array(elements.map(settled))
    case .map(let map): .map(DocumentMap(map.entries.map { ($0.name, settled($0.value)) }))
    default: value
    }
  }

  @Test("every value reads back as itself", arguments: UInt64(1)...200)
  func roundTrips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let original = settled(randomDocumentValue(using: &random))
      for form in [DocumentValueJSON.Form.plain, .typed] {
        let json = text(original, form)
        #expect(try value(json, form) == original, "\(json)")
      }
      // Who reads the plain form reads the other too.
      #expect(try value(text(original, .typed), .plain) == original)
    }
  }

  @Test("the plain form is plain JSON, and a typed one where JSON has no type")
  func plain() throws {
    let cases: [(DocumentValue, String)] = [
      (.null, "null"), (.integer(.max), "9223372036854775807"), (.double(1), "1.0"),
      (.double(-0.0), "-0.0"), (.double(.nan), #"{"doubleValue":"NaN"}"#),
      (.double(-.infinity), #"{"doubleValue":"-Infinity"}"#),
      (
        .timestamp(DocumentTimestamp(uncheckedMicroseconds: 1_582_977_600_120_000)),
        #"{"timestampValue":"2020-02-29T12:00:00.120Z"}"#
      ),
      (.bytes([1, 255]), #"{"bytesValue":"Af8="}"#),
      (
        .reference(DocumentName("cities/SF", in: database)), #"{"referenceValue":"cities/SF"}"#
      ),
      (["a": [1, "x"]], #"{"a":[1,"x"]}"#),
      (["stringValue": 1], #"{"mapValue":{"fields":{"stringValue":1}}}"#),
      (.vector([1, 2.5]), #"{"__type__":"__vector__","value":[1.0,2.5]}"#),
    ]
    for (original, json) in cases {
      #expect(text(original, .plain) == json)
      #expect(try value(json, .plain) == original)
    }
    #expect(
      text(["n": 1, "t": [true]], .typed)
        == #"{"mapValue":{"fields":{"n":{"integerValue":"1"},"#
        + #""t":{"arrayValue":{"values":[{"booleanValue":true}]}}}}}"#)
  }

  @Test("what is no value says where and why")
  func errors() throws {
    let cases: [(String, DocumentValueJSON.Form, DocumentJSONError)] = [
      ("1", .typed, .untyped(at: [])),
      (
        #"{"mapValue":{"fields":{"a":{"b":1,"c":2}}}}"#, .typed, .untyped(at: ["a"])
      ),
      (
        #"{"a":{"b":{"integerValue":"x"}}}"#, .plain,
        .malformed(type: "integerValue", at: ["a", "b"])
      ),
      (
        #"{"a":{"geoPointValue":{"latitude":91}}}"#, .plain,
        .malformed(type: "geoPointValue", at: ["a"])
      ),
    ]
    for (json, form, error) in cases {
      #expect(throws: error) { try value(json, form) }
    }
    #expect(throws: DocumentJSONError.notFields) {
      try DocumentValueJSON(.plain, in: database).fields(.array([]))
    }
  }

  @Test("times are written as they are read", arguments: UInt64(1)...50)
  func times(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let range = DocumentTimestamp.range
    let fixed = [range.lowerBound, range.upperBound, 0, -1, 951_782_400_000_000]
    for micros in fixed + (0..<100).map({ _ in Int64.random(in: range, using: &random) }) {
      let time = DocumentTimestamp(uncheckedMicroseconds: micros)
      #expect(TimestampText.parse(TimestampText.text(of: time)) == time)
    }
    #expect(
      TimestampText.text(of: .earliest) == "0001-01-01T00:00:00Z")
  }
}
