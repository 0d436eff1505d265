/// The key of the node that a value was decoded from; it is never written.
///
/// ```swift
/// struct Entry: Codable {
///   @NodeKey var id: String?
///   var text: String
/// }
/// ```
/// Children of a query, and the values of a dictionary, have their own keys.
@propertyWrapper
public struct NodeKey: Codable, Hashable, Sendable {
  /// The key; `nil` for a value that was not decoded from a node, and for the whole tree.
  public var wrappedValue: String?

  /// Wraps a key.
  public init(wrappedValue: String?) { self.wrappedValue = wrappedValue }

  /// - Throws: `DecodingError` for any decoder but ``TreeDecoder``.
  public init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? NodeDecoder else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "only a node of the tree has a key to decode"))
    }
    // The last key of the path is that of the member, which is inside of the node.
    wrappedValue = decoder.codingPath.dropLast().last?.stringValue ?? decoder.root
  }

  /// Writes null; as a member of a structure it is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

extension KeyedDecodingContainer {
  /// The key of the node that is decoded.
  ///
  /// - Throws: `DecodingError` when the node has a child of that name.
  public func decode(_ type: NodeKey.Type, forKey key: Key) throws -> NodeKey {
    guard !contains(key) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: codingPath + [key],
          debugDescription: "the node has a child where the type has its NodeKey"))
    }
    return try NodeKey(from: superDecoder(forKey: key))
  }
}

extension KeyedEncodingContainer {
  /// Writes nothing: the key of a node is not among its children.
  public mutating func encode(_ value: NodeKey, forKey key: Key) throws {}
}
