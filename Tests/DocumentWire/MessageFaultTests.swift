import Foundation
import TernCore
import TernDocumentWire
import Testing

@testable import TernDocumentJSON

@Suite("Faults in messages as JSON")
struct MessageFaultTests {
  private func fault(_ json: String, _ method: DocumentMethod = .commit) -> MessageJSONError? {
    do {
      _ = try DocumentJSON.request(method, members: Array("{}".utf8), body: Array(json.utf8))
      return nil
    } catch {
      return error
    }
  }

  private func value(_ json: String) -> String {
    let name = "projects/p/databases/(default)/documents/a/b"
    return #"{"writes":[{"update":{"name":"\#(name)","fields":{"f":\#(json)}}}]}"#
  }

  private static let place = "writes[0].update.fields[0].value"

  @Test(
    "values that are none are named by their path",
    arguments: [
      (#"{"fooValue":1}"#, "Unknown name \"fooValue\" at '\(place)': Cannot find field."),
      (#"{"integerValue":"x"}"#, "Invalid value at '\(place).integer_value' (TYPE_INT64), \"x\""),
      (#"{"integerValue":1.5}"#, "Invalid value at '\(place).integer_value' (TYPE_INT64), 1.5"),
      (#"{"integerValue":"9223372036854775808"}"#, "(TYPE_INT64)"),
      (#"{"integerValue":99999999999999999999}"#, "(TYPE_INT64)"),
      (#"{"booleanValue":"true"}"#, "(TYPE_BOOL), \"true\""),
      (#"{"stringValue":5}"#, "(TYPE_STRING), 5"),
      (#"{"doubleValue":"one"}"#, "(TYPE_DOUBLE), \"one\""),
      (
        #"{"bytesValue":"!!!"}"#,
        "Invalid value at '\(place).bytes_value' (TYPE_BYTES), Base64 decoding failed for \"!!!\""
      ),
      (
        #"{"timestampValue":"not a time"}"#,
        "(type.googleapis.com/google.protobuf.Timestamp), \"not a time\""
      ),
      (#"{"timestampValue":"0000-01-01T00:00:00Z"}"#, "Timestamp), \"0000-01-01T00:00:00Z\""),
      (#"{"stringValue":"a","integerValue":"1"}"#, "oneof field 'value_type' is already set."),
      (#"{"arrayValue":[]}"#, "(type.googleapis.com/google.firestore.v1.ArrayValue), []"),
      (#"{"arrayValue":{"values":{}}}"#, "'\(place).array_value.values'"),
      (#"{"arrayValue":{"values":[{"a":1}]}}"#, "Unknown name \"a\" at '\(place).array_value"),
      (#"{"mapValue":{"fields":{"a":5}}}"#, "'\(place).map_value.fields[0].value'"),
      (#"{"geoPointValue":{"latitude":"north"}}"#, "'\(place).geo_point_value.latitude'"),
      (#"5"#, "Invalid value at '\(place)' (type.googleapis.com/google.firestore.v1.Value), 5"),
    ])
  func values(json: String, text: String) throws {
    let error = try #require(fault(value(json)))
    #expect(error.message.contains(text), "\(error.message)")
    #expect(error.violation?.field.hasPrefix(Self.place) == true)
  }

  @Test(
    "texts that are no messages",
    arguments: [
      ("{", "Invalid JSON payload received."), ("[]", "Expected an object."),
      ("{}{}", "something follows the value"), ("{\"writes\":[{}}", "expected"),
      ("nope", "Invalid JSON payload"), ("\"a\"", "Expected an object."),
      ("5", "Expected an object"),
      (#"{"writes":[{"update":{},"delete":"x"}]}"#, "'operation' is already set"),
      (#"{"nothing":1}"#, #"Unknown name "nothing": Cannot find field."#),
      (#"{"database":5}"#, "Invalid value at 'database' (TYPE_STRING), 5"),
    ])
  func texts(json: String, text: String) throws {
    let error = try #require(fault(json))
    #expect(error.message.contains(text), "\(error.message)")
  }

  @Test("names of enums, and numbers of the wrong size")
  func others() throws {
    let query = { (filter: String) in #"{"structuredQuery":{"where":{"fieldFilter":\#(filter)}}}"# }
    let path = "structured_query.where.field_filter.op"
    let error = try #require(fault(query(#"{"op":"SAME"}"#), .runQuery))
    #expect(error.message.contains("Invalid value at '\(path)'"), "\(error.message)")
    #expect(fault(query(#"{"op":5}"#), .runQuery) == nil)
    #expect(fault(query(#"{"op":"EQUAL"}"#), .runQuery) == nil)
    let limit = try #require(fault(#"{"structuredQuery":{"limit":5000000000}}"#, .runQuery))
    #expect(limit.message.contains("'structured_query.limit' (TYPE_INT32)"), "\(limit.message)")
  }

  @Test("bodies of documents are named below the document")
  func documents() throws {
    let error = try #require(fault(#"{"fields":{"a":{"b":1}}}"#, .updateDocument))
    #expect(error.message.contains("at 'document.fields[0].value'"), "\(error.message)")
  }

  @Test("values are read in every spelling that the service reads")
  func spellings() throws {
    let accepted = [
      #"{"nullValue":null}"#, #"{"nullValue":"NULL_VALUE"}"#, #"{"null_value":null}"#,
      #"{"integerValue":5}"#, #"{"integerValue":"5"}"#, #"{"integerValue":5.0}"#,
      #"{"integer_value":-9223372036854775808}"#, #"{"doubleValue":"1.5"}"#,
      #"{"doubleValue":"-Infinity"}"#, #"{"doubleValue":"NaN"}"#, #"{"doubleValue":-0.0}"#,
      #"{"bytesValue":"+/8="}"#, #"{"bytesValue":"-_8"}"#, #"{"bytesValue":"+/8"}"#,
      #"{"timestampValue":"2020-01-01T00:00:00.123456789Z"}"#,
      #"{"timestampValue":"2020-01-01T02:00:00+02:00"}"#, #"{"mapValue":{}}"#,
      #"{"arrayValue":{}}"#,
      #"{"stringValue":null,"integerValue":"1"}"#, "{}",
    ]
    for json in accepted {
      #expect(fault(value(json)) == nil, "\(json): \(fault(value(json))?.message ?? "")")
    }
  }

  @Test("nesting ends in an error, however deep")
  func depth() throws {
    for depth in [60, 99, 100, 1_000, 50_000] {
      let open = String(repeating: #"{"arrayValue":{"values":["#, count: depth)
      let close = String(repeating: "]}}", count: depth)
      let error = fault(value(open + close))
      #expect(error?.message.hasPrefix("Invalid JSON payload received.") == true)
    }
    let open = String(repeating: #"{"mapValue":{"fields":{"a":"#, count: 20)
    #expect(fault(value(open + "{}" + String(repeating: "}}}", count: 20))) == nil)
  }

  @Test("the table of members is that of the protocol")
  func table() throws {
    var folder = URL(filePath: #filePath)
    for _ in 0..<3 { folder.deleteLastPathComponent() }
    folder.append(path: "Modules/DocumentJSON/Protos")
    var found: [String: [String]] = [:]
    for file in ["firestore.proto", "calls.proto"] {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      found.merge(members(in: text)) { left, _ in left }
    }
    for (name, shape) in MessageShape.all {
      #expect(found[name] == shape.members.map(\.text), "\(name)")
    }
    #expect(MessageShape.all.count > 35)
    for member in MessageShape.all.values.flatMap(\.members) {
      switch member.type {
      case .message(let name): #expect(MessageShape.named(name) != nil, "\(name)")
      case .choice(let name): #expect(MessageShape.choices[name] != nil, "\(name)")
      default: break
      }
    }
  }

  /// The members of each message of a `.proto` file: `name type count choice`.
  private func members(in text: String) -> [String: [String]] {
    var found: [String: [String]] = [:]
    var open: [(kind: Substring, name: String)] = []
    for line in text.split(separator: "\n") {
      let line = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
      let words = line.split { " ;{".contains($0) }
      guard let first = words.first else { continue }
      let messages = open.filter { $0.kind == "message" }.map(\.name)
      let path = messages.joined(separator: ".")
      if line.contains("{") {
        if first == "message" { found[(messages + [String(words[1])]).joined(separator: ".")] = [] }
        if !line.contains("}") { open.append((first, String(words[1]))) }
      } else if line.contains("}") {
        _ = open.popLast()
      } else if line.contains("="), open.last?.kind != "enum", first != "syntax" {
        let choice = open.last.flatMap { $0.kind == "oneof" ? $0.name : nil } ?? "-"
        let equals = words.firstIndex(of: "=") ?? words.count
        let name = words[equals - 1]
        let type = words[equals - 2]
        let count = first == "repeated" ? "list" : first.hasPrefix("map<") ? "map" : "one"
        found[path]?.append("\(name) \(Self.simple(type)) \(count) \(choice)")
      }
    }
    return found
  }

  /// A type's last name; wrappers are what they wrap, and unsigned numbers are numbers.
  private static func simple(_ type: Substring) -> String {
    let name = type.split(separator: ".").last.map(String.init) ?? ""
    switch name.replacing(">", with: "") {
    case "Int32Value": return "int32"
    case "Int64Value", "uint64": return "int64"
    case "DoubleValue": return "double"
    case "Timestamp": return "timestamp"
    case "NullValue": return "null"
    case let name: return name
    }
  }
}

extension MessageShape.Member {
  fileprivate var text: String {
    let type: String
    switch self.type {
    case .message(let name), .choice(let name):
      type = name.split(separator: ".").last.map(String.init) ?? ""
    default: type = "\(self.type)"
    }
    return "\(name) \(type) \(count) \(choice ?? "-")"
  }
}
