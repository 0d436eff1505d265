import Testing

@testable import TernCore

@Suite("JSON that is no value of a document")
struct DocumentJSONFaultTests {
  private func value(_ json: String, _ form: DocumentValueJSON.Form) throws -> DocumentValue {
    let database = try DocumentDatabase(projectID: "p")
    return try DocumentValueJSON(form, in: database).value(JSONValue(parsing: json))
  }

  static let malformed: [(String, String)] = [
    ("nullValue", "false"), ("nullValue", "\"null\""), ("booleanValue", "\"true\""),
    ("booleanValue", "1"), ("integerValue", "true"), ("integerValue", "\"\""),
    ("integerValue", "\"1.5\""), ("integerValue", "1.5"),
    ("integerValue", "\"9223372036854775808\""),
    ("doubleValue", "\"x\""), ("doubleValue", "null"), ("doubleValue", "\"\""),
    ("doubleValue", "\"0x1p3\""), ("doubleValue", "\"inf\""), ("doubleValue", "\"nan\""),
    ("timestampValue", "\"yesterday\""), ("timestampValue", "1"),
    ("timestampValue", #"{"seconds":"x"}"#), ("timestampValue", #"{"seconds":1.5}"#),
    ("timestampValue", #"{"seconds":1,"nanos":"y"}"#), ("timestampValue", #"{"nanos":1000000000}"#),
    ("timestampValue", #"{"seconds":253402300800}"#), ("timestampValue", #"{"nanos":-1}"#),
    ("timestampValue", "\"2023-02-29T00:00:00Z\""),
    ("stringValue", "1"), ("stringValue", "null"), ("bytesValue", "\"a\""), ("bytesValue", "[1]"),
    ("referenceValue", "\"\""), ("referenceValue", "\"cities\""), ("referenceValue", "1"),
    ("geoPointValue", "1"), ("geoPointValue", #"{"latitude":"x"}"#),
    ("geoPointValue", #"{"latitude":90.5}"#), ("geoPointValue", #"{"longitude":-181}"#),
    ("geoPointValue", #"{"latitude":"NaN"}"#),
    ("arrayValue", "1"), ("arrayValue", "[1]"), ("arrayValue", "null"), ("arrayValue", "\"x\""),
    ("arrayValue", #"{"values":1}"#), ("arrayValue", #"{"values":{}}"#),
    ("mapValue", "1"), ("mapValue", "\"x\""), ("mapValue", "[]"), ("mapValue", "null"),
    ("mapValue", #"{"fields":[]}"#), ("mapValue", #"{"fields":"x"}"#),
  ]

  @Test("what stands under the name of a type is of that type", arguments: Self.malformed)
  func faults(type: String, content: String) {
    let json = #"{"\#(type)":\#(content)}"#
    for form in [DocumentValueJSON.Form.plain, .typed] {
      #expect(throws: DocumentJSONError.malformed(type: type, at: [])) { try value(json, form) }
    }
    #expect(throws: DocumentJSONError.malformed(type: type, at: ["a", "b"])) {
      try value(#"{"a":{"b":[\#(json)]}}"#, .plain)
    }
  }

  static let lenient: [(String, DocumentValue)] = [
    (#"{"nullValue":"NULL_VALUE"}"#, .null), (#"{"integerValue":7}"#, 7),
    (#"{"integerValue":"-9223372036854775808"}"#, .integer(.min)), (#"{"doubleValue":1}"#, 1.0),
    (#"{"doubleValue":"-Infinity"}"#, .double(-.infinity)), (#"{"doubleValue":"1.5"}"#, 1.5),
    (#"{"timestampValue":{}}"#, .timestamp(.init(uncheckedMicroseconds: 0))),
    (
      #"{"timestampValue":{"seconds":"-1","nanos":1000}}"#,
      .timestamp(.init(uncheckedMicroseconds: -999_999))
    ),
    (#"{"bytesValue":"Af8"}"#, .bytes([1, 255])), (#"{"bytesValue":"_-8="}"#, .bytes([255, 239])),
    (
      #"{"geoPointValue":{}}"#,
      .geoPoint(DocumentGeoPoint(uncheckedLatitude: 0, longitude: 0))
    ),
    (#"{"arrayValue":{}}"#, []), (#"{"mapValue":{}}"#, [:]),
    (#"{"mapValue":{"fields":{"a":{"nullValue":null}}}}"#, ["a": .null]),
  ]

  @Test("what other programs leave out or spell their way is read", arguments: Self.lenient)
  func leniency(json: String, expected: DocumentValue) throws {
    #expect(try value(json, .typed) == expected)
    #expect(try value(json, .plain) == expected)
  }

  @Test(
    "objects that merely look like a typed value are maps in the plain form",
    arguments: [
      (#"{"integerValue":1,"x":2}"#, ["integerValue": 1, "x": 2]),
      (#"{"IntegerValue":1}"#, ["IntegerValue": 1]), (#"{"value":1}"#, ["value": 1]), ("{}", [:]),
      (
        #"{"__type__":"__vector__","value":[1,"x"]}"#,
        ["__type__": "__vector__", "value": [1, "x"]]
      ),
      (#"{"__type__":"__vector__","value":[1,2.5]}"#, .vector([1, 2.5])),
    ] as [(String, DocumentValue)])
  func plainMaps(json: String, expected: DocumentValue) throws {
    #expect(try value(json, .plain) == expected)
  }
}
