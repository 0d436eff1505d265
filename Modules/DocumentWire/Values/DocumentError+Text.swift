package import TernCore

extension DocumentError {
  /// The rule that is broken, in words.
  ///
  /// Statuses about a name, a value or a write carry `serviceText` instead.
  package var text: String {
    switch self {
    case .emptySegment(let path): "the path \(path) has an empty segment"
    case .notCollection(let path): "\"\(path)\" is no path of a collection"
    case .notDocument(let path): "\"\(path)\" is no path of a document"
    case .invalidID(let id): "\"\(id)\" is no id of a collection or document"
    case .idTooLong(let count, let limit): "an id of \(count) bytes, at most \(limit) are allowed"
    case .nameTooLong(let count, let limit):
      "a name of \(count) bytes, at most \(limit) are allowed"
    case .tooManyCollections(let count, let limit):
      "a path through \(count) collections, at most \(limit) are allowed"
    case .invalidDatabaseID(let id): "\"\(id)\" is no id of a database"
    case .invalidProjectID(let id): "\"\(id)\" is no id of a project"
    case .invalidResourceName(let name): "\"\(name)\" is no name of this kind"
    case .invalidFieldPath(let text): "\"\(text)\" is no field path"
    case .fieldPathTooLong(let count, let limit):
      "a field path of \(count) bytes, at most \(limit) are allowed"
    case .emptyFieldName: "a field has no name"
    case .reservedFieldName(let name): "the field name \(name) is reserved"
    case .fieldNameTooLong(let count, let limit):
      "a field name of \(count) bytes, at most \(limit) are allowed"
    case .overlappingFields(let one, let other): "\(one) and \(other) overlap"
    case .missingMergeField(let path): "\(path) does not occur in the data"
    case .misplacedDelete(let path): "\(path) cannot be deleted here"
    case .misplacedTransform(let path): "\(path) cannot be transformed here"
    case .batchTooLarge(let byteCount, let limit):
      "writes that are made together take \(byteCount) bytes, the limit is \(limit)"
    case .tooManyTransforms(let count, let limit):
      "\(count) transforms in one write, at most \(limit) are allowed"
    case .nestedArray(let path): "\(path) holds an array in an array"
    case .valueTooLong(let path, let count, let limit):
      "\(path) has \(count) bytes, at most \(limit) are allowed"
    case .tooDeep(let path, let limit): "\(path) is nested more than \(limit) levels deep"
    case .vectorTooLong(let path, let count, let limit):
      "\(path) has \(count) dimensions, at most \(limit) are allowed"
    case .invalidVector(let path): "\(path) is a vector without dimensions or with NaN"
    case .documentTooLarge(let count, let limit):
      "a document of \(count) bytes, at most \(limit) are allowed"
    case .foreignReference(let path, let name):
      "\(path) leads into another database: \(name.resourceName)"
    case .timestampOutOfRange(let seconds, let nanoseconds):
      "a time of \(seconds) seconds and \(nanoseconds) nanoseconds is not in the years 1 to 9999"
    case .latitudeOutOfRange(let degrees): "a latitude of \(degrees) is not in -90...90"
    case .longitudeOutOfRange(let degrees): "a longitude of \(degrees) is not in -180...180"
    case .pendingTimestamp(let path): "\(path) is a server timestamp that is not known yet"
    }
  }
}
