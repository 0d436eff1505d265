import Foundation

extension CodingUserInfoKey {
  /// The document that is decoded: a ``DocumentReference``.
  static let documentReference = CodingUserInfoKey(rawValue: "tern.documentReference")
}

/// The reason a document could not be decoded, if it is not a `DecodingError`.
public enum FirestoreDecodingError: Error, Hashable, Sendable {
  /// A type of documents was decoded by another decoder than ``Firestore/Decoder``; the text names
  /// it.
  case decodingIsNotSupported(String)
  /// The document has a field where the type has a ``DocumentID``.
  case fieldNameConflict(String)
}

/// The reason a value could not be encoded, if it is not an `EncodingError`.
public enum FirestoreEncodingError: Error, Hashable, Sendable {
  /// A type of documents was encoded by another encoder than ``Firestore/Encoder``; the text names
  /// it.
  case encodingIsNotSupported(String)
}

extension Firestore {
  /// Turns the fields of documents into `Decodable` values.
  ///
  /// A number decodes into every type that holds it exactly; a boolean is not a number.
  public final class Decoder {
    /// The form of dates; `.timestamp` unless set.
    public var dateDecodingStrategy = FirebaseDataDecoder.DateDecodingStrategy.timestamp
    /// The form of bytes; `.blob` unless set.
    public var dataDecodingStrategy = FirebaseDataDecoder.DataDecodingStrategy.blob
    /// The form of numbers that are not finite; `.throw` unless set.
    public var nonConformingFloatDecodingStrategy =
      FirebaseDataDecoder.NonConformingFloatDecodingStrategy.throw
    /// The form of keys; `.useDefaultKeys` unless set.
    public var keyDecodingStrategy = FirebaseDataDecoder.KeyDecodingStrategy.useDefaultKeys
    /// Values that types can ask for while they decode themselves.
    public var userInfo: [CodingUserInfoKey: Any] = [:]

    /// Makes a decoder with the defaults.
    public init() {}

    /// Decodes the fields that ``DocumentSnapshot/data()`` gives.
    ///
    /// - Throws: `DecodingError`, ``FirestoreDecodingError``, or an error of a type that decodes
    ///   itself.
    public func decode<T: Decodable>(_ type: T.Type, from data: Any) throws -> T {
      try decode(type, from: data, in: nil)
    }

    /// Decodes the fields of a document.
    ///
    /// - Parameter reference: The document they are from, for ``DocumentID``.
    /// - Throws: `DecodingError`, ``FirestoreDecodingError``, or an error of a type that decodes
    ///   itself.
    public func decode<T: Decodable>(
      _ type: T.Type, from data: Any, in reference: DocumentReference?
    ) throws -> T {
      let decoder = FirebaseDataDecoder()
      decoder.model = .documents
      decoder.dateDecodingStrategy = dateDecodingStrategy
      decoder.dataDecodingStrategy = dataDecodingStrategy
      decoder.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
      decoder.keyDecodingStrategy = keyDecodingStrategy
      decoder.userInfo = userInfo
      if let key = CodingUserInfoKey.documentReference, let reference {
        decoder.userInfo[key] = reference
      }
      return try decoder.decode(type, from: data)
    }
  }
}
