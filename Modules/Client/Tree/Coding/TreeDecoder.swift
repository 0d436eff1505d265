public import TernCore

/// Turns nodes into `Decodable` values.
///
/// Children become the members of structures and dictionaries; children whose names are positions
/// become lists, with `nil` for positions left out. A number decodes into every number type that
/// holds it exactly; a boolean is not a number. Priorities are not looked at.
public struct TreeDecoder: Sendable {
  /// Makes a decoder; it has nothing to set.
  public init() {}

  /// Decodes one value.
  ///
  /// - Parameter key: The key of the node, for a ``NodeKey``; `nil` where it has none.
  /// - Throws: ``TreeCodingError/decoding(_:)`` with the place and the reason.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from node: TreeNode, key: TreeKey? = nil
  ) throws(TreeCodingError) -> Value {
    do {
      return try NodeDecoder(node: node, codingPath: [], root: key?.text).decode(type)
    } catch {
      throw .decoding(codingErrorText(error))
    }
  }
}

/// The decoder of one node.
struct NodeDecoder: Decoder {
  let node: TreeNode
  let codingPath: [any CodingKey]
  /// The key of the node that the path begins at.
  let root: String?
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard !node.isLeaf else { throw mismatch("children", type) }
    return KeyedDecodingContainer(
      NamedDecoding<Key>(node: node, codingPath: codingPath, root: root))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard !node.isLeaf else { throw mismatch("a list", [TreeNode].self) }
    return try ListedDecoding(node: node, codingPath: codingPath, root: root)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func mismatch(_ expected: String, _ type: Any.Type) -> DecodingError {
    let found =
      node.isEmpty ? "nothing" : node.scalar.map { "\($0)" } ?? "\(node.childCount) children"
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "expected \(expected), found \(found)")
    return node.isEmpty ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}

extension NodeDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { node.isEmpty }

  func decode(_ type: Bool.Type) throws -> Bool {
    guard case .bool(let value) = node.scalar else { throw mismatch("a boolean", type) }
    return value
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .string(let value) = node.scalar else { throw mismatch("a string", type) }
    return value
  }

  func decode(_ type: Double.Type) throws -> Double {
    guard let value = node.scalar?.number else { throw mismatch("a number", type) }
    return value
  }

  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let coded = type as? any TreeCoded.Type else { return try type.init(from: self) }
    guard let scalar = node.scalar, let value = coded.decoded(from: scalar) as? Value else {
      throw mismatch("a \(type)", type)
    }
    return value
  }

  private func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
    let value: I? =
      switch node.scalar {
      case .integer(let value): I(exactly: value)
      case .double(let value): I(exactly: value)
      case .bool, .string, .serverValue, nil: nil
      }
    guard let value else { throw mismatch("a whole number that fits \(type)", type) }
    return value
  }
}
