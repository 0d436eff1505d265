extension DocumentError {
  /// The rule that is broken, in the words of the Firestore service, which programs look for.
  ///
  /// Source: firestore server reference, section 2.2.
  ///
  /// Programs look for parts of it, so it must not be reworded.
  package var serviceText: String {
    switch self {
    case .invalidID(let id):
      id.contains("/")
        ? "Resource id \"\(id)\" is invalid because it contains \"/\"."
        : id.isReserved
          ? "Resource id \"\(id)\" is invalid because it is reserved."
          : "Resource id \"\(id)\" is invalid."
    case .idTooLong(_, let limit): "The key path element name is longer than \(limit) bytes."
    case .emptySegment(let path):
      "Document name \"\(path)\" has an empty resource id."
    case .notCollection(let path), .notDocument(let path):
      "Document name \"\(path)\" lacks \"/\" at index \(path.utf8.count)."
    case .nameTooLong(_, let limit): "The name of a document is longer than \(limit) bytes."
    case .tooManyCollections(let count, let limit):
      "A document name leads through \(count) collections, at most \(limit) are allowed."
    case .invalidDatabaseID(let id): "The database id \"\(id)\" is invalid."
    case .invalidProjectID(let id): "The project id \"\(id)\" is invalid."
    case .invalidResourceName(let name): DocumentError.resourceNameText(name)
    case .foreignReference(_, let name):
      "The request was for another database than '\(name.database.resourceName)'"
    case .invalidFieldPath, .fieldPathTooLong, .emptyFieldName, .reservedFieldName,
      .fieldNameTooLong, .overlappingFields, .missingMergeField, .misplacedDelete,
      .misplacedTransform, .tooManyTransforms, .batchTooLarge:
      fieldText
    case .nestedArray, .valueTooLong, .tooDeep, .vectorTooLong, .invalidVector,
      .documentTooLarge, .timestampOutOfRange, .latitudeOutOfRange, .longitudeOutOfRange,
      .pendingTimestamp:
      valueText
    }
  }

  private static func resourceNameText(_ name: String) -> String {
    name.utf8.starts(with: "projects".utf8)
      ? "Document name \"\(name)\" lacks \"/\" at index \(name.utf8.count)."
      : "Document name \"\(name)\" lacks \"projects\" at index 0."
  }

  /// The sentences about paths and names of fields.
  private var fieldText: String {
    switch self {
    case .invalidFieldPath(let text):
      text.isEmpty
        ? "Invalid empty property path string."
        : "Invalid property path \"\(text)\". Unquoted property paths must match regex "
          + "([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex "
          + "(`(?:[^`\\\\]|(?:\\\\.))+`)"
    case .fieldPathTooLong(_, let limit): "property path is longer than \(limit) bytes."
    case .emptyFieldName: "The property.name is the empty string."
    case .reservedFieldName(let name): "field name \(name) is reserved"
    case .fieldNameTooLong(_, let limit): "The property.name is longer than \(limit) bytes."
    case .overlappingFields(let one, let other): "Field paths \(one) and \(other) overlap."
    case .missingMergeField(let path), .misplacedDelete(let path), .misplacedTransform(let path):
      "Field path \(path) is not allowed here."
    case .tooManyTransforms(let count, let limit):
      "\(count) field transforms for one document, at most \(limit) are allowed."
    case .batchTooLarge(let count, let limit):
      "Request payload size exceeds the limit: \(limit) bytes (\(count))."
    default: "\(self)"
    }
  }

  /// The sentences about values and documents.
  private var valueText: String {
    switch self {
    case .nestedArray: "Nested arrays are not allowed"
    case .valueTooLong(let path, _, let limit):
      "The value of property \"\(path)\" is longer than \(limit) bytes."
    case .tooDeep(let path, _):
      "Property \(path.names[0]) contains an invalid nested entity."
    case .vectorTooLong(let path, let count, let limit):
      "The vector \(path) has \(count) dimensions, at most \(limit) are allowed."
    case .invalidVector(let path):
      "The vector \(path) has no dimensions, or contains NaN."
    case .documentTooLarge(let count, let limit):
      "The document cannot be written because its size (\(count) bytes) exceeds the maximum "
        + "allowed size of \(limit) bytes."
    case .timestampOutOfRange(let seconds, let nanoseconds):
      "A timestamp of \(seconds) seconds and \(nanoseconds) nanoseconds is out of range."
    case .latitudeOutOfRange(let degrees):
      "Geo point latitude '\(degrees)' outside permitted range -90.0 to 90.0."
    case .longitudeOutOfRange(let degrees):
      "Geo point longitude '\(degrees)' outside permitted range -180.0 to 180.0."
    case .pendingTimestamp(let path):
      "The value of property \"\(path)\" is a timestamp that is not known yet."
    default: "\(self)"
    }
  }
}
