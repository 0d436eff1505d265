import TernCore

/// Decodes members by name.
struct NamedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let node: TreeNode
  let codingPath: [any CodingKey]
  let root: String?

  var allKeys: [Key] { node.children.compactMap { Key(stringValue: $0.key.text) } }

  private func member(_ key: some CodingKey) -> NodeDecoder {
    NodeDecoder(
      node: node.child(TreeKey(unchecked: key.stringValue)), codingPath: codingPath + [key],
      root: root)
  }

  private func required(_ key: Key) throws -> NodeDecoder {
    let member = member(key)
    guard member.node.isEmpty else { return member }
    throw DecodingError.keyNotFound(
      key, .init(codingPath: codingPath, debugDescription: "no child named \(key.stringValue)"))
  }

  func contains(_ key: Key) -> Bool { !member(key).node.isEmpty }
  func decodeNil(forKey key: Key) -> Bool { member(key).node.isEmpty }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try required(key).decode(type) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try required(key).decode(type)
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try required(key).decode(type)
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try required(key).decode(type)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try required(key).decode(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try required(key).decode(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try required(key).decode(type)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try required(key).decode(type)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try required(key).decode(type)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try required(key).decode(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try required(key).decode(type)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try required(key).decode(type)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try required(key).decode(type)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try required(key).decode(type)
  }

  /// Decodes a member; an absent one may still be an empty collection, or optional.
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try member(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { member(SuperKey()) }
  func superDecoder(forKey key: Key) -> any Decoder { member(key) }
}

/// Decodes elements by position.
struct ListedDecoding: UnkeyedDecodingContainer {
  /// More positions than this many times the children is not taken for a list.
  private static let sparseness = 2

  let codingPath: [any CodingKey]
  private let root: String?
  private let elements: [TreeNode]
  private(set) var currentIndex = 0

  init(node: TreeNode, codingPath: [any CodingKey], root: String?) throws {
    self.codingPath = codingPath
    self.root = root
    var elements: [TreeNode] = []
    let limit = node.childCount * Self.sparseness
    for (key, child) in node.children {
      guard let position = Int(key.text), position >= elements.count, position < limit else {
        let context = DecodingError.Context(
          codingPath: codingPath, debugDescription: "the child \(key.text) is not a list element")
        throw DecodingError.typeMismatch([TreeNode].self, context)
      }
      while elements.count < position { elements.append(.empty) }
      elements.append(child)
    }
    self.elements = elements
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private mutating func take() throws -> NodeDecoder {
    let path = codingPath + [PositionKey(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        TreeNode.self, .init(codingPath: path, debugDescription: "the list is at its end"))
    }
    defer { currentIndex += 1 }
    return NodeDecoder(node: elements[currentIndex], codingPath: path, root: root)
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, elements[currentIndex].isEmpty else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try take().decode(type) }
  mutating func decode(_ type: String.Type) throws -> String { try take().decode(type) }
  mutating func decode(_ type: Double.Type) throws -> Double { try take().decode(type) }
  mutating func decode(_ type: Float.Type) throws -> Float { try take().decode(type) }
  mutating func decode(_ type: Int.Type) throws -> Int { try take().decode(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try take().decode(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try take().decode(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try take().decode(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try take().decode(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try take().decode(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try take().decode(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try take().decode(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try take().decode(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try take().decode(type) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try take().decode(type)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try take().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try take().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try take() }
}
