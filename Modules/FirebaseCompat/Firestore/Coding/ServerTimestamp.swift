public import Foundation
import TernCore

/// What a ``ServerTimestamp`` may be: a `Date`, or a ``Timestamp``.
public protocol ServerTimestampWrappable {
  /// What stands for a time.
  static func wrap(_ timestamp: Timestamp) throws -> Self
}

extension Date: ServerTimestampWrappable {
  /// The time as a date.
  public static func wrap(_ timestamp: Timestamp) throws -> Date { timestamp.dateValue() }
}

extension Timestamp: ServerTimestampWrappable {
  /// The time itself.
  public static func wrap(_ timestamp: Timestamp) throws -> Timestamp { timestamp }
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
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue {
      try container.encode(wrappedValue)
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
