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
    let json = try json(text, "fields")
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
    let json = try json(text, what)
    do throws(DocumentJSONError) { return try values.value(json) } catch {
      throw Failure(.usage, "\(what): \(error.rule)")
    }
  }

  private func json(_ text: String, _ what: String) throws(Failure) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: text) } catch {
      throw Failure(
        .usage,
        "\(what): not JSON at byte \(error.offset): \(error.reason); a text needs quotes")
    }
  }

  /// What stands for the key in a filter or cursor: the document that a text names.
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
  /// What is wrong, in words.
  var rule: String {
    switch self {
    case .notFields: "the fields of a document are a JSON object"
    case .untyped(let place):
      "\(Self.place(place))must name its type: {\"integerValue\": \"1\"}"
    case .malformed(let type, let place): "\(Self.place(place))is no \(type)"
    }
  }

  private static func place(_ names: [String]) -> String {
    names.isEmpty ? "it " : "\(DocumentFieldPath(unchecked: names).text) "
  }
}

/// Reads the path of a field: names joined by dots, in backticks where needed.
func fieldPath(_ text: String) throws(Failure) -> DocumentFieldPath {
  do throws(DocumentError) {
    return text == "__name__" ? .key : try DocumentFieldPath(wire: text)
  } catch {
    throw Failure(.usage, "\"\(text)\" is no path of a field")
  }
}
