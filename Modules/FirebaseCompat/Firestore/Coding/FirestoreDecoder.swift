import Foundation
import TernClient
import TernCore

extension CodingUserInfoKey {
  /// The document that is decoded: a ``DocumentReference``.
  static let documentReference = CodingUserInfoKey(rawValue: "tern.documentReference")
}

/// Why a document could not be decoded, where it is not a `DecodingError`.
public enum FirestoreDecodingError: Error, Hashable, Sendable {
  /// What is decoded is nothing that documents hold.
  case unsupportedValue(FirestoreArgumentError)
  /// A ``DocumentID`` was decoded without a document.
  case noDocument
  /// The document has a field where the type has a ``DocumentID``.
  case fieldNameConflict(String)
}

extension Firestore {
  /// Turns the fields of documents into `Decodable` values.
  ///
  /// A number decodes into every type that holds it exactly; a boolean is not a number.
  public struct Decoder: Sendable {
    /// A decoder; there is nothing to choose.
    public init() {}

    /// Decodes what ``DocumentSnapshot/data()`` gives.
    ///
    /// - Parameter document: The document it is from, for ``DocumentID``.
    /// - Throws: `DecodingError`, ``FirestoreDecodingError``.
    public func decode<T: Decodable>(
      _ type: T.Type, from container: Any, in document: DocumentReference? = nil
    ) throws -> T {
      let value: DocumentValue
      do throws(FirestoreArgumentError) {
        value = try DocumentValue(foundation: container, in: nil)
      } catch {
        throw FirestoreDecodingError.unsupportedValue(error)
      }
      let owner = document?.firestore ?? Self.owner(of: container)
      return try decode(type, from: value, of: owner, in: document)
    }

    func decode<T: Decodable>(
      _ type: T.Type, from value: DocumentValue, of firestore: Firestore?,
      in document: DocumentReference?
    ) throws -> T {
      var decoder = DocumentDecoder()
      if let key = CodingUserInfoKey.documentReference, let document {
        decoder.userInfo[key] = document
      }
      decoder.conversion = { type, value in
        try (type as? any FirestoreDecodable.Type)?.decoded(from: value, of: firestore)
      }
      return try decoder.decodeValue(type, from: value)
    }

    /// The database of the references in a value.
    private static func owner(of container: Any) -> Firestore? {
      switch container {
      case let reference as DocumentReference: return reference.firestore
      case let members as [String: Any]:
        return members.values.lazy.compactMap { owner(of: $0) }.first
      case let elements as [Any]: return elements.lazy.compactMap { owner(of: $0) }.first
      default: return nil
      }
    }
  }
}

/// A type that is one value of a document, and not what it would decode itself from.
protocol FirestoreDecodable: Decodable {
  /// - Throws: `DecodingError` when the value is none of this type.
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> Self
}

extension FirestoreDecodable {
  fileprivate static func mismatch(_ value: DocumentValue) -> DecodingError {
    .typeMismatch(
      Self.self, .init(codingPath: [], debugDescription: "\(value) is not a \(Self.self)"))
  }
}

extension Date: FirestoreDecodable {
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> Date {
    try Timestamp.decoded(from: value, of: firestore).dateValue()
  }
}

extension Data: FirestoreDecodable {
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> Data {
    guard case .bytes(let bytes) = value else { throw mismatch(value) }
    return Data(bytes)
  }
}

extension URL: FirestoreDecodable {
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> URL {
    guard case .string(let text) = value, let url = URL(string: text) else {
      throw mismatch(value)
    }
    return url
  }
}

extension Decimal: FirestoreDecodable {
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> Decimal {
    switch value {
    case .integer(let number): Decimal(number)
    case .double(let number): Decimal(number)
    default: throw mismatch(value)
    }
  }
}

extension Timestamp: FirestoreDecodable {
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> Timestamp {
    guard case .timestamp(let time) = value else { throw mismatch(value) }
    return Timestamp(time)
  }
}

extension GeoPoint: FirestoreDecodable {
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> GeoPoint {
    guard case .geoPoint(let point) = value else { throw mismatch(value) }
    return GeoPoint(point)
  }
}

extension VectorValue: FirestoreDecodable {
  static func decoded(from value: DocumentValue, of firestore: Firestore?) throws -> VectorValue {
    guard case .vector(let numbers) = value else { throw mismatch(value) }
    return VectorValue(numbers)
  }
}

extension DocumentReference: FirestoreDecodable {
  static func decoded(
    from value: DocumentValue, of firestore: Firestore?
  ) throws -> Self {
    guard case .reference(let name) = value,
      let reference = firestore?.document(named: name) as? Self
    else { throw mismatch(value) }
    return reference
  }
}
