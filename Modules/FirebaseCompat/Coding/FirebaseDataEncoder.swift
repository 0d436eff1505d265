public import Foundation

/// Turns `Encodable` values into what the realtime tree stores: strings, numbers, booleans,
/// dictionaries and arrays.
///
/// `URL` becomes its text, `Decimal` a number. A member that is `nil` is left out. For documents
/// see ``Firestore/Encoder``, which has other defaults.
public final class FirebaseDataEncoder {
  /// The form of `Date` values.
  public enum DateEncodingStrategy {
    /// `Date` decides: seconds since 2001.
    case deferredToDate
    /// Seconds since 1970, with a fraction.
    case secondsSince1970
    /// Milliseconds since 1970, the form of ``ServerValue/timestamp()``.
    case millisecondsSince1970
    /// A string like `2026-11-23T10:00:00Z`.
    case iso8601
    /// The string that a formatter makes.
    case formatted(DateFormatter)
    /// The values that a closure encodes.
    case custom((Date, any Swift.Encoder) throws -> Void)
  }

  /// The form of `Data` values.
  public enum DataEncodingStrategy {
    /// `Data` decides: an array of numbers.
    case deferredToData
    /// A string in Base64.
    case base64
    /// The bytes themselves, which documents hold and the tree does not.
    case blob
    /// The values that a closure encodes.
    case custom((Data, any Swift.Encoder) throws -> Void)
  }

  /// The form of numbers that are not finite.
  public enum NonConformingFloatEncodingStrategy {
    /// They are refused with an `EncodingError`.
    case `throw`
    /// Strings stand for them.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// The form of the keys of structures; those of dictionaries are never changed.
  public enum KeyEncodingStrategy {
    /// The keys of the types.
    case useDefaultKeys
    /// `postCount` becomes `post_count`.
    case convertToSnakeCase
    /// The key that a closure makes of the path to the value.
    case custom((_ codingPath: [any CodingKey]) -> any CodingKey)
  }

  /// The form of dates; `.deferredToDate` unless set.
  public var dateEncodingStrategy = DateEncodingStrategy.deferredToDate
  /// The form of bytes; `.base64` unless set.
  public var dataEncodingStrategy = DataEncodingStrategy.base64
  /// The form of numbers that are not finite; `.throw` unless set.
  public var nonConformingFloatEncodingStrategy = NonConformingFloatEncodingStrategy.throw
  /// The form of keys; `.useDefaultKeys` unless set.
  public var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys
  /// Values that types can ask for while they encode themselves.
  public var userInfo: [CodingUserInfoKey: Any] = [:]
  /// The database that the result is for.
  var model = CodingModel.tree

  /// Makes an encoder with the defaults.
  public init() {}

  /// Encodes one value.
  ///
  /// - Returns: A value that ``DatabaseReference/setValue(_:)`` takes.
  /// - Throws: `EncodingError`, or an error of a type that encodes itself.
  public func encode<T: Encodable>(_ value: T) throws -> Any {
    let encoding = DataEncoding(FirebaseDataEncoderOptions(self))
    try encoding.encode(value)
    guard let result = encoding.box.foundation else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(T.self) encodes no value"))
    }
    return result
  }
}

/// The database that coded values are for.
enum CodingModel {
  /// The realtime tree: everything becomes JSON, and what is empty is absent.
  case tree
  /// Documents: their own types stay what they are.
  case documents

  /// Returns true when a value is left as it is.
  func passes(_ value: Any) -> Bool { self == .documents && value is any DocumentCodingValue }
  /// Returns true when values of a type are left as they are.
  func passes(_ type: Any.Type) -> Bool {
    self == .documents && type is any DocumentCodingValue.Type
  }
}

/// A type that is one value of a document, and is coded as itself.
protocol DocumentCodingValue {}
extension Timestamp: DocumentCodingValue {}
extension GeoPoint: DocumentCodingValue {}
extension VectorValue: DocumentCodingValue {}
extension DocumentReference: DocumentCodingValue {}
extension FieldValue: DocumentCodingValue {}

/// The choices of an encoder at the moment it was used.
struct FirebaseDataEncoderOptions {
  let date: FirebaseDataEncoder.DateEncodingStrategy
  let data: FirebaseDataEncoder.DataEncodingStrategy
  let float: FirebaseDataEncoder.NonConformingFloatEncodingStrategy
  let key: FirebaseDataEncoder.KeyEncodingStrategy
  let userInfo: [CodingUserInfoKey: Any]
  let model: CodingModel

  init(_ encoder: FirebaseDataEncoder) {
    date = encoder.dateEncodingStrategy
    data = encoder.dataEncodingStrategy
    float = encoder.nonConformingFloatEncodingStrategy
    key = encoder.keyEncodingStrategy
    userInfo = encoder.userInfo
    model = encoder.model
  }
}
