public import Foundation

/// Turns what the realtime tree stores into `Decodable` values.
///
/// A number decodes into every type that holds it exactly; a boolean is not a number. A collection
/// that is absent decodes as empty, because the tree stores nothing for it. For documents see
/// ``Firestore/Decoder``, which has other defaults.
public final class FirebaseDataDecoder {
  /// The form of `Date` values.
  public enum DateDecodingStrategy {
    /// `Date` decides: seconds since 2001.
    case deferredToDate
    /// Seconds since 1970, with a fraction.
    case secondsSince1970
    /// Milliseconds since 1970, the form of ``ServerValue/timestamp()``.
    case millisecondsSince1970
    /// A string like `2026-11-23T10:00:00Z`.
    case iso8601
    /// A string that a formatter reads.
    case formatted(DateFormatter)
    /// The values that a closure decodes.
    case custom((any Swift.Decoder) throws -> Date)
  }

  /// The form of `Data` values.
  public enum DataDecodingStrategy {
    /// `Data` decides: an array of numbers.
    case deferredToData
    /// A string in Base64.
    case base64
    /// The bytes themselves.
    case blob
    /// The values that a closure decodes.
    case custom((any Swift.Decoder) throws -> Data)
  }

  /// The form of numbers that are not finite.
  public enum NonConformingFloatDecodingStrategy {
    /// No string stands for a number.
    case `throw`
    /// These strings stand for them.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// The form of the keys of structures; those of dictionaries are never changed.
  public enum KeyDecodingStrategy {
    /// The keys of the types.
    case useDefaultKeys
    /// `post_count` is read as `postCount`.
    case convertFromSnakeCase
    /// The key that a closure makes of the path to the value.
    case custom((_ codingPath: [any CodingKey]) -> any CodingKey)
  }

  /// The form of dates; `.deferredToDate` unless set.
  public var dateDecodingStrategy = DateDecodingStrategy.deferredToDate
  /// The form of bytes; `.base64` unless set.
  public var dataDecodingStrategy = DataDecodingStrategy.base64
  /// The form of numbers that are not finite; `.throw` unless set.
  public var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.throw
  /// The form of keys; `.useDefaultKeys` unless set.
  public var keyDecodingStrategy = KeyDecodingStrategy.useDefaultKeys
  /// Values that types can ask for while they decode themselves.
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  /// The database that the values are from.
  var model = CodingModel.tree

  /// Makes a decoder with the defaults.
  public init() {}

  /// Decodes a value, such as ``DataSnapshot/value``.
  ///
  /// - Throws: `DecodingError` with the path to the value, or an error of a type that decodes
  ///   itself.
  public func decode<T: Decodable>(_ type: T.Type, from value: Any) throws -> T {
    try DataDecoding(value, FirebaseDataDecoderOptions(self)).decode(type)
  }
}

/// The choices of a decoder at the moment it was used.
struct FirebaseDataDecoderOptions {
  let date: FirebaseDataDecoder.DateDecodingStrategy
  let data: FirebaseDataDecoder.DataDecodingStrategy
  let float: FirebaseDataDecoder.NonConformingFloatDecodingStrategy
  let key: FirebaseDataDecoder.KeyDecodingStrategy
  let userInfo: [CodingUserInfoKey: Any]
  let model: CodingModel

  init(_ decoder: FirebaseDataDecoder) {
    date = decoder.dateDecodingStrategy
    data = decoder.dataDecodingStrategy
    float = decoder.nonConformingFloatDecodingStrategy
    key = decoder.keyDecodingStrategy
    userInfo = decoder.userInfo
    model = decoder.model
  }
}
