import Foundation

extension Firestore {
  /// Turns `Encodable` values into the fields of documents.
  ///
  /// ``Timestamp``, ``GeoPoint``, ``VectorValue``, ``DocumentReference`` and ``FieldValue`` stay
  /// what they are, a `Date` becomes a timestamp, `Data` bytes, `URL` a string and `Decimal` a
  /// number. A member that is `nil` is left out unless it is an ``ExplicitNull``.
  public final class Encoder {
    /// The form of dates; `.timestamp` unless set.
    public var dateEncodingStrategy = FirebaseDataEncoder.DateEncodingStrategy.timestamp
    /// The form of bytes; `.blob` unless set.
    public var dataEncodingStrategy = FirebaseDataEncoder.DataEncodingStrategy.blob
    /// The form of numbers that are not finite; `.throw` unless set.
    public var nonConformingFloatEncodingStrategy =
      FirebaseDataEncoder.NonConformingFloatEncodingStrategy.throw
    /// The form of keys; `.useDefaultKeys` unless set.
    public var keyEncodingStrategy = FirebaseDataEncoder.KeyEncodingStrategy.useDefaultKeys
    /// Values that types can ask for while they encode themselves.
    public var userInfo: [CodingUserInfoKey: Any] = [:]

    /// Makes an encoder with the defaults.
    public init() {}

    /// Encodes the fields, as they can be given to `DocumentReference.setData(_:)`.
    ///
    /// - Throws: `EncodingError`, also when the value becomes no dictionary, or an error of a type
    ///   that encodes itself.
    public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
      let encoder = FirebaseDataEncoder()
      encoder.model = .documents
      encoder.dateEncodingStrategy = dateEncodingStrategy
      encoder.dataEncodingStrategy = dataEncodingStrategy
      encoder.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
      encoder.keyEncodingStrategy = keyEncodingStrategy
      encoder.userInfo = userInfo
      guard let fields = try encoder.encode(value) as? [String: Any] else {
        throw EncodingError.invalidValue(
          value, .init(codingPath: [], debugDescription: "\(T.self) does not become a document"))
      }
      return fields
    }
  }
}

extension FirebaseDataEncoder.DateEncodingStrategy {
  /// Dates become timestamps of documents; outside of the years 1 to 9999 they are refused with an
  /// `EncodingError`.
  public static var timestamp: FirebaseDataEncoder.DateEncodingStrategy {
    .custom { date, encoder in
      guard let time = Timestamp(exactly: date) else {
        throw EncodingError.invalidValue(
          date,
          .init(codingPath: encoder.codingPath, debugDescription: "no timestamp has this year"))
      }
      var container = encoder.singleValueContainer()
      try container.encode(time)
    }
  }
}

extension FirebaseDataDecoder.DateDecodingStrategy {
  /// Dates are read from timestamps of documents.
  public static var timestamp: FirebaseDataDecoder.DateDecodingStrategy {
    .custom { try $0.singleValueContainer().decode(Timestamp.self).dateValue() }
  }
}
