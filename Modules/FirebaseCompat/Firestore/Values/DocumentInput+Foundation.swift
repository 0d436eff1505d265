import Foundation
import TernCore

extension DocumentInput {
  /// Reads what Firebase code passes as a value, in its Swift or Foundation form.
  ///
  /// The order of checks matters: a scalar or a value of Firestore's own first, then dictionaries
  /// and arrays, then optionals inside `Any`, which no cast finds.
  ///
  /// - Parameter database: The database that references must lead into; `nil` for any.
  /// - Throws: ``FirestoreArgumentError``, naming the field.
  init(
    foundation value: Any, in database: DocumentDatabase?, depth: Int = 0
  ) throws(FirestoreArgumentError) {
    if let scalar = try DocumentInput.scalar(value, database) {
      self = scalar
    } else if let members = value as? [String: Any] {
      self = .map(try DocumentInput.fields(members, in: database, depth: depth + 1))
    } else if let elements = value as? [Any] {
      try DocumentInput.checkDepth(depth + 1)
      var inputs: [DocumentInput] = []
      inputs.reserveCapacity(elements.count)
      for (index, element) in elements.enumerated() {
        do throws(FirestoreArgumentError) {
          inputs.append(try DocumentInput(foundation: element, in: database, depth: depth + 1))
        } catch {
          throw error.inside("\(index)")
        }
      }
      self = .array(inputs)
    } else if let members = value as? [AnyHashable: Any] {
      throw .unsupportedKey("\(members.keys.first { !($0.base is String) }?.base ?? "")")
    } else {
      self = try DocumentInput.unwrapped(value, database, depth)
    }
  }

  /// Reads the fields of a document or a map.
  static func fields(
    _ members: [String: Any], in database: DocumentDatabase?, depth: Int = 0
  ) throws(FirestoreArgumentError) -> [Field] {
    try checkDepth(depth)
    var fields: [Field] = []
    fields.reserveCapacity(members.count)
    for (name, member) in members {
      do throws(FirestoreArgumentError) {
        fields.append(
          Field(name, try DocumentInput(foundation: member, in: database, depth: depth)))
      } catch {
        throw error.inside(name)
      }
    }
    return fields
  }

  /// Ends the way down before the stack does; what is allowed is checked with the whole.
  ///
  /// The error itself is the one that the limit on whole documents gives.
  private static func checkDepth(_ depth: Int) throws(FirestoreArgumentError) {
    if depth > DocumentLimits.depth + 1 {
      throw .document(.tooDeep(DocumentFieldPath(unchecked: ["…"]), limit: DocumentLimits.depth))
    }
  }

  /// An optional inside an `Any`.
  private static func unwrapped(
    _ value: Any, _ database: DocumentDatabase?, _ depth: Int
  ) throws(FirestoreArgumentError) -> DocumentInput {
    let mirror = Mirror(reflecting: value)
    guard mirror.displayStyle == .optional else {
      throw .unsupportedType(String(describing: type(of: value)), field: "")
    }
    guard let inner = mirror.children.first?.value else { return .value(.null) }
    return try DocumentInput(foundation: inner, in: database, depth: depth)
  }

  /// Reads a value that is no collection.
  ///
  /// - Returns: `nil` for collections and unknown types.
  private static func scalar(
    _ value: Any, _ database: DocumentDatabase?
  ) throws(FirestoreArgumentError) -> DocumentInput? {
    if let plain = try DocumentValue(plain: value) { return .value(plain) }
    switch value {
    case let value as FieldValue:
      switch value.kind {
      case .delete: return .delete
      case .invalid(let error): throw error
      case .transform(let transform):
        try transform.checkReferences(in: database)
        return .transform(transform)
      }
    case let reference as DocumentReference:
      let name = try reference.name()
      if let database, name.database != database {
        throw .foreignDocument(reference.path)
      }
      return .value(.reference(name))
    default: return nil
    }
  }
}

extension DocumentTransform {
  /// Checks that references among the operands lead into the database.
  fileprivate func checkReferences(
    in database: DocumentDatabase?
  ) throws(FirestoreArgumentError) {
    guard let database else { return }
    switch self {
    case .arrayUnion(let values), .arrayRemove(let values):
      for value in values { try value.checkReferences(in: database) }
    case .serverTimestamp, .increment, .maximum, .minimum: break
    }
  }
}

extension DocumentValue {
  /// Reads a value that stands in a query or among operands: no ``FieldValue`` is in it.
  init(foundation value: Any, in database: DocumentDatabase?) throws(FirestoreArgumentError) {
    self = try DocumentValue(DocumentInput(foundation: value, in: database))
  }

  private init(_ input: DocumentInput) throws(FirestoreArgumentError) {
    switch input {
    case .value(let value): self = value
    case .delete, .transform: throw .misplacedFieldValue
    case .array(let elements):
      var values: [DocumentValue] = []
      for element in elements { values.append(try DocumentValue(element)) }
      self = .array(values)
    case .map(let fields):
      var map = DocumentMap()
      for field in fields { map[field.name] = try DocumentValue(field.input) }
      self = .map(map)
    }
  }

  /// Checks that references in the value lead into the database.
  func checkReferences(in database: DocumentDatabase) throws(FirestoreArgumentError) {
    switch self {
    case .reference(let name):
      if name.database != database { throw .foreignDocument(name.key.text) }
    case .array(let elements):
      for element in elements { try element.checkReferences(in: database) }
    case .map(let map):
      for entry in map.entries { try entry.value.checkReferences(in: database) }
    case .null, .boolean, .integer, .double, .timestamp, .string, .bytes, .geoPoint, .vector,
      .pendingTimestamp:
      break
    }
  }
}
