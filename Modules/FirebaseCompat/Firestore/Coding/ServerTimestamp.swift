public import Foundation
import TernCore

/// A type for a ``ServerTimestamp``: a `Date`, or a ``Timestamp``.
public protocol ServerTimestampWrappable {
  /// Returns the representation of a time.
  static func wrap(_ timestamp: Timestamp) throws -> Self
  /// The time that a value stands for.
  static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
  /// The time as a date.
  public static func wrap(_ timestamp: Timestamp) throws -> Date { timestamp.dateValue() }

  /// The date as a time.
  ///
  /// - Throws: `EncodingError` outside of the years 1 to 9999.
  public static func unwrap(_ value: Date) throws -> Timestamp {
    guard let time = Timestamp(exactly: value) else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "no timestamp has this year"))
    }
    return time
  }
}

extension Timestamp: ServerTimestampWrappable {
  /// The time itself.
  public static func wrap(_ timestamp: Timestamp) throws -> Timestamp { timestamp }
  /// The time itself.
  public static func unwrap(_ value: Timestamp) throws -> Timestamp { value }
}

/// The time of the commit, where the value is `nil` when it is written.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable>: Codable {
  /// The time; `nil` asks for the server's, and stands for one that is not known yet.
  public var wrappedValue: Value?

  /// Wraps a time.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      wrappedValue = nil
    } else if let decoding = decoder as? DataDecoding, decoding.options.model == .tree {
      guard let time = Timestamp(exactly: try DatabaseServerTimestamp.date(container)) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "no timestamp has this year")
      }
      wrappedValue = try Value.wrap(time)
    } else {
      wrappedValue = try Value.wrap(try container.decode(Timestamp.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let encoding = encoder as? DataEncoding, encoding.options.model == .tree {
      let date = try wrappedValue.map { try Value.unwrap($0).dateValue() }
      try DatabaseServerTimestamp.encode(date, into: &container)
    } else if let wrappedValue {
      try container.encode(try Value.unwrap(wrappedValue))
    } else {
      try container.encode(FieldValue.serverTimestamp())
    }
  }
}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}
extension ServerTimestamp: Sendable where Value: Sendable {}

/// A value that is written as null when it is `nil`, and not left out.
@propertyWrapper
public struct ExplicitNull<Value: Codable>: Codable {
  /// The value.
  public var wrappedValue: Value?

  /// Wraps a value.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension KeyedDecodingContainer {
  /// The value; `nil` also where no field is.
  public func decode<Value>(
    _ type: ExplicitNull<Value>.Type, forKey key: Key
  ) throws -> ExplicitNull<Value> {
    ExplicitNull(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
  }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}
