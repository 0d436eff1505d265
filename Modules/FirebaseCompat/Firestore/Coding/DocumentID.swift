import TernCore

/// A type for a ``DocumentID``: a `String`, or a ``DocumentReference``.
public protocol DocumentIDWrappable {
  /// Returns the representation of a document.
  static func wrap(_ documentReference: DocumentReference) throws -> Self
}

extension String: DocumentIDWrappable {
  /// The id of the document.
  public static func wrap(_ documentReference: DocumentReference) throws -> String {
    documentReference.documentID
  }
}

extension DocumentReference: DocumentIDWrappable {
  /// The document itself.
  public static func wrap(_ documentReference: DocumentReference) throws -> Self {
    guard let reference = documentReference as? Self else {
      throw FirestoreDecodingError.decodingIsNotSupported(
        "A DocumentID of the type \(Self.self) cannot be decoded.")
    }
    return reference
  }
}

/// The id of the document a value was decoded from; it is not written.
///
/// ```swift
/// struct City: Codable {
///   @DocumentID var id: String?
///   var name: String
/// }
/// ```
@propertyWrapper
public struct DocumentID<Value: DocumentIDWrappable & Codable> {
  /// The id; `nil` for a value that was not decoded.
  public var wrappedValue: Value?

  /// Wraps an id.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension DocumentID: Codable {
  /// - Throws: ``FirestoreDecodingError/decodingIsNotSupported(_:)`` for any decoder but
  ///   ``Firestore/Decoder``.
  public init(from decoder: any Decoder) throws {
    guard let key = CodingUserInfoKey.documentReference,
      let reference = decoder.userInfo[key] as? DocumentReference
    else {
      throw FirestoreDecodingError.decodingIsNotSupported(
        "A DocumentID is decoded by Firestore.Decoder only, of a document it is told.")
    }
    wrappedValue = try Value.wrap(reference)
  }

  /// Writes `null`; as a member of a structure it is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension KeyedDecodingContainer {
  /// The id of the document that is decoded.
  public func decode<Value>(
    _ type: DocumentID<Value>.Type, forKey key: Key
  ) throws -> DocumentID<Value> {
    if contains(key) { throw FirestoreDecodingError.fieldNameConflict(key.stringValue) }
    return try DocumentID(from: superDecoder(forKey: key))
  }
}

extension KeyedEncodingContainer {
  /// Writes nothing: the id of a document is not among its fields.
  public mutating func encode<Value>(_ value: DocumentID<Value>, forKey key: Key) throws {}
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}
extension DocumentID: Sendable where Value: Sendable {}
