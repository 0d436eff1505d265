/// A type that a ``DocumentID`` can be: a `String`, or a ``DocumentLocation``.
public protocol DocumentIdentifier: Codable, Sendable {
  /// Names a document.
  init(naming reference: DocumentLocation)
}

extension String: DocumentIdentifier {
  /// The id of a document.
  public init(naming reference: DocumentLocation) { self = reference.id }
}

extension DocumentLocation: DocumentIdentifier {
  /// The document itself.
  public init(naming reference: DocumentLocation) { self = reference }
}

/// The id of the document that a value was decoded from; it is never written.
///
/// ```swift
/// struct City: Codable {
///   @DocumentID var id: String?
///   var name: String
/// }
/// ```
@propertyWrapper
public struct DocumentID<Value: DocumentIdentifier>: Codable, Sendable {
  /// The id; `nil` for a value that was not decoded from a document.
  public var wrappedValue: Value?

  /// Wraps an id.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// - Throws: `DecodingError` for any decoder but that of a ``SingleDocumentSnapshot``.
  public init(from decoder: any Decoder) throws {
    guard let key = CodingUserInfoKey.decodedDocument,
      let reference = decoder.userInfo[key] as? DocumentLocation
    else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "only the snapshot of a document has an id to decode"))
    }
    wrappedValue = Value(naming: reference)
  }

  /// Writes null; as a member of a structure it is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension KeyedDecodingContainer {
  /// The id of the document that is decoded.
  ///
  /// - Throws: `DecodingError` when the document has a field of that name.
  public func decode<Value>(
    _ type: DocumentID<Value>.Type, forKey key: Key
  ) throws -> DocumentID<Value> {
    guard !contains(key) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: codingPath + [key],
          debugDescription: "the document has a field where the type has its DocumentID"))
    }
    return try DocumentID(from: superDecoder(forKey: key))
  }
}

extension KeyedEncodingContainer {
  /// Writes nothing: the id of a document is not among its fields.
  public mutating func encode<Value>(_ value: DocumentID<Value>, forKey key: Key) throws {}
}

extension CodingUserInfoKey {
  /// The document that is decoded: a ``DocumentLocation``.
  static let decodedDocument = CodingUserInfoKey(rawValue: "tern.document")
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}
