import TernCore
import TernQuery

/// Reads and writes documents as text, in the form that a command was asked for.
struct DocumentText: Sendable {
  private let values: DocumentValueJSON
  private let database: DocumentDatabase

  /// - Parameter isTyped: Whether every value names its type, as in REST.
  init(_ database: DocumentDatabase, isTyped: Bool) {
    values = DocumentValueJSON(isTyped ? .typed : .plain, in: database)
    self.database = database
  }

  // MARK: - Reading

  /// Reads the fields of a document.
  func fields(_ text: String) throws(Failure) -> DocumentMap {
    let json = try json(Array(text.utf8), "fields", hint: "; fields are a JSON object")
    warnOfUnknownTypes(in: json)
    do throws(DocumentJSONError) { return try values.fields(json) } catch {
      throw Failure(.usage, "fields: \(error.rule)")
    }
  }

  /// Reads the fields of a document from a part of a larger text.
  func fields(_ json: JSONValue) throws(DocumentJSONError) -> DocumentMap {
    try values.fields(json)
  }

  /// Reads one value.
  ///
  /// - Parameter what: What the value is for, in messages.
  func value(_ text: String, _ what: String) throws(Failure) -> DocumentValue {
    let json = try json(Array(text.utf8), what, hint: textHint(text))
    warnOfUnknownTypes(in: json)
    do throws(DocumentJSONError) { return try values.value(json) } catch {
      throw Failure(.usage, "\(what): \(error.rule)")
    }
  }

  /// Returns the operand for the key in a filter or cursor: the document that a text names.
  func keyOperand(
    _ value: DocumentValue, of query: DocumentQuery
  ) throws(DocumentQueryError) -> DocumentValue {
    switch value {
    case .string(let text): return try query.keyOperand(text, in: database)
    case .array(let elements):
      var operands: [DocumentValue] = []
      for element in elements { operands.append(try keyOperand(element, of: query)) }
      return .array(operands)
    default: return value
    }
  }

  /// Warns of objects that look like a typed value and are taken for maps: `{"intValue": "5"}`.
  private func warnOfUnknownTypes(in json: JSONValue) {
    switch json {
    case .object(let members):
      if members.count == 1, let name = members.first?.name, name.hasSuffix("Value"),
        !Self.typeNames.contains(name)
      {
        let near = VerbCheck.nearest(to: name, among: Self.typeNames)
        printError(
          "tern: warning: \(json.json) is stored as a map: \(name) is no type of a value"
            + (near.map { "; did you mean \($0)?" } ?? ""))
      }
      for member in members { warnOfUnknownTypes(in: member.value) }
    case .array(let elements): for element in elements { warnOfUnknownTypes(in: element) }
    case .null, .bool, .integer, .double, .string: break
    }
  }

  /// The names of types, as REST spells them.
  private static let typeNames = [
    "nullValue", "booleanValue", "integerValue", "doubleValue", "timestampValue", "stringValue",
    "bytesValue", "referenceValue", "geoPointValue", "arrayValue", "mapValue",
  ]

  // MARK: - Writing

  /// Writes fields; `nil` is null.
  func write(_ fields: DocumentMap?, to writer: inout JSONWriter) {
    if let fields { values.write(fields, to: &writer) } else { writer.null() }
  }

  /// Writes a value.
  func write(_ value: DocumentValue, to writer: inout JSONWriter) {
    values.write(value, to: &writer)
  }

  /// Fields on one line; `nil` is null.
  func line(_ fields: DocumentMap?) -> String {
    var writer = JSONWriter()
    write(fields, to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// A value on one line.
  func line(_ value: DocumentValue) -> String {
    var writer = JSONWriter()
    write(value, to: &writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension DocumentJSONError {
  /// The broken rule, in words.
  var rule: String {
    switch self {
    case .notFields: "the fields of a document are a JSON object"
    case .untyped(let place):
      "\(Self.place(place))must name its type: {\"integerValue\": \"1\"}"
    case .malformed(let type, let place):
      "\(Self.place(place))is no \(type)" + (Self.examples[type].map { "; one is \($0)" } ?? "")
    }
  }

  private static let examples = [
    "timestampValue": #"{"timestampValue": "2026-11-21T09:00:00Z"}"#,
    "bytesValue": #"{"bytesValue": "AAE="}"#,
    "referenceValue": #"{"referenceValue": "cities/SF"}"#,
    "geoPointValue": #"{"geoPointValue": {"latitude": 37.7, "longitude": -122.4}}"#,
    "integerValue": #"{"integerValue": "1"}"#, "doubleValue": #"{"doubleValue": "NaN"}"#,
  ]

  private static func place(_ names: [String]) -> String {
    names.isEmpty ? "it " : "\(DocumentFieldPath(unchecked: names).text) "
  }
}

/// Reads the path of a field: names joined by dots, in backticks where needed.
func fieldPath(_ text: String) throws(Failure) -> DocumentFieldPath {
  if text.contains(" "), !text.contains("`") {
    throw Failure(
      .usage, "\"\(text)\" is no path of a field; a name with a space stands in backticks")
  }
  do throws(DocumentError) {
    return text == "__name__" ? .key : try DocumentFieldPath(wire: text)
  } catch {
    throw Failure(.usage, "\"\(text)\" is no path of a field")
  }
}
