import TernCore
import TernDocumentJSON
import TernQuery
import Testing

@testable import TernDocumentWire

@Suite("Messages as JSON")
struct JSONTests {
  private func text(_ kind: DocumentJSON.Kind, _ binary: [UInt8]) throws -> String {
    String(decoding: try DocumentJSON.json(kind, binary: binary), as: UTF8.self)
  }

  private func fields(
    _ json: String, unknown: DocumentJSON.UnknownMembers = .rejected
  ) throws -> DocumentFields? {
    let document =
      #"{"name":"projects/p/databases/(default)/documents/a/b","fields":"# + json + "}"
    let bytes = try DocumentJSON.binary(.document, json: Array(document.utf8), unknown: unknown)
    guard
      case .document(let read) = try DocumentResponse.decode(.getDocument, bytes, sampleNames)
    else { return nil }
    return read.fields
  }

  @Test(
    "have the form of proto3",
    arguments: [
      (.null, #"{"nullValue":null}"#), (.integer(.max), #"{"integerValue":"9223372036854775807"}"#),
      (.boolean(false), #"{"booleanValue":false}"#), (.double(.nan), #"{"doubleValue":"NaN"}"#),
      (.double(-.infinity), #"{"doubleValue":"-Infinity"}"#),
      (.double(1.5), #"{"doubleValue":1.5}"#),
      (.bytes([1, 2]), #"{"bytesValue":"AQI="}"#), (.string("é"), #"{"stringValue":"é"}"#),
      (
        .timestamp(.init(uncheckedMicroseconds: 1_000_001)),
        #"{"timestampValue":"1970-01-01T00:00:01.000001Z"}"#
      ),
      (.array([true]), #"{"arrayValue":{"values":[{"booleanValue":true}]}}"#),
      (.map(["a": 1]), #"{"mapValue":{"fields":{"a":{"integerValue":"1"}}}}"#),
    ] as [(DocumentValue, String)])
  func values(value: DocumentValue, json: String) throws {
    let document = Document("a/b", .found(["f": value]))
    let binary = DocumentResponse.encoded(document, sampleNames)
    #expect(
      try text(.document, binary)
        == #"{"name":"projects/p/databases/(default)/documents/a/b","fields":{"f":"# + json + "}}")
    #expect(try fields(#"{"f":"# + json + "}") == ["f": value])
  }

  @Test("may hold unknown members, where they are skipped")
  func unknown() throws {
    let json = #"{"f":{"integerValue":5,"hint":1}}"#
    #expect(try fields(json, unknown: .skipped) == ["f": 5])
    #expect(throws: MessageJSONError.self) { try fields(json) }
  }

  @Test("that are none are refused")
  func refusals() {
    for json in ["", "{", "[]", #"{"fields":{"f":{"integerValue":"x"}}}"#, #"{"name":1}"#] {
      #expect(throws: MessageJSONError.self) {
        try DocumentJSON.binary(.document, json: Array(json.utf8))
      }
    }
    #expect(throws: MessageJSONError.self) { try DocumentJSON.json(.document, binary: [0x0A]) }
  }

  @Test("carry queries")
  func query() throws {
    let json = #"""
      {"parent": "projects/p/databases/(default)/documents", "structuredQuery": {
        "from": [{"collectionId": "cities"}],
        "where": {"fieldFilter": {"field": {"fieldPath": "state"}, "op": "EQUAL",
          "value": {"stringValue": "CA"}}},
        "orderBy": [{"field": {"fieldPath": "name"}, "direction": "DESCENDING"}], "limit": 3}}
      """#
    let bytes = try DocumentJSON.binary(.request(.runQuery), json: Array(json.utf8))
    let expected = try DocumentQuery.collection(try CollectionPath("cities"))
      .where("state", .equal, "CA").ordered(by: "name", isDescending: true).first(3)
    #expect(try DocumentRequest.decode(.runQuery, bytes).body == .query(expected, .now))
  }
}
