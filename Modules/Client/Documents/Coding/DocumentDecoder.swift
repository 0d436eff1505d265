public import TernCore

/// Turns what documents hold into `Decodable` values.
///
/// Maps become structures and dictionaries, arrays and vectors lists. A number decodes into every
/// number type that holds it exactly, and into `Float`; a boolean is not a number. A field that is
/// missing or null decodes into an optional as `nil`.
public struct DocumentDecoder: Sendable {
  /// Converts a value to a foreign type; `nil` leaves it to the type's own decoding.
  package var conversion: @Sendable (any Decodable.Type, DocumentValue) throws -> (any Decodable)? =
    { _, _ in nil }
  /// The database that references lead to.
  package var documents: Documents?
  /// The document that is decoded, for a ``DocumentID``.
  var document: DocumentLocation?
  /// The information for types that decode themselves.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  /// Makes a decoder; it has nothing to set. Without a database it decodes no
  /// ``DocumentLocation``; ``SingleDocumentSnapshot/decode(_:_:)`` knows one.
  public init() {}

  /// Decodes the fields of a document.
  ///
  /// - Throws: ``DocumentCodingError/decoding(_:)`` with the place and the reason.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from fields: DocumentMap
  ) throws(DocumentCodingError) -> Value {
    try decode(type, from: .map(fields))
  }

  /// Decodes one value.
  ///
  /// - Throws: ``DocumentCodingError/decoding(_:)`` with the place and the reason.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from value: DocumentValue
  ) throws(DocumentCodingError) -> Value {
    do { return try decodeValue(type, from: value) } catch {
      throw .decoding(codingErrorText(error))
    }
  }

  /// Decodes one value.
  ///
  /// - Throws: `DecodingError`, and what types throw that decode themselves.
  package func decodeValue<Value: Decodable>(
    _ type: Value.Type, from value: DocumentValue
  ) throws -> Value {
    try ValueDecoder(coder: self, value: value, codingPath: []).decode(type)
  }
}

/// The decoder of one value.
struct ValueDecoder: Decoder, SingleValueDecodingContainer {
  let coder: DocumentDecoder
  let value: DocumentValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] {
    guard let document = coder.document, let key = CodingUserInfoKey.decodedDocument else {
      return coder.userInfo
    }
    return coder.userInfo.merging([key: document]) { given, _ in given }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let map) = value else { throw mismatch(type, "a map") }
    return KeyedDecodingContainer(
      FieldDecoding<Key>(coder: coder, map: map, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch value {
    case .array(let elements):
      return ElementDecoding(coder: coder, elements: elements, codingPath: codingPath)
    case .vector(let numbers):
      return ElementDecoding(
        coder: coder, elements: numbers.map { .double($0) }, codingPath: codingPath)
    default: throw mismatch([DocumentValue].self, "an array")
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool {
    if case .null = value { true } else { false }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let converted = try coder.conversion(type, value) {
      guard let converted = converted as? Value else { throw mismatch(type, "a \(type)") }
      return converted
    }
    guard let coded = type as? any DocumentCoded.Type else { return try type.init(from: self) }
    guard let decoded = coded.decoded(from: value, in: coder.documents) as? Value else {
      throw mismatch(type, "a \(type)")
    }
    return decoded
  }

  private func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    .typeMismatch(
      type,
      .init(codingPath: codingPath, debugDescription: "\(value.json()) is not \(expected)"))
  }
}
