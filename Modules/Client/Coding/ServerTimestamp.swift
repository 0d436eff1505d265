public import TernCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A time that a ``ServerTimestamp`` can be: `Date` in the tree and in documents,
/// ``TernCore/DocumentTimestamp`` in documents.
public protocol ServerTime: Codable, Sendable {}

extension Date: ServerTime {}
extension DocumentTimestamp: ServerTime {}

/// The time of the commit, where the value is `nil` when it is written; it decodes as `nil` until
/// the server has set it.
///
/// ```swift
/// struct Post: Codable {
///   var title: String
///   @ServerTimestamp var posted: Date?
/// }
/// ```
@propertyWrapper
public struct ServerTimestamp<Value: ServerTime>: Codable, Sendable {
  /// The time; `nil` asks for the server's.
  public var wrappedValue: Value?

  /// Wraps a time.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  /// - Throws: `EncodingError` for `nil`, from other encoders than ``TreeEncoder`` and
  ///   ``DocumentEncoder``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue {
      try container.encode(wrappedValue)
    } else {
      try container.encode(CommitTime())
    }
  }
}

extension KeyedDecodingContainer {
  /// The time; `nil` also where no field is.
  public func decode<Value>(
    _ type: ServerTimestamp<Value>.Type, forKey key: Key
  ) throws -> ServerTimestamp<Value> {
    ServerTimestamp(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
  }
}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}

/// A value that is written as null when it is `nil`, and not left out.
///
/// In the tree null and nothing are the same.
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
