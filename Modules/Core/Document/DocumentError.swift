/// A rule of the document model that an argument breaks.
///
/// Every case is a mistake of the caller, found before anything changed: correct the argument.
/// Source: documents reference, sections 1.2, 1.3, 1.9, 3.1 and 3.2.
public enum DocumentError: Error, Hashable, Sendable {
  /// A path holds an empty segment.
  case emptySegment(path: String)
  /// A path with an even number of segments, or none, stands where a collection is wanted.
  case notCollection(path: String)
  /// A path with an odd number of segments, or none, stands where a document is wanted.
  case notDocument(path: String)
  /// An id is `.`, `..`, of the form `__.*__`, empty, or holds a slash.
  case invalidID(String)
  /// An id is longer than ``DocumentLimits/idBytes``.
  case idTooLong(byteCount: Int, limit: Int)
  /// A path is longer than ``DocumentLimits/nameBytes``.
  case nameTooLong(byteCount: Int, limit: Int)
  /// A path leads through more collections than ``DocumentLimits/collectionDepth``.
  case tooManyCollections(count: Int, limit: Int)
  /// A database is not `(default)` nor 4 to 63 of `a-z`, `0-9` and `-`, a letter first.
  case invalidDatabaseID(String)
  /// A project is empty or holds a slash.
  case invalidProjectID(String)
  /// A text is not the resource name of a document.
  case invalidResourceName(String)

  /// A text is not a field path: the form is wrong or a component is empty.
  case invalidFieldPath(String)
  /// A field path is longer than ``DocumentLimits/fieldPathBytes``.
  case fieldPathTooLong(byteCount: Int, limit: Int)
  /// A field that would be written has no name.
  case emptyFieldName
  /// A field that would be written begins and ends with two underscores.
  case reservedFieldName(String)
  /// The name of a field is longer than ``DocumentLimits/fieldNameBytes``.
  case fieldNameTooLong(byteCount: Int, limit: Int)

  /// An array lies directly in an array.
  case nestedArray(DocumentFieldPath)
  /// A string or byte string is larger than ``DocumentLimits/valueBytes``.
  case valueTooLong(DocumentFieldPath, byteCount: Int, limit: Int)
  /// A value lies in more maps and arrays than ``DocumentLimits/depth``.
  case tooDeep(DocumentFieldPath, limit: Int)
  /// A vector has more dimensions than ``DocumentLimits/vectorDimensions``.
  case vectorTooLong(DocumentFieldPath, count: Int, limit: Int)
  /// A vector has no dimensions, or one of its numbers is NaN.
  case invalidVector(DocumentFieldPath)
  /// A document is larger than ``DocumentLimits/documentBytes``.
  case documentTooLarge(byteCount: Int, limit: Int)
  /// A reference leads to another database.
  case foreignReference(DocumentFieldPath, DocumentName)
  /// A time is outside the years 1 to 9999, or has not 0 to 999,999,999 nanoseconds.
  case timestampOutOfRange(seconds: Int64, nanoseconds: Int32)
  /// A latitude is not in -90...90.
  case latitudeOutOfRange(Double)
  /// A longitude is not in -180...180.
  case longitudeOutOfRange(Double)
  /// A pending server timestamp, which only local documents hold, stands in data.
  case pendingTimestamp(DocumentFieldPath)

  /// One path of a write equals another or leads into it.
  case overlappingFields(DocumentFieldPath, DocumentFieldPath)
  /// A field to be merged does not occur in the data.
  case missingMergeField(DocumentFieldPath)
  /// A field is to be deleted where only values can stand.
  case misplacedDelete(DocumentFieldPath)
  /// A transform stands in an array or among the operands of another.
  case misplacedTransform(DocumentFieldPath)
  /// A write has more transforms than ``DocumentLimits/transforms``.
  case tooManyTransforms(count: Int, limit: Int)
  /// Writes that are made together are more bytes than a server takes in one request. Split them.
  case batchTooLarge(byteCount: Int, limit: Int)
}
