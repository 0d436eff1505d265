public import Foundation
import TernCore

extension Database {
  /// Turns values into what the tree stores.
  public typealias Encoder = FirebaseDataEncoder
  /// Turns what the tree stores into values.
  public typealias Decoder = FirebaseDataDecoder
}

extension DatabaseReference {
  /// Replaces everything here with an encoded value; `completion` is called when the server has
  /// answered.
  ///
  /// - Throws: What is wrong with the value, before anything is written: `EncodingError`,
  ///   ``DatabaseValueError``, or an error of a type that encodes itself.
  public func setValue<T: Encodable>(
    from value: T, encoder: Database.Encoder = Database.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws {
    let node = try TreeNode(foundation: try encoder.encode(value))
    let path = path
    submit(write { () throws(DatabaseValueError) in .set(path, node) }) { error, _ in
      completion?(error)
    }
  }
}

extension DataSnapshot {
  /// Decodes the value.
  ///
  /// - Throws: `DecodingError` when the value has another shape than `T`.
  public func data<T: Decodable>(
    as type: T.Type, decoder: Database.Decoder = Database.Decoder()
  ) throws -> T {
    try decoder.decode(type, from: value ?? NSNull())
  }
}

/// The time of the commit in the realtime tree, where the value is `nil` when it is written.
///
/// The module `FirebaseDatabase` calls it `ServerTimestamp`, as Firebase does; here that name is
/// the one of documents, ``ServerTimestamp``, which the coders of the tree take too.
@propertyWrapper
public struct DatabaseServerTimestamp: Codable, Hashable, Sendable {
  /// The time; `nil` asks for the server's.
  public var wrappedValue: Date?

  /// Wraps a time.
  public init(wrappedValue: Date?) { self.wrappedValue = wrappedValue }

  /// Reads milliseconds since 1970.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try Self.date(container)
  }

  /// Writes milliseconds since 1970, or the placeholder that the server fills in.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try Self.encode(wrappedValue, into: &container)
  }

  static func date(_ container: any SingleValueDecodingContainer) throws -> Date {
    Date(timeIntervalSince1970: try container.decode(Double.self) / 1_000)
  }

  static func encode(
    _ date: Date?, into container: inout any SingleValueEncodingContainer
  ) throws {
    guard let date else { return try container.encode([".sv": "timestamp"]) }
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded(.down)
    guard let whole = Int64(exactly: milliseconds) else {
      throw EncodingError.invalidValue(
        date, .init(codingPath: container.codingPath, debugDescription: "the date is too far away"))
    }
    try container.encode(whole)
  }
}
