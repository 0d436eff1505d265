import TernClient
public import TernCore
public import TernQuery

/// A rule that an argument breaks; found before anything was written, sent or asked.
///
/// The underlying error of those with the code ``FirestoreErrorCode/invalidArgument`` that arise
/// on this device.
public enum FirestoreArgumentError: Error, Hashable, Sendable {
  /// A value is of a type that documents do not hold.
  case unsupportedType(String, field: String)
  /// A whole number is larger than 64 bits with a sign can hold.
  case numberTooLarge(String, field: String)
  /// A key of a map, or a field that is named, is neither a `String` nor a ``FieldPath``.
  case unsupportedKey(String)
  /// A ``FieldValue`` stands where only a value can stand.
  case misplacedFieldValue
  /// A document belongs to another ``Firestore``.
  case foreignDocument(String)
  /// A path, a name or a value breaks a rule of documents.
  case document(DocumentError)
  /// A query breaks a rule.
  case query(DocumentQueryError)
  /// A configuration of indexes is not one.
  case indexes(String)

  /// The reason, in words.
  var text: String {
    switch self {
    case .unsupportedType(let type, let field):
      "Documents do not hold values of the type \(type) (field \(field))."
    case .numberTooLarge(let number, let field):
      "The number \(number) is too large (field \(field))."
    case .unsupportedKey(let key): "\(key) is no name of a field."
    case .misplacedFieldValue: "A FieldValue cannot stand in a query or an array."
    case .foreignDocument(let path): "The document \(path) belongs to another Firestore."
    case .document(.foreignReference(let field, let name)):
      "The field \(field) refers to \(name.resourceName), in another database."
    case .document(let error): "This breaks a rule of documents: \(DocumentsError.invalid(error))"
    case .query(let error): "This query is not possible: \(DocumentsError.invalidQuery(error))"
    case .indexes(let reason): "The configuration of indexes is refused: \(reason)"
    }
  }

  /// Runs something that may break a rule of documents.
  static func naming<R>(
    _ body: () throws(DocumentError) -> R
  ) throws(FirestoreArgumentError) -> R {
    do throws(DocumentError) { return try body() } catch { throw .document(error) }
  }

  /// Runs something that may break a rule of queries.
  static func checking<R>(
    _ body: () throws(DocumentQueryError) -> R
  ) throws(FirestoreArgumentError) -> R {
    do throws(DocumentQueryError) { return try body() } catch { throw .query(error) }
  }

  /// The same error, as of a value that lies in a map or an array.
  func inside(_ name: String) -> FirestoreArgumentError {
    switch self {
    case .unsupportedType(let type, let field):
      .unsupportedType(type, field: field.isEmpty ? name : name + "." + field)
    case .numberTooLarge(let number, let field):
      .numberTooLarge(number, field: field.isEmpty ? name : name + "." + field)
    default: self
    }
  }
}
