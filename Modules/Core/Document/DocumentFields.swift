/// The contents of a document, as one contiguous run of bytes.
///
/// A field is found by walking over the others; nothing else is read or allocated. Equality is
/// that of the bytes, which is exact equality of the values.
/// Source: Docs/Formats/document-values.md.
public struct DocumentFields: Hashable, Sendable {
  /// The packed map.
  package let bytes: [UInt8]

  /// No fields.
  public static let empty = DocumentFields(DocumentMap())

  /// Packs fields, which are not checked.
  public init(_ map: DocumentMap) { bytes = PackedValue(.map(map)).bytes }

  /// Takes over bytes from disk or wire.
  ///
  /// - Returns: `nil` when they are not one well-formed map.
  package init?(validating bytes: [UInt8]) {
    guard PackedCheck.isWellFormed(bytes.span) else { return nil }
    self.bytes = bytes
  }

  /// Takes over bytes that this type wrote and a checksum has vouched for.
  package init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  /// All fields.
  public var map: DocumentMap {
    var offset = 0
    guard case .map(let map) = Packed.value(bytes.span, &offset) else { return DocumentMap() }
    return map
  }

  /// The value at a path; `nil` when there is none.
  public subscript(path: DocumentFieldPath) -> DocumentValue? {
    var offset = 0
    for name in path.names {
      guard let next = Packed.field(named: name, in: bytes.span, at: offset) else { return nil }
      offset = next
    }
    return Packed.value(bytes.span, &offset)
  }

  /// The value of a top-level field; `nil` when there is none.
  public subscript(name: String) -> DocumentValue? {
    guard var offset = Packed.field(named: name, in: bytes.span, at: 0) else { return nil }
    return Packed.value(bytes.span, &offset)
  }

  /// The bytes the fields count for, without the document's own.
  package var byteCount: Int {
    var offset = 0
    return Packed.byteCount(bytes.span, &offset)
  }
}

extension DocumentFields: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, DocumentValue)...) {
    self.init(DocumentMap(elements.map { ($0.0, $0.1) }))
  }
}
