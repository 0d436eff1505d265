import TernCore

/// A type whose values are single values of a document, not maps or arrays of them.
protocol DocumentCoded {
  /// Returns the value for a document; `nil` when no value represents it exactly.
  func documentInput() -> DocumentInput?

  /// Creates an instance from a document's value; `nil` when it is none of this type.
  ///
  /// - Parameter documents: Where references lead to.
  static func decoded(from value: DocumentValue, in documents: Documents?) -> Self?
}

extension Bool: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.boolean(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> Bool? {
    if case .boolean(let flag) = value { flag } else { nil }
  }
}

extension String: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.string(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> String? {
    if case .string(let text) = value { text } else { nil }
  }
}

extension Double: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.double(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> Double? {
    switch value {
    case .double(let number): number
    case .integer(let number): Double(exactly: number)
    default: nil
    }
  }
}

extension Float: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.double(Double(self))) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> Float? {
    Double.decoded(from: value, in: documents).map { Float($0) }
  }
}

extension DocumentCoded where Self: FixedWidthInteger {
  func documentInput() -> DocumentInput? { Int64(exactly: self).map { .value(.integer($0)) } }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> Self? {
    switch value {
    case .integer(let number): Self(exactly: number)
    case .double(let number): Self(exactly: number)
    default: nil
    }
  }
}

extension Int: DocumentCoded {}
extension Int8: DocumentCoded {}
extension Int16: DocumentCoded {}
extension Int32: DocumentCoded {}
extension Int64: DocumentCoded {}
extension UInt: DocumentCoded {}
extension UInt8: DocumentCoded {}
extension UInt16: DocumentCoded {}
extension UInt32: DocumentCoded {}
extension UInt64: DocumentCoded {}

extension Array: DocumentCoded where Element == UInt8 {
  func documentInput() -> DocumentInput? { .value(.bytes(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> [UInt8]? {
    if case .bytes(let bytes) = value { bytes } else { nil }
  }
}

extension DocumentTimestamp: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.timestamp(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> DocumentTimestamp? {
    if case .timestamp(let time) = value { time } else { nil }
  }
}

extension DocumentGeoPoint: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.geoPoint(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> DocumentGeoPoint? {
    if case .geoPoint(let point) = value { point } else { nil }
  }
}

extension DocumentName: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.reference(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> DocumentName? {
    if case .reference(let name) = value { name } else { nil }
  }
}

extension DocumentValue: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(self) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> DocumentValue? {
    value
  }
}

extension DocumentMap: DocumentCoded {
  func documentInput() -> DocumentInput? { .value(.map(self)) }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> DocumentMap? {
    if case .map(let map) = value { map } else { nil }
  }
}

extension DocumentLocation: DocumentCoded {
  func documentInput() -> DocumentInput? {
    guard let key = try? key.get() else { return nil }
    return .value(.reference(DocumentName(key, in: documents.database)))
  }

  static func decoded(from value: DocumentValue, in documents: Documents?) -> DocumentLocation? {
    guard case .reference(let name) = value, let documents, name.database == documents.database
    else { return nil }
    return DocumentLocation(documents: documents, key: .success(name.key))
  }
}

/// Only a ``DocumentEncoder`` can encode it; decoding takes a snapshot, which knows the database.
extension DocumentLocation: Codable {
  public init(from decoder: any Decoder) throws {
    throw DecodingError.onlyDocuments(DocumentLocation.self, decoder.codingPath)
  }

  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.onlyDocuments(self, encoder.codingPath)
  }
}
